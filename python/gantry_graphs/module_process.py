"""A process in which one module of the user's answers questions (src/graphs/host/user-module-process.ts)."""

from __future__ import annotations

import asyncio
import os
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from .channel import ParentChannel, end_with_parent, sendable
from .failures import FAILURES
from .loops import run_to_end, with_cleanup


@dataclass
class LoadedModule:
    # Report of this process to its parent once it is ready.
    report: dict[str, Any]
    # Answers one question, by its `type`.
    answer: Callable[[dict[str, Any]], Awaitable[Any]]


def run_module_process(
    load: Callable[[str, str], LoadedModule],
    failure_of: Callable[[BaseException], Any] | None = None,
    limit: int | None = None,
) -> None:
    """Answers questions until the parent ends. `load` gets a file and the name of its export.

    `failure_of` describes an error of an answer (its traceback by default); `limit` is the size of an answer, in bytes.
    """
    end_with_parent()
    run_to_end(with_cleanup(_serve(load, failure_of or _trace_of, limit)))
    # Threads of handlers that are still running must not keep the process alive.
    os._exit(0)


async def _serve(
    load: Callable[[str, str], LoadedModule], failure_of: Callable[[BaseException], Any], limit: int | None
) -> None:
    channel = await ParentChannel.connect()
    if limit is not None:
        channel.limit = limit
    messages = channel.messages()
    source = await anext(messages)
    try:
        module = load(source["file"], source["exportName"])
    except Exception as error:
        channel.send({"type": "unusable", "message": sendable(str(error))})
        return
    channel.send({"type": "ready", "module": module.report})

    async def answer(message: dict[str, Any]) -> None:
        id = message["id"]
        try:
            # A ping asks only whether the event loop runs.
            result = None if message["type"] == "ping" else await module.answer(message)
            channel.send({"type": "done", "id": id, "result": result})
        except FAILURES as error:
            channel.send({"type": "failed", "id": id, "failure": failure_of(error)})

    running: set[asyncio.Task[None]] = set()
    async for message in messages:
        task = asyncio.create_task(answer(message))
        running.add(task)
        task.add_done_callback(running.discard)


def _trace_of(error: BaseException) -> str:
    return sendable("".join(traceback.format_exception(error)))
