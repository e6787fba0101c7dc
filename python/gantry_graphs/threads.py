"""The threads in which blocking nodes run, and those of Gantry's own work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Barrier
from typing import Any, TypeVar

T = TypeVar("T")

# Blocking nodes that run at once in a process. Python's own default is four more than there are processors: so few that
# wait for a model would make every other run of the process wait, even one whose nodes are async.
_NODE_THREADS = 64
# What runs in them is short: checkpoints are encoded and decoded, and names of hosts are resolved.
_OWN_THREADS = 4

_is_own_work: ContextVar[bool] = ContextVar("is_own_work", default=False)


@contextmanager
def own_threads() -> Iterator[None]:
    """What is sent to the event loop's default executor in this context, also by libraries, runs in Gantry's own threads.

    Nodes can't occupy them: where they wait for a checkpoint, or for each other, checkpoints are still read and written.
    """
    token = _is_own_work.set(True)
    try:
        yield
    finally:
        _is_own_work.reset(token)


class ProcessThreads(ThreadPoolExecutor):
    """The default executor of the event loop. It starts a thread when one is needed."""

    def __init__(self) -> None:
        super().__init__(_NODE_THREADS, thread_name_prefix="node")
        self._own = ThreadPoolExecutor(_OWN_THREADS, thread_name_prefix="own")

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        if _is_own_work.get():
            return self._own.submit(fn, *args, **kwargs)
        return super().submit(fn, *args, **kwargs)

    def start_all(self) -> None:
        """Starts the threads that aren't running yet."""
        all_started = Barrier(_NODE_THREADS + _OWN_THREADS + 1)
        for _ in range(_NODE_THREADS):
            super().submit(all_started.wait)
        for _ in range(_OWN_THREADS):
            self._own.submit(all_started.wait)
        all_started.wait()
