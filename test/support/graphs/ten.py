"""The graphs of ten.ts."""

import asyncio
import operator
import os
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from ledger_node import record_execution


class State(TypedDict, total=False):
    step_ms: float
    fails: bool
    done: Annotated[list[str], operator.add]


def step(name: str, ms: float | None = None) -> Callable[[State, RunnableConfig], Awaitable[State]]:
    async def node(state: State, config: RunnableConfig) -> State:
        ended = await record_execution(name, config)
        await asyncio.sleep((state.get("step_ms", 0) if ms is None else ms) / 1000)
        await ended()
        return {"done": [name]}

    return node


def chain(length: int) -> StateGraph:
    """Nodes in a row, each counted in the ledger."""
    steps = [(f"node_{number}", step(f"node_{number}")) for number in range(1, length + 1)]
    return StateGraph(State).add_sequence(steps).add_edge(START, "node_1").add_edge(f"node_{length}", END)


async def deadly(_: State, config: RunnableConfig) -> State:
    await record_execution("deadly", config)
    os._exit(1)


# Two at once: one ends at once, the other takes its time.
fork = (
    StateGraph(State)
    .add_node("quick", step("quick", 0))
    .add_node("slow", step("slow"))
    .add_edge(START, "quick")
    .add_edge(START, "slow")
    .add_edge("quick", END)
    .add_edge("slow", END)
    .compile(name="fork")
)

# Four at once, of which the first fails once in each thread that asks for it.
failed: set[str] = set()


async def work(given: dict[str, Any], config: RunnableConfig) -> State:
    thread = config["configurable"]["thread_id"]
    if given["fails"] and given["number"] == 1 and thread not in failed:
        failed.add(thread)
        raise ValueError("flaky")
    return await step(f"work_{given['number']}")({"step_ms": given["step_ms"]}, config)


def spread(state: State) -> list[Send]:
    given = {"step_ms": state.get("step_ms", 0), "fails": state.get("fails", False)}
    return [Send("work", {**given, "number": number}) for number in (1, 2, 3, 4)]


fan = StateGraph(State).add_node("work", work).add_conditional_edges(START, spread, ["work"]).compile(name="fan")

# Takes the process that it runs in with it, as one that is out of memory does.
poison = (
    StateGraph(State)
    .add_node("fine", step("fine"))
    .add_node("deadly", deadly)
    .add_edge(START, "fine")
    .add_edge("fine", "deadly")
    .add_edge("deadly", END)
    .compile(name="poison")
)

ten = chain(10).compile(name="ten")
three = chain(3).compile(name="three")
