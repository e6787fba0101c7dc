"""The caller of a request of `http.app`, as the API reports it, and access to the API on behalf of that caller."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode
from collections.abc import Iterable
from typing import Any, Final

import orjson

# The API's word on a request, which it sets itself on everything that it hands on (src/custom-app/custom-app.plugin.ts).
CALLER_HEADER = b"x-gantry-caller"

# Headers of this one request or its connection, and not of its caller (src/custom-app/caller.ts).
_NOT_OF_THE_CALLER = re.compile(
    r"host|connection|keep-alive|transfer-encoding|upgrade|te|trailer|expect|range|origin|referer|pragma|cache-control"
    r"|user-agent|idempotency-key|last-event-id|x-request-id|content-.+|accept.*|if-.+|sec-.+|mcp-.+|proxy-.+"
)

RawHeaders = list[tuple[bytes, bytes]]


class Ask:
    """Stands for the caller of a request that the API hasn't identified for the app's routes yet.

    It may know the user already, for middleware.
    """

    def __init__(self, user: dict[str, Any] | None = None) -> None:
        self.user = user


ASK: Final = Ask()


def caller_in(headers: Iterable[tuple[bytes, bytes]]) -> tuple[RawHeaders, dict[str, Any] | Ask]:
    """The headers without the API's own one, and the value of that one."""
    rest: RawHeaders = []
    caller: dict[str, Any] | Ask = ASK
    for name, value in headers:
        if name.lower() != CALLER_HEADER:
            rest.append((name, value))
        elif value.startswith(b"ask."):
            caller = Ask(_decoded(value.removeprefix(b"ask.")).get("user"))
        elif value != b"ask":
            caller = _decoded(value)
    return rest, caller


def _decoded(value: bytes) -> dict[str, Any]:
    caller: dict[str, Any] = orjson.loads(urlsafe_b64decode(value + b"=" * (-len(value) % 4)))
    return caller


def caller_of(headers: RawHeaders) -> dict[str, str]:
    """The headers by which the API, and a custom auth that reads headers of its own, know who makes a request."""
    fields = ((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in headers)
    return {name: value for name, value in fields if not _NOT_OF_THE_CALLER.fullmatch(name)}
