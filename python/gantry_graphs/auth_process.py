"""The entry point of the auth process: the user's auth module runs here, beside the api, which waits for its answers."""

from __future__ import annotations

import asyncio
import os
import traceback
from typing import Any

from .channel import ParentChannel, end_with_parent
from .modules import load_export

_WHAT_WOULD_BE_RIGHT = "an Auth of langgraph_sdk"


async def serve() -> None:
    channel = await ParentChannel.connect()
    messages = channel.messages()
    data = await anext(messages)
    try:
        module = _load(data["file"], data["exportName"])
    except Exception as error:
        channel.send({"type": "unusable", "message": str(error)})
        return
    covered = {"uncovered": module.uncovered(), "generallyCoveredStore": module.generally_covered_store()}
    channel.send({"type": "ready", **covered})
    running: set[asyncio.Task[None]] = set()
    async for message in messages:
        task = asyncio.create_task(_answer(channel, module, message))
        running.add(task)
        task.add_done_callback(running.discard)


def _load(file: str, name: str) -> Any:
    # langgraph_sdk is the project's own: a version that lacks something is reported, not thrown before the api listens.
    from .auth_module import AuthModule

    return AuthModule(load_export(file, name, _WHAT_WOULD_BE_RIGHT), f'{file}: "{name}"')


async def _answer(channel: ParentChannel, module: Any, message: dict[str, Any]) -> None:
    from .auth_module import failure_of

    id = message["id"]
    try:
        result = None
        if message["type"] == "authenticate":
            result = await module.authenticate(message["request"])
        elif message["type"] == "authorize":
            result = await module.authorize(message["question"])
        channel.send({"type": "done", "id": id, "result": result})
    except Exception as error:
        failure = failure_of(error) or {"message": "".join(traceback.format_exception(error))}
        channel.send({"type": "failed", "id": id, "failure": failure})


if __name__ == "__main__":
    end_with_parent()
    asyncio.run(serve())
    # Threads of handlers that are still running must not keep the process alive.
    os._exit(0)
