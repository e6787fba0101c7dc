"""Keeps what it is given and names its classes, or makes what tables can't hold."""

import asyncio
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AnyMessage
from langgraph.config import get_store, get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import interrupt

# Half an emoji, and the character that no Postgres text holds.
ODD = "a\ud83db\0c"


class State(TypedDict, total=False):
    how: str
    value: Any
    messages: Annotated[list[AnyMessage], add_messages]
    seen: list[str]


def classes_in(value: Any) -> set[str]:
    found: set[str] = set()
    pending = [value]
    while pending:
        each = pending.pop()
        found.add(type(each).__name__)
        pending.extend(each.values() if isinstance(each, dict) else each if isinstance(each, list) else ())
    return found


def nested(levels: int) -> Any:
    value: Any = "innermost"
    for _ in range(levels):
        value = {"a": value}
    return value


async def lose(name: str) -> None:
    raise ConnectionError(f"{name} is gone")


async def lose_all(names: list[str]) -> None:
    async with asyncio.TaskGroup() as group:
        for name in names:
            group.create_task(lose(name))


async def lose_together(names: list[str]) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(lose_all(names))


def make(state: State) -> State:
    how = state.get("how")
    if how == "throw":
        raise ValueError(ODD)
    if how == "lose together":
        asyncio.run(lose_together(state["value"]))
    if how == "ask":
        return {"value": interrupt({ODD: ODD})}
    if how == "question":
        return {"value": interrupt("What is it?")}
    if how == "return":
        return {"value": {ODD: ODD}}
    if how == "keep numbers":
        get_store().put(("odd",), "scores", {"scores": {1: 2, None: 3}, "pair": (2**53 - 1, 0.5)})
        return {"value": get_store().get(("odd",), "scores").value}
    if how == "keep large numbers":
        get_store().put(("odd",), "large", {"of": [2**53]})
    if how == "deep event":
        get_stream_writer()(nested(5_000))
    if how == "deep state":
        return {"value": nested(5_000)}
    if how == "hoard":
        return {"value": len(bytearray(1 << 30))}
    if how == "large":
        return {"value": "x" * 3_000_000}
    return {}


def look(state: State) -> State:
    return {"seen": sorted(classes_in(state.get("value")))}


graph = (
    StateGraph(State)
    .add_node(make)
    .add_node(look)
    .add_edge(START, "make")
    .add_edge("make", "look")
    .add_edge("look", END)
    .compile()
)
