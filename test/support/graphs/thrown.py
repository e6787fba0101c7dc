"""The graphs of thrown.ts."""

import asyncio
from typing import Any, TypedDict

import psycopg
from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, StateGraph
from ledger_node import record_execution
from psycopg_pool import PoolTimeout


class Throwing(TypedDict, total=False):
    how: str


class Unreadable(Exception):
    def __str__(self) -> str:
        raise ValueError("unreadable")


class UnknownInterruptError(Exception):
    reason = "x"
    interrupt_ids = object()


circle = Exception("circle")
circle.__cause__ = circle

# Errors that a node raises. Some have no text, others look like errors of Gantry's own.
RAISED = {
    "a statement timeout": psycopg.errors.QueryCanceled("canceling statement"),
    "a lost connection": psycopg.OperationalError("server closed the connection unexpectedly"),
    "a full pool": PoolTimeout("couldn't get a connection"),
    "an error of the same name": type("FencedError", (Exception,), {})("x"),
    "no text": Unreadable(),
    "a circle of causes": circle,
    "what can not be sent": UnknownInterruptError("x"),
}


async def throw(state: Throwing, config: RunnableConfig) -> Throwing:
    await record_execution("throw", config)
    raise RAISED[state["how"]]


thrown = StateGraph(Throwing).add_node("throw", throw).add_edge(START, "throw").compile(name="thrown")


async def hung(_: RunnableConfig) -> Any:
    """Never makes the graph of a run."""
    await asyncio.Event().wait()
