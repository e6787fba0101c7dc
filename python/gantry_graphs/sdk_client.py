"""Lets `get_client()` without a URL reach this deployment, with the identity of the caller that the code runs for."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

import httpx

from .versions import sdk_client

# Headers that name the caller whom the code of this context runs for.
credentials: ContextVar[dict[str, str] | None] = ContextVar("credentials", default=None)


def register(api_url: str, socket_path: str | None = None) -> None:
    """The SDK asks for a transport to the server that it runs in, and finds one that calls the API over HTTP.

    `socket_path`: of the Unix socket that the API listens on for this process.

    Replaces a name in a private module of langgraph-sdk (0.4.14; a public one before 0.3), which imports it from the
    server's own package.
    """

    class Loopback(httpx.AsyncBaseTransport):
        def __init__(self, *_: Any, **__: Any) -> None:
            self._transport = httpx.AsyncHTTPTransport(retries=5, uds=socket_path)

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            host = httpx.URL(api_url).netloc.decode()
            headers = {**request.headers, **(credentials.get() or {}), "host": host}
            target = httpx.Request(
                request.method,
                api_url + request.url.raw_path.decode(),
                headers=headers,
                stream=request.stream,
                extensions=request.extensions,
            )
            return await self._transport.handle_async_request(target)

        async def aclose(self) -> None:
            await self._transport.aclose()

    sdk_client().get_asgi_transport = lambda: Loopback
