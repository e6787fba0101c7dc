"""Limits by `max_concurrency` how many nodes of a step run at once, and nothing else.

langgraph queues all that a graph starts for the same places: a result is stored only once all waiting nodes have begun, and
a task that a node calls waits for the place of that node, which waits for the task.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextvars import ContextVar
from typing import Any, TypeVar

from langgraph.pregel import _executor

_Result = TypeVar("_Result")

# The places of which the running node has one.
_held: ContextVar[asyncio.Semaphore | None] = ContextVar("held_places", default=None)


def limit_only_nodes() -> None:
    """Lets the library ask here what waits for a place."""
    _executor.gated = _gated


def _gated(semaphore: asyncio.Semaphore, coro: Coroutine[Any, Any, _Result]) -> Coroutine[Any, Any, _Result]:
    """Work that the library starts: in a place if it is a node, at once if it stores something or a node waits for it."""
    is_node = getattr(coro, "__name__", None) == "arun_with_retry" and _held.get() is not semaphore
    return _in_a_place(semaphore, coro) if is_node else coro


async def _in_a_place(places: asyncio.Semaphore, node: Coroutine[Any, Any, _Result]) -> _Result:
    async with places:
        _held.set(places)
        return await node
