"""Nested graphs that a run has left, to hand them to the next attempt (src/graphs/host/left-graphs.ts)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.errors import GraphBubbleUp


class HandedBack(GraphBubbleUp):
    """Thrown after a written checkpoint, to stop a graph there: another worker runs the next step.

    As what an interrupt throws it passes through nested graphs, lets the other tasks of a step end, and isn't stored as an
    error of their task.
    """

    def __init__(self, in_doubt: bool) -> None:
        super().__init__("The run was handed back at its checkpoint")
        self.in_doubt = in_doubt


class LeftGraphs:
    """Nested graphs that the run has left. Their errors pass through code of the user, which may catch them.

    What follows of the nodes that they run in is neither stored nor emitted.
    """

    def __init__(self) -> None:
        self._namespaces: set[str] = set()
        self._tasks: set[str] = set()
        # Error of the first graph that was left.
        self.handed_back: HandedBack | None = None

    def add(self, namespace: str, task: str | None, handed_back: HandedBack) -> None:
        """Adds a graph by its namespace with its tasks, `middle:<task>|deepest:<task>`, and by the task that runs it.

        The namespace of a graph with a checkpointer of its own doesn't name the task.
        """
        self._namespaces.add(namespace)
        self._tasks.update(part.partition(":")[2] for part in namespace.split("|"))
        if task is not None:
            self._tasks.add(task)
        self.handed_back = self.handed_back or handed_back

    def __contains__(self, namespace: str) -> bool:
        return namespace in self._namespaces

    def has_in_task(self, task: str | None) -> bool:
        """Whether a left graph runs in the task, or in a nested graph of it; never in a task that isn't known."""
        return task in self._tasks

    def has_inside(self, namespace: str) -> bool:
        """Whether a left graph is nested in the graph of the namespace."""
        return any(left.startswith(f"{namespace}|") if namespace else left for left in self._namespaces)

    def owns(self, chunk: tuple[tuple[str, ...], str, Any], fact: str | None) -> bool:
        """Whether a chunk of the run's stream belongs to the next attempt.

        That is the end or the output of a node in which a graph was left, or a state or the questions of a graph around it.
        """
        if self.handed_back is None:
            return False
        path, mode, data = chunk
        if _is_of_whole_step(mode, data) and self.has_inside("|".join(path)):
            return True
        return self.has_in_task(fact or _task_of(mode, data))


def task_of_metadata(metadata: Mapping[str, Any]) -> str | None:
    """The task that metadata of the library are about."""
    namespace: str | None = metadata.get("langgraph_checkpoint_ns")
    return namespace.rpartition(":")[2] if namespace else None


def _is_of_whole_step(mode: str, data: Any) -> bool:
    """Whether a chunk is about all tasks of a step: a state, or their questions, which the next attempt asks again."""
    if mode == "updates":
        return isinstance(data, dict) and "__interrupt__" in data
    return mode in ("values", "checkpoints") or (mode == "debug" and data["type"] == "checkpoint")


def _task_of(mode: str, data: Any) -> str | None:
    """The task whose output or end a chunk is, as far as the chunk names it."""
    if mode == "messages":
        return task_of_metadata(data[1])
    return data["payload"].get("id") if mode == "debug" else None
