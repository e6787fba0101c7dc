"""The event loop of a process, and calls from those that nodes have of their own, in their threads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import wraps
from typing import Any, TypeVar

T = TypeVar("T")


def run_to_end(work: Coroutine[Any, Any, None]) -> None:
    """Runs `work` in an event loop of its own, whatever the tasks of user code do to the loop.

    A task that raises SystemExit or KeyboardInterrupt, or stops the loop, ends `run_forever`. By then, it has failed as with
    any other exception, and all other tasks stand where they were: the loop continues with them.
    """
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    main = loop.create_task(work)
    main.add_done_callback(lambda _: loop.stop())
    while not main.done():
        with suppress(SystemExit, KeyboardInterrupt):
            loop.run_forever()
    main.result()


async def with_cleanup(work: Coroutine[Any, Any, None]) -> None:
    """Runs `work`, and then lets the tasks that are left clean up, as `asyncio.run` does."""
    try:
        await work
    finally:
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)


async def in_loop(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T]) -> T:
    """What the work returns. It runs in `loop`, whichever loop awaits it."""
    if asyncio.get_running_loop() is loop:
        return await work
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, loop))


def in_own_loop(method: Callable[..., Coroutine[Any, Any, T]]) -> Callable[..., Coroutine[Any, Any, T]]:
    """A method that runs in its object's own event loop, `loop`: that of the object's connections and tasks."""

    @wraps(method)
    async def call(self: Any, *args: Any, **kwargs: Any) -> T:
        return await in_loop(self.loop, method(self, *args, **kwargs))

    return call
