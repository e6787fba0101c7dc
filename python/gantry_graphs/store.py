"""The store as nodes see it: that of the run's tenant. The worker performs each operation and refuses fenced writes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import orjson
from langgraph.store.base import BaseStore, GetOp, Item, ListNamespacesOp, Op, PutOp, Result, SearchItem, SearchOp
from langgraph.store.base.batch import _check_loop

from .loops import in_loop
from .requests import ParentRequests


class RunStore(BaseStore):
    """`owner` names what asks: the execution of a run, or a call about a thread."""

    supports_ttl = True
    # Without this, the library would say for callers who say nothing that a read refreshes: the deployment decides.
    ttl_config: Any = {"refresh_on_read": None}

    def __init__(self, requests: ParentRequests, owner: dict[str, Any]) -> None:
        self._requests = requests
        self._owner = owner
        self._loop = asyncio.get_running_loop()

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await in_loop(self._loop, self._perform_all(ops))

    @_check_loop
    def batch(self, ops: Iterable[Op]) -> list[Result]:
        return asyncio.run_coroutine_threadsafe(self._perform_all(ops), self._loop).result()

    async def _perform_all(self, ops: Iterable[Op]) -> list[Result]:
        return [await self._perform(op) for op in ops]

    async def _perform(self, op: Op) -> Result:
        answer = await self._requests.ask("store", {**self._owner, "operation": _operation(op)})
        if isinstance(op, GetOp):
            return answer and Item(**_fields(answer))
        if isinstance(op, SearchOp):
            return [SearchItem(**_fields(item), score=item.get("score")) for item in answer]
        if isinstance(op, ListNamespacesOp):
            return [tuple(namespace) for namespace in answer]
        return None


def _operation(op: Op) -> dict[str, Any]:
    """The operation as src/graphs/host/store-operations.ts takes it."""
    if isinstance(op, GetOp):
        return {"name": "get", "namespace": list(op.namespace), "key": op.key, "refreshTtl": op.refresh_ttl}
    if isinstance(op, PutOp):
        if op.value is None:
            return {"name": "delete", "namespace": list(op.namespace), "key": op.key}
        put: dict[str, Any] = {"name": "put", "namespace": list(op.namespace), "key": op.key, "value": _json(op.value)}
        if op.index is not None:
            put["index"] = op.index
        # Absent where the caller says nothing: the deployment's default holds then.
        return {**put, "ttl": op.ttl} if op.ttl is not None else put
    if isinstance(op, SearchOp):
        return {
            "name": "search",
            "prefix": list(op.namespace_prefix),
            "filter": op.filter and _json(op.filter),
            "limit": op.limit,
            "offset": op.offset,
            "query": op.query,
            "refreshTtl": op.refresh_ttl,
        }
    if isinstance(op, ListNamespacesOp):
        paths: dict[str, Any] = {condition.match_type: list(condition.path) for condition in op.match_conditions or ()}
        return {"name": "namespaces", **paths, "maxDepth": op.max_depth, "limit": op.limit, "offset": op.offset}
    raise TypeError(f"The store has no operation {type(op).__name__}")


def _json(value: Mapping[str, Any]) -> orjson.Fragment:
    """The value as JSON, with all keys as strings. Raises TypeError for integers that the API would round."""
    try:
        return orjson.Fragment(orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_STRICT_INTEGER))
    except TypeError as error:
        hint = ". Keep it as a str" if "Integer" in str(error) else ""
        raise TypeError(f"The store can't keep this value: {error}{hint}") from error


def _fields(item: dict[str, Any]) -> dict[str, Any]:
    return {
        "namespace": tuple(item["namespace"]),
        "key": item["key"],
        "value": item["value"],
        "created_at": datetime.fromisoformat(item["createdAt"]),
        "updated_at": datetime.fromisoformat(item["updatedAt"]),
    }
