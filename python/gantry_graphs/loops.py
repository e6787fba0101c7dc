"""Calls from event loops that nodes have of their own, in their threads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, TypeVar

T = TypeVar("T")


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
