"""A process in which one module of the user's answers questions (src/graphs/host/user-module-process.ts)."""

from __future__ import annotations

import asyncio
import os
import traceback
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import get_ident
from time import monotonic
from typing import Any, TypeVar

from .channel import ParentChannel, end_with_parent, sendable
from .failures import FAILURES
from .loops import run_to_end, with_cleanup

T = TypeVar("T")

# Seconds after which the parent gives a question up (src/graphs/host/user-module-process.ts), less the time of a message.
_GIVEN_UP_SECONDS = 9.0


@dataclass
class LoadedModule:
    # Report of this process to its parent once it is ready.
    report: dict[str, Any]
    # Answers one question, by its `type`.
    answer: Callable[[dict[str, Any]], Awaitable[Any]]


class _Threads(ThreadPoolExecutor):
    """The threads of handlers that aren't async, and of what async ones call by `asyncio.to_thread`."""

    def __init__(self) -> None:
        super().__init__(thread_name_prefix="handler")
        self._begun: dict[int, float] = {}

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        def timed() -> T:
            self._begun[get_ident()] = monotonic()
            try:
                return fn(*args, **kwargs)
            finally:
                del self._begun[get_ident()]

        return super().submit(timed)

    def are_lost(self) -> bool:
        """Whether every thread is in a call that was given up: until one returns, which it may never, no other can begin."""
        latest = monotonic() - _GIVEN_UP_SECONDS
        return sum(begun < latest for begun in list(self._begun.values())) >= self._max_workers


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
    threads = _Threads()
    asyncio.get_running_loop().set_default_executor(threads)
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
        # A ping asks only whether the process can answer questions: without an answer, the parent replaces it.
        if message["type"] == "ping" and threads.are_lost():
            return
        try:
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
