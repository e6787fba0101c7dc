"""The graph `memory` of memory.ts."""

from datetime import datetime
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_store
from langgraph.graph import START, StateGraph
from langgraph.store.base import BaseStore
from typing_extensions import TypedDict


class Notes(TypedDict, total=False):
    user: str
    note: str
    found: list[str]
    seen: dict[str, Any]


async def recall(state: Notes, *, store: BaseStore) -> Notes:
    items = await store.asearch(("notes", state["user"]), limit=100)
    return {"found": sorted(f"{item.key}={item.value['text']}" for item in items)}


inner = StateGraph(Notes).add_node("recall", recall).add_edge(START, "recall").compile(name="inner")


async def write(state: Notes) -> Notes:
    if note := state.get("note"):
        await get_store().aput(("notes", state["user"]), note, {"text": note})
    return {}


async def look(state: Notes, config: RunnableConfig, *, store: BaseStore) -> Notes:
    item = await store.aget(("notes", state["user"]), "from-api")
    nothing = await store.aget(("notes", state["user"]), "nothing")
    namespaces = await store.alist_namespaces(prefix=("notes",))
    return {
        "seen": {
            "fromApi": item and item.value,
            "createdAt": item is not None and isinstance(item.created_at, datetime),
            "nothing": nothing and nothing.value,
            "namespaces": [list(namespace) for namespace in namespaces],
        }
    }


# Writes a note in one node, and reads all notes in a nested graph: by the parameter of a node, and by get_store().
memory = (
    StateGraph(Notes)
    .add_node("write", write)
    .add_node("recall", inner)
    .add_node("look", look)
    .add_edge(START, "write")
    .add_edge("write", "recall")
    .add_edge("recall", "look")
    .compile(name="memory")
)
