"""Limits by `max_concurrency` how many nodes of a step run at once, and how many tasks of a function; nothing else waits.

langgraph queues all that a graph starts for the same places: a result is stored only once all waiting nodes have begun, and
a task that a node calls waits for a place while that node, which waits for the task, keeps its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextvars import ContextVar
from typing import Any, TypeVar

from langgraph.pregel import _executor

_Result = TypeVar("_Result")


class _Place:
    """A place that a node has, until it ends or calls a task."""

    def __init__(self, places: asyncio.Semaphore) -> None:
        self.places = places
        self._is_taken = True

    def give_back(self) -> None:
        if self._is_taken:
            self._is_taken = False
            self.places.release()


_place: ContextVar[_Place | None] = ContextVar("place", default=None)


def limit_only_nodes() -> None:
    """Lets the library ask here what waits for a place."""
    _executor.gated = _gated


def _gated(semaphore: asyncio.Semaphore, coro: Coroutine[Any, Any, _Result]) -> Coroutine[Any, Any, _Result]:
    """Work that the library starts: in a place if it is a node or a task, at once if it stores something."""
    if getattr(coro, "__name__", None) != "arun_with_retry":
        return coro
    caller = _place.get()
    if caller and caller.places is semaphore:
        # It may be waiting for the tasks, which could never begin if all places were those of their callers.
        caller.give_back()
    return _in_a_place(semaphore, coro)


async def _in_a_place(places: asyncio.Semaphore, node: Coroutine[Any, Any, _Result]) -> _Result:
    await places.acquire()
    place = _Place(places)
    _place.set(place)
    try:
        return await node
    finally:
        place.give_back()
