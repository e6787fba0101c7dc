"""Runs a graph to its end, its next interrupt or a cancellation (src/graphs/host/run-graph.ts)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Container
from dataclasses import dataclass, field
from typing import Any

import psycopg
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.types import Command, Send

from .connections import PostgresUnreachable, TenantAccess, TenantConnections
from .failures import FAILURES
from .left import HandedBack, LeftGraphs
from .loader import GraphLoader
from .metadata import PublicMetadata
from .missing_nodes import refuse_missing_nodes, start_of
from .repeated import missing_steps, without_emitted
from .requests import ParentRequests
from .run_saver import RunCheckpointSaver
from .saver import Fence, FencedError
from .schemas import known_context
from .state import final_state, output_of
from .store import RunStore
from .stream import Event, stream_run
from .thrown import causes_of, message_of, ungrouped
from .tracer import RunTracer
from .user import User
from .wire import storable, to_wire_json

# SQLSTATE of a statement by an attempt that no longer owns the run (src/database/tenant-token.ts).
_TOKEN_REFUSED = "GT001"
_STRICT_RESUME = "__pregel_strict_resume"
# Keys of a run's config that the library takes as they are.
_PASSED_ON = ("tags", "recursion_limit", "run_name")
_RESUME = "__resume__"
# Task under which LangGraph stores an answer.
_NO_TASK = "00000000-0000-0000-0000-000000000000"


@dataclass
class RunContext:
    """Objects that all runs of the process share."""

    graphs: GraphLoader
    connections: TenantConnections
    requests: ParentRequests
    recursion_limit: int
    tracer: RunTracer | None = None


@dataclass
class RunControl:
    """Requests of the worker to a run in flight."""

    on_node: Callable[[str], None]
    is_handing_back: Callable[[], bool]
    is_cancelled: Callable[[], bool]
    # Returns when the log has caught up. Awaited inside the run, so that a cancellation finds the run wherever it waits.
    room: Callable[[], Awaitable[Any]]
    outcome: dict[str, Any] = field(default_factory=dict)


async def run_graph(
    context: RunContext, request: dict[str, Any], execution: int, control: RunControl
) -> AsyncGenerator[Event]:
    """Yields the run's events; `control.outcome` says then how it ended. What the graph does wrong is part of it.

    Raises where it is not the graph that failed: the database, or another attempt that holds the run.
    """
    kwargs = request["kwargs"]
    saver = RunCheckpointSaver(
        context.connections,
        TenantAccess.of(request),
        Fence(request["runId"], request["attempt"]),
        _checkpoint_metadata(request),
        control.is_handing_back,
        thread_id=request["threadId"],
        is_empty=request["threadIsNew"],
        stores_steps=kwargs["durability"] != "exit",
    )
    store = RunStore(context.requests, {"execution": execution})
    config = _config(context, request)
    failure: dict[str, Any] | None = None
    try:
        use = context.graphs.get(
            request["graphId"],
            config,
            "threads.create_run",
            saver=saver,
            store=store,
            # Never None, as for nodes.
            context=kwargs.get("context") or {},
        )
        async with use as graph:
            try:
                if "recursion_limit" not in config:
                    own = (graph.config or {}).get("recursion_limit")
                    config["recursion_limit"] = own or context.recursion_limit
                if control.is_cancelled():
                    # Before it began, when there was no task to cancel: another attempt had been asked to end it.
                    raise asyncio.CancelledError
                async for event in _events(graph, context, config, request, control):
                    await control.room()
                    yield event
                if saver.left.handed_back:
                    raise saver.left.handed_back
            except GeneratorExit:
                raise
            except FAILURES as error:
                failure = control.outcome = _failure(error, control, saver.left)
                if failure["status"] == "handed-back":
                    return
                failure["state"] = await _state_of(graph, request)
                # Passes through the context manager that made the graph, which may have work to undo.
                raise
            if not control.outcome:
                control.outcome = {"status": "success", "state": await _state_of(graph, request)}
    except GeneratorExit:
        raise
    except FAILURES as error:
        # Also of the graph's factory, or its reducers, which make the state: these throw for the final state as well. A run
        # that was handed back continues elsewhere, whatever the factory has to clean up here.
        control.outcome = failure or _failure(error, control, saver.left)


async def _state_of(graph: Any, request: dict[str, Any]) -> dict[str, Any]:
    """The final state of the run."""
    snapshot = await graph.aget_state(_thread_config(request))
    return {**final_state(snapshot, graph.checkpointer.ended), **output_of(graph, snapshot)}


async def _events(
    graph: Any, context: RunContext, config: dict[str, Any], request: dict[str, Any], control: RunControl
) -> AsyncIterator[Event]:
    kwargs = request["kwargs"]
    saver: RunCheckpointSaver = graph.checkpointer
    newest = await saver.aget_tuple(_thread_config(request)) if request["attempt"] > 1 else None
    is_resuming = newest is not None and newest.metadata.get("run_id") == request["runId"]
    if is_resuming:
        _start_from_newest(config)
    config["configurable"]["unknown_outcome_tasks"] = []
    if newest and not request["handedBack"] and (is_resuming or _begins_with_waiting_nodes(config, kwargs, newest)):
        snapshot = await graph.aget_state(_thread_config(request))
        unknown = _unfinished_tasks(snapshot, newest, kwargs, saver.ended)
        if unknown and request["onUnknown"] == "interrupt":
            control.outcome = _stop_before(graph, request, snapshot, unknown)
            return
        config["configurable"]["unknown_outcome_tasks"] = [task.id for task in unknown]
    if is_resuming:
        for event in await missing_steps(graph, request):
            yield event
    events = stream_run(
        graph,
        await _input(graph, config, request, is_resuming),
        config,
        options=_options(graph, kwargs),
        kwargs=kwargs,
        metadata=PublicMetadata(request),
        written=saver.written,
        left=saver.left,
        on_node=control.on_node,
        transformers=context.graphs.transformers_of(request["graphId"]),
    )
    async for event in without_emitted(events, request["emitted"]) if request["attempt"] > 1 else events:
        yield event


def _config(context: RunContext, request: dict[str, Any]) -> dict[str, Any]:
    kwargs = request["kwargs"]
    given = kwargs.get("config") or {}
    return {
        **{name: given[name] for name in _PASSED_ON if given.get(name)},
        **_task_limit(given.get("max_concurrency")),
        "metadata": {**request["metadata"], "run_attempt": request["attempt"]},
        "configurable": {
            **(given.get("configurable") or {}),
            **request["headers"],
            **(kwargs.get("checkpoint") or {}),
            **_auth_config(kwargs.get("auth_user"), (given.get("configurable") or {}).get("user_id")),
            "run_id": request["runId"],
            "thread_id": request["threadId"],
            "graph_id": request["graphId"],
            "assistant_id": request["assistantId"],
            "run_attempt": request["attempt"],
            **({_STRICT_RESUME: True} if kwargs.get("strict_resume") else {}),
        },
        "run_id": request["runId"],
        **({"callbacks": context.tracer.callbacks(request)} if context.tracer else {}),
    }


def _task_limit(limit: Any) -> dict[str, int]:
    """The limit of nodes at once, unless it is of a config that was stored unchecked."""
    return {"max_concurrency": limit} if type(limit) is int and limit > 0 else {}


def _auth_config(user: dict[str, Any] | None, given_id: Any) -> dict[str, Any]:
    """The entries about the user that the hosted server passes to a graph; those of a request are removed.

    Without a user they are there as well, since code reads them without a default. `user_id` is no proof of identity: a
    client may give its own.
    """
    identity = user.get("identity") if user else ""
    return {
        "langgraph_auth_user": User(user) if user else None,
        "langgraph_auth_user_id": identity,
        "langgraph_auth_permissions": user.get("permissions") if user else [],
        "user_id": given_id or identity,
    }


def _options(graph: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    chosen = {name: kwargs[name] for name in ("interrupt_before", "interrupt_after") if kwargs.get(name)}
    return {
        **chosen,
        # Never None: graphs read defaults of their schema from it.
        "context": known_context(graph, kwargs.get("context") or {}),
        # Asynchronous checkpoints would leave a gap in which a finished node runs again: `sync` is the minimum.
        "durability": "exit" if kwargs["durability"] == "exit" else "sync",
    }


def _checkpoint_metadata(request: dict[str, Any]) -> dict[str, Any]:
    return {
        **request["metadata"],
        "run_id": request["runId"],
        "thread_id": request["threadId"],
        "graph_id": request["graphId"],
        "assistant_id": request["assistantId"],
        "run_attempt": request["attempt"],
    }


def _thread_config(request: dict[str, Any]) -> dict[str, Any]:
    return {"configurable": {"thread_id": request["threadId"]}}


def _start_from_newest(config: dict[str, Any]) -> None:
    """Lets the run start from the newest checkpoint, which is its own: the one that it names is from before its input."""
    for name in ("checkpoint_id", "checkpoint_ns", "checkpoint_map"):
        config["configurable"].pop(name, None)


def _begins_with_waiting_nodes(config: dict[str, Any], kwargs: dict[str, Any], newest: CheckpointTuple) -> bool:
    """Whether the run begins with the nodes that an earlier run's checkpoint waits at.

    Then a lost attempt may have begun them without leaving a checkpoint of its own.
    """
    command = kwargs.get("command")
    resumes = command.get("resume") is not None if command else kwargs.get("input") is None
    return resumes and start_of(config["configurable"]) in (None, newest.checkpoint["id"])


def _unfinished_tasks(snapshot: Any, newest: CheckpointTuple, kwargs: dict[str, Any], ended: Container[str]) -> list[Any]:
    """The nodes that a lost attempt had begun and not ended, as far as the checkpoint shows.

    A node that waits for an answer had begun if the answer is stored: the lost attempt brought it. LangGraph doesn't store
    an answer that names its interrupt; the run itself shows those.
    """
    resume = (kwargs.get("command") or {}).get("resume")
    given = set(resume) if isinstance(resume, dict) else set()
    stored = {id for id, channel, _ in newest.pending_writes or () if channel == _RESUME}

    def has_begun(task: Any) -> bool:
        ids = {interrupt.id for interrupt in task.interrupts}
        return not ids or bool(ids & given) or bool({_NO_TASK, task.id} & stored)

    return [task for task in snapshot.tasks if task.id not in ended and has_begun(task)]


def _stop_before(graph: Any, request: dict[str, Any], snapshot: Any, unknown: list[Any]) -> dict[str, Any]:
    """Ends the run before the nodes in doubt: the thread waits for a person, and resumes with a run without input."""
    questions = {
        task.id: [
            {
                "id": task.id,
                "value": {
                    "type": "unknown_outcome",
                    "node": task.name,
                    "run_id": request["runId"],
                    "attempt": request["attempt"] - 1,
                    "message": f'A worker was lost while "{task.name}" ran: it may or may not have taken effect. '
                    "Run without input to start it again.",
                },
            }
        ]
        for task in unknown
    }
    state = {
        **final_state(snapshot, graph.checkpointer.ended),
        **output_of(graph, snapshot),
        "interrupts": to_wire_json(questions),
    }
    return {"status": "success", "state": state}


async def _input(graph: Any, config: dict[str, Any], request: dict[str, Any], is_resuming: bool) -> Any:
    kwargs = request["kwargs"]
    command = kwargs.get("command")
    given = None if is_resuming else to_command(command) if command else kwargs.get("input")
    if given is None or command:
        await refuse_missing_nodes(graph, config, request)
    return given


def to_command(command: dict[str, Any]) -> Command[Any]:
    """A command of the API in the form of the library."""
    goto = command.get("goto")
    targets = goto if isinstance(goto, list) else [] if goto is None else [goto]
    update = command.get("update")
    if isinstance(update, list) and all(
        isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) for pair in update
    ):
        update = [tuple(pair) for pair in update]
    return Command(
        update=update,
        resume=command.get("resume"),
        goto=[each if isinstance(each, str) else Send(each["node"], each.get("input")) for each in targets],
    )


def _failure(error: BaseException, control: RunControl, left: LeftGraphs) -> dict[str, Any]:
    """The outcome of a run whose graph threw. Raises if another attempt is right: lost connections, a fence."""
    for cause in causes_of(error):
        if isinstance(cause, (FencedError, PostgresUnreachable)):
            raise cause
        if isinstance(cause, psycopg.Error) and cause.sqlstate == _TOKEN_REFUSED:
            raise cause
    if control.is_cancelled() and not isinstance(error, HandedBack):
        return {"status": "aborted"}
    # Code of the user may have made another error of that of a nested graph.
    handed_back = error if isinstance(error, HandedBack) else left.handed_back
    if handed_back:
        return {"status": "handed-back", "inDoubt": handed_back.in_doubt}
    return {"status": "error", "error": _describe(error)}


def _describe(error: BaseException) -> dict[str, Any]:
    error = ungrouped(error)
    refused = {
        name: getattr(error, attribute)
        for name, attribute in (
            ("reason", "reason"),
            ("interrupt_ids", "interrupt_ids"),
            ("pending_ids", "pending_ids"),
        )
        if type(error).__name__ == "UnknownInterruptError" and hasattr(error, attribute)
    }
    return {"error": type(error).__name__, "message": storable(message_of(error)), **refused}
