"""Metadata of a run as its clients and its traces may see them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .versions import COPIES_CONFIGURABLE

# Keys that identify a checkpoint and its owner. The rest of a `configurable` is for the graph: keys, headers, its user.
IDENTIFYING = (
    "thread_id",
    "checkpoint_ns",
    "checkpoint_id",
    "checkpoint_map",
    "run_id",
    "graph_id",
    "assistant_id",
)
# The same with what the server adds to the metadata of each run.
PUBLIC_NAMES = frozenset((*IDENTIFYING, "run_attempt"))


class PublicMetadata:
    """Removes what older libraries copy into the metadata of models, tools and nodes: text and numbers of `configurable`."""

    def __init__(self, request: dict[str, Any]) -> None:
        configurable = (request["kwargs"].get("config") or {}).get("configurable") or {}
        names = {*configurable, *request["headers"], "langgraph_auth_user_id", "user_id"}
        self._hidden = names - PUBLIC_NAMES if COPIES_CONFIGURABLE else set()
        # The request may say the same in its own metadata, which everyone sees.
        self._given = request["metadata"]

    def of(self, metadata: Mapping[str, Any]) -> Mapping[str, Any]:
        if not self._hidden:
            return metadata
        return {name: value for name, value in metadata.items() if name not in self._hidden or self._is_given(name, value)}

    def _is_given(self, name: str, value: Any) -> bool:
        return name in self._given and bool(self._given[name] == value)
