"""Refuses to resume a thread at a node that the graph doesn't have (src/graphs/host/missing-nodes.ts)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.types import Send

# Channels in which the library keeps who is next: an edge's target, a join of several, and what a Send addresses.
_EDGE = "branch:to:"
_JOIN = "join:"
_SENDS = "__pregel_tasks"


class NodeNotFound(Exception):
    """The thread waits at a node that the deployed graph doesn't have."""


async def refuse_missing_nodes(graph: Any, config: dict[str, Any], request: dict[str, Any]) -> None:
    """Raises NodeNotFound with the nodes and possible remedies, for a run that starts from a checkpoint.

    The library starts no task for a node that no longer exists, and reports success: a person who answers an interrupt after
    a deployment would see nothing happen.
    """
    start = {"thread_id": request["threadId"], "checkpoint_id": start_of(config["configurable"])}
    found = await graph.checkpointer.aget_tuple({"configurable": start})
    if found is None:
        return
    missing = [node for node in _next_nodes(found.checkpoint["channel_values"]) if node not in graph.nodes]
    if not missing:
        return
    names = ", ".join(f'"{node}"' for node in dict.fromkeys(missing))
    raise NodeNotFound(
        f'The thread waits at {names}, which the graph "{request["graphId"]}" of revision {_revision(request["metadata"])} '
        f"does not have; its state was written by revision {_revision(found.metadata)}. Deploy a graph with that node, or "
        "update the thread's state as another node (as_node) and run it from there."
    )


def start_of(named: Mapping[str, Any]) -> str | None:
    """The checkpoint that the whole graph starts from, also where one of a nested graph is named; None for the newest."""
    own = None if named.get("checkpoint_ns") else named.get("checkpoint_id")
    return own or (named.get("checkpoint_map") or {}).get("")


def _next_nodes(values: Mapping[str, Any]) -> list[str]:
    """Names of the nodes that a checkpoint waits at, whether the graph has them or not."""
    nodes: list[str] = []
    for channel, value in values.items():
        if channel.startswith(_EDGE):
            nodes.append(channel.removeprefix(_EDGE))
        elif channel.startswith(_JOIN):
            starts, _, end = channel.removeprefix(_JOIN).rpartition(":")
            # One into a deferred node has its starts beside whether it may fire.
            come = value[0] if isinstance(value, (list, tuple)) and value else value
            # A join fires when each of its starts has come.
            if isinstance(come, (set, frozenset)) and len(come) == len(starts.split("+")):
                nodes.append(end)
        elif channel == _SENDS and isinstance(value, list):
            nodes.extend(each.node for each in value if isinstance(each, Send))
    return nodes


def _revision(metadata: Mapping[str, Any]) -> str:
    revision = metadata.get("revision_id")
    return revision if isinstance(revision, str) else "unknown"
