"""The graphs of states.ts."""

import asyncio
import os
from pathlib import Path
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph


class First(TypedDict, total=False):
    first: str


class Both(First, total=False):
    second: str


def switched() -> Any:
    """Made for each use; it has a second channel while the file of GANTRY_TEST_SWITCH exists."""
    state = Both if Path(os.environ["GANTRY_TEST_SWITCH"]).exists() else First
    return (
        StateGraph(state)
        .add_node("write", lambda _: {"first": "written", "second": "written"})
        .add_edge(START, "write")
        .add_edge("write", END)
    )


class Pair(TypedDict, total=False):
    early: bool
    late: bool


async def until_switched(name: str) -> None:
    while not Path(f"{os.environ['GANTRY_TEST_SWITCH']}-{name}").exists():
        await asyncio.sleep(0.02)


async def first(_: Pair) -> Pair:
    await until_switched("first")
    return {"early": True}


async def second(_: Pair) -> Pair:
    await until_switched("second")
    return {"late": True}


# Two nodes at once, each of which ends when a file has its name.
pair = (
    StateGraph(Pair)
    .add_node("first", first)
    .add_node("second", second)
    .add_edge(START, "first")
    .add_edge(START, "second")
    .add_edge("first", END)
    .add_edge("second", END)
    .compile()
)
