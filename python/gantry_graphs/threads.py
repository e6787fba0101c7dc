"""The threads in which blocking nodes run."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

# Blocking nodes that run at once in a process. Python's own default is four more than there are processors: so few that
# wait for a model would make every other run of the process wait, even one whose nodes are async.
_NODE_THREADS = 64


def node_threads(*, started: bool) -> ThreadPoolExecutor:
    """The pool, which starts a thread when a node needs one. `started`: all of them are running already."""
    pool = ThreadPoolExecutor(_NODE_THREADS, thread_name_prefix="node")
    if started:
        all_started = Barrier(_NODE_THREADS + 1)
        for _ in range(_NODE_THREADS):
            pool.submit(all_started.wait)
        all_started.wait()
    return pool
