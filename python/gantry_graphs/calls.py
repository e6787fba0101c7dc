"""Calls of the api to a graph that isn't run: states, their history and edits, schemas and its drawing."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any

from langgraph.types import StateUpdate

from .connections import TenantAccess, TenantConnections
from .embeddings import EmbeddingFunction
from .loader import GraphLoader
from .requests import ParentRequests
from .run import to_command
from .saver import CheckpointSaver
from .schemas import schemas_of
from .state import final_state, interrupts_by_task, output_of, select_fields, thread_state, waiting_nodes
from .store import RunStore
from .wire import to_wire_json


class GraphCalls:
    """One method for each name of `GraphCalls` in src/graphs/host/protocol.ts."""

    def __init__(
        self,
        graphs: GraphLoader,
        connections: TenantConnections,
        requests: ParentRequests,
        embeddings: EmbeddingFunction | None,
    ) -> None:
        self._graphs = graphs
        self._embeddings = embeddings
        self._connections = connections
        self._requests = requests
        self._by_name = {
            "getState": self._get_state,
            "getFinalState": self._get_final_state,
            "getHistory": self._get_history,
            "updateState": self._update_state,
            "replaySupersteps": self._replay_supersteps,
            "getSchemas": self._get_schemas,
            "getFields": self._get_fields,
            "getSubgraphs": self._get_subgraphs,
            "drawGraph": self._draw_graph,
            "embed": self._embed,
        }

    async def handle(self, name: str, args: dict[str, Any]) -> str:
        """Returns JSON text. Raises what the graph's code raises."""
        return to_wire_json(await self._by_name[name](args))

    async def _embed(self, args: dict[str, Any]) -> Any:
        if self._embeddings is None:
            raise LookupError("This deployment has no store.index with a function in Python")
        return await self._embeddings.embed(args["kind"], args["texts"])

    async def _get_state(self, args: dict[str, Any]) -> Any:
        async with self._graph(args, "threads.read") as graph:
            snapshot = await graph.aget_state(_config(args), subgraphs=bool(args.get("subgraphs")))
            return select_fields(thread_state(snapshot, graph.checkpointer.ended), args.get("select"))

    async def _get_final_state(self, args: dict[str, Any]) -> Any:
        async with self._graph(args, "threads.read") as graph:
            snapshot = await graph.aget_state(_config(args))
            return {**final_state(snapshot, graph.checkpointer.ended), **output_of(graph, snapshot)}

    async def _get_history(self, args: dict[str, Any]) -> Any:
        before = args.get("before")
        async with self._graph(args, "threads.read") as graph:
            return [
                select_fields(thread_state(snapshot, graph.checkpointer.ended), args.get("select"))
                async for snapshot in graph.aget_state_history(
                    _config(args),
                    limit=args["limit"],
                    before={"configurable": before} if before else None,
                    filter=args.get("filter"),
                )
            ]

    async def _update_state(self, args: dict[str, Any]) -> Any:
        async with self._graph(args, "threads.update") as graph:
            written = await graph.aupdate_state(_config(args), args.get("values"), as_node=args.get("asNode"))
            return await self._edited(graph, args, written)

    async def _replay_supersteps(self, args: dict[str, Any]) -> Any:
        supersteps = [[_update(each) for each in step] for step in args["supersteps"]]
        async with self._graph(args, "threads.update") as graph:
            written = await graph.abulk_update_state(_thread(args), supersteps)
            return await self._edited(graph, args, written)

    async def _edited(self, graph: Any, args: dict[str, Any], written: Any) -> Any:
        """The new checkpoint, and the part of the state that the thread's row keeps."""
        snapshot = await graph.aget_state(_thread(args))
        ended = graph.checkpointer.ended
        return {
            "checkpoint": {name: value for name, value in written["configurable"].items() if not name.startswith("__")},
            "values": snapshot.values,
            "next": waiting_nodes(snapshot, ended),
            "interrupts": interrupts_by_task(snapshot, ended),
        }

    async def _draw_graph(self, args: dict[str, Any]) -> Any:
        async with self._graph(args, "assistants.read") as graph:
            drawable = await graph.aget_graph(xray=args["xray"])
        return drawable.to_json()

    async def _get_schemas(self, args: dict[str, Any]) -> Any:
        async with self._graph(args, "assistants.read") as graph:
            schemas = schemas_of(graph)
        return {
            "graph_id": args["graphId"],
            **{f"{name}_schema": schema for name, schema in schemas.items()},
            "context_schema": schemas["config"],
        }

    async def _get_fields(self, args: dict[str, Any]) -> Any:
        async with self._graph(args, "assistants.read") as graph:
            channels = graph.output_channels
        return [channels] if isinstance(channels, str) else list(channels)

    async def _get_subgraphs(self, args: dict[str, Any]) -> Any:
        """Namespace → schemas, in the two spellings that clients of either server read."""
        found: dict[str, Any] = {}
        async with self._graph(args, "assistants.read") as graph:
            async for name, subgraph in graph.aget_subgraphs(
                namespace=args.get("namespace"), recurse=bool(args.get("recurse"))
            ):
                schemas = schemas_of(subgraph)
                suffixed = {f"{kind}_schema": schema for kind, schema in schemas.items()}
                found[name] = {**schemas, **suffixed, "context_schema": schemas["config"]}
        return found

    def _graph(self, args: dict[str, Any], access: str) -> AbstractAsyncContextManager[Any]:
        given = args.get("config") or {}
        configurable = {**(given.get("configurable") or {}), **_config(args)["configurable"]}
        return self._graphs.get(
            args["graphId"],
            {**given, "configurable": configurable, "metadata": args.get("metadata") or {}},
            access,
            # Each call has its own saver, since a saver belongs to one tenant.
            saver=CheckpointSaver(self._connections, TenantAccess.of(args)) if "threadId" in args else None,
            store=RunStore(self._requests, {"tenantId": args["tenantId"]}),
            context=args.get("context"),
        )


def _thread(args: dict[str, Any]) -> dict[str, Any]:
    return {"configurable": {"thread_id": args["threadId"]}}


def _config(args: dict[str, Any]) -> dict[str, Any]:
    """The checkpoint that a call is about: the newest one where it names none."""
    place = {name: value for name, value in (args.get("checkpoint") or {}).items() if value is not None}
    return {"configurable": {**place, **({"thread_id": args["threadId"]} if "threadId" in args else {})}}


def _update(superstep: dict[str, Any]) -> StateUpdate:
    command = superstep.get("command")
    values: Any = to_command(command) if command else superstep.get("values")
    return StateUpdate(values=values, as_node=superstep["asNode"])
