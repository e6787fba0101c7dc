"""The entry point of the process of `http.app` in Python: the user's own routes and middleware run here and nowhere else."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .channel import ParentChannel, end_at_once, end_with_parent, sendable
from .loops import run_to_end, with_cleanup
from .modules import load_export

_WHAT_WOULD_BE_RIGHT = "an app of Starlette or FastAPI"
# Seconds that idle connections stay open: the api keeps them, and closes them itself.
_KEEP_ALIVE_SECONDS = 120
# Seconds for requests that are still being answered when the api stops; it has waited for its clients before.
_GRACE_SECONDS = 1
# Maximum size of a request's headers in bytes: the api has accepted them, and adds some.
_MAX_HEADER_BYTES = 256 * 1024
# Maximum size of a message of a WebSocket in bytes: any that the api lets through.
_MAX_MESSAGE_BYTES = 2**40


async def serve() -> None:
    channel = await ParentChannel.connect()
    messages = channel.messages()
    data = await anext(messages)

    def report_stray(_: Any, context: dict[str, Any]) -> None:
        error = context.get("exception")
        text = "".join(traceback.format_exception(error)) if error else str(context.get("message"))
        channel.send({"type": "stray", "message": sendable(text)})

    asyncio.get_running_loop().set_exception_handler(report_stray)
    try:
        served = _load(data)
    except Exception as error:
        channel.send({"type": "unusable", "message": sendable(str(error))})
        return
    server = _server(served, data["socketPath"])
    serving = asyncio.create_task(server.serve())
    while not server.started and not serving.done():
        await asyncio.wait({serving}, timeout=0.01)
    if serving.done():
        serving.exception()
        why = served.startup_failure or "it could not be served"
        channel.send({"type": "unusable", "message": sendable(why)})
        return
    channel.send({"type": "ready", "routes": served.table(), "readsEscapes": True})
    async for message in messages:
        if message["type"] == "stop":
            server.should_exit = True
            await serving
            return


def _load(data: dict[str, Any]) -> Any:
    # Starlette is the project's own: a version that lacks something is reported, not thrown before the api listens.
    from .app_front import ServedApp
    from .sdk_client import register

    register("http://localhost", data["innerSocketPath"])
    where = f'{data["file"]}: "{data["exportName"]}"'
    return ServedApp(load_export(data["file"], data["exportName"], _WHAT_WOULD_BE_RIGHT), where, data["innerSocketPath"])


def _server(app: Any, socket_path: str) -> Any:
    import uvicorn

    class Server(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            # The parent handles signals.
            yield

        async def startup(self, sockets: Any = None) -> None:
            try:
                await super().startup(sockets=sockets)
            except SystemExit:
                self.should_exit = True

    return Server(
        uvicorn.Config(
            app,
            uds=socket_path,
            lifespan="on",
            ws="auto",
            # The api limits the messages of clients and pings them, and compression on a local socket is a waste.
            ws_max_size=_MAX_MESSAGE_BYTES,
            ws_ping_interval=None,
            ws_per_message_deflate=False,
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            # Only the api can reach the socket, and it reports where a request came from.
            forwarded_allow_ips="*",
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=_GRACE_SECONDS,
            h11_max_incomplete_event_size=_MAX_HEADER_BYTES,
        )
    )


if __name__ == "__main__":
    end_with_parent()
    run_to_end(with_cleanup(serve()))
    # Threads of routes that are still running must not keep the process alive.
    end_at_once()
