"""The API on its Unix socket, for requests that the user's app passes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from urllib.parse import quote, unquote

import httpx
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

# Path at which the API reports the caller of a request (src/custom-app/custom-app.plugin.ts).
_CALLER_PATH = b"/.gantry/caller"
# Headers that belong to one connection and are not forwarded, and the length of a body, which middleware may change.
_NOT_PASSED_ON = frozenset(
    (
        b"content-length",
        b"connection",
        b"keep-alive",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    )
)
RawHeaders = list[tuple[bytes, bytes]]


class InnerApi:
    def __init__(self, socket_path: str) -> None:
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
        self._transport = httpx.AsyncHTTPTransport(uds=socket_path, limits=limits)

    async def pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request with the API's answer to it; bodies stream in both directions."""
        read = asyncio.Event()
        headers = _passed_on(scope["headers"])
        has_length = any(name in (b"content-length", b"transfer-encoding") for name, _ in scope["headers"])
        if not has_length:
            read.set()

        async def forward() -> None:
            body = await _unless_empty(_body(receive, read)) if has_length else None
            if body is not None:
                headers.append((b"transfer-encoding", b"chunked"))
            await self.send_on(await self._ask(scope["method"], _target(scope), headers, body), send)

        forwarding = asyncio.create_task(forward())
        watching = asyncio.create_task(_gone(receive, read))
        try:
            await asyncio.wait({forwarding, watching}, return_when=asyncio.FIRST_COMPLETED)
            if forwarding.done():
                await forwarding
        finally:
            for task in (forwarding, watching):
                task.cancel()
            await asyncio.gather(forwarding, watching, return_exceptions=True)

    async def ask_for_caller(self, scope: Scope) -> httpx.Response:
        """Asks the API about a request for the path that the app reads: returns its caller, or a refusal."""
        path = _CALLER_PATH + quote(scope["path"]).encode()
        query = scope.get("query_string", b"")
        target = path + b"?" + query if query else path
        return await self._ask(scope["method"], target, _passed_on(scope["headers"]), None)

    async def send_on(self, response: httpx.Response, send: Send) -> None:
        try:
            headers = _passed_on(response.headers.raw)
            await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
            async for chunk in response.aiter_raw():
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            await response.aclose()

    async def _ask(
        self, method: str, target: bytes, headers: RawHeaders, body: AsyncIterator[bytes] | None
    ) -> httpx.Response:
        url = httpx.URL(scheme="http", host="localhost", raw_path=target)
        stream = None if body is None else _Stream(body)
        return await self._transport.handle_async_request(httpx.Request(method, url, headers=headers, stream=stream))


class _Stream(httpx.AsyncByteStream):
    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self._chunks = chunks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._chunks:
            yield chunk


async def _body(receive: Receive, read: asyncio.Event) -> AsyncIterator[bytes]:
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        more = message.get("more_body", False)
        if message.get("body"):
            yield message["body"]
    read.set()


async def _unless_empty(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes] | None:
    """Waits for the first bytes of a body: one of length 0 would be one without a type, which the API refuses."""
    first = await anext(chunks, None)
    if first is None:
        return None

    async def whole() -> AsyncIterator[bytes]:
        yield first
        async for chunk in chunks:
            yield chunk

    return whole()


async def _gone(receive: Receive, read: asyncio.Event) -> None:
    """Returns when the client has disconnected, which is detected once the body has been read."""
    await read.wait()
    with suppress(ClientDisconnect):
        while (await receive())["type"] != "http.disconnect":
            pass


def _passed_on(headers: RawHeaders) -> RawHeaders:
    return [(name, value) for name, value in headers if name.lower() not in _NOT_PASSED_ON]


def _target(scope: Scope) -> bytes:
    """The path of the original request, unless middleware has changed it."""
    raw, query = scope.get("raw_path"), scope.get("query_string", b"")
    path: bytes = raw if raw and unquote(raw.decode("ascii")) == scope["path"] else quote(scope["path"]).encode()
    return path + b"?" + query if query else path
