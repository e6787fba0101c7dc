"""A graph that keeps notes in the store, from a blocking node and from one that isn't."""

from typing import TypedDict

from langgraph.config import get_store
from langgraph.graph import START, StateGraph
from langgraph.store.base import BaseStore


class State(TypedDict, total=False):
    note: str
    found: list[str]


def write(state: State) -> State:
    get_store().put(("notes",), state["note"], {"text": state["note"]})
    return {}


async def read(_: State, *, store: BaseStore) -> State:
    return {"found": [item.key for item in await store.asearch(("notes",))]}


graph = StateGraph(State).add_node(write).add_node(read).add_edge(START, "write").add_edge("write", "read").compile()
