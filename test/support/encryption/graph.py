"""The graph of graph.ts in Python."""

import asyncio
import operator
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.config import get_stream_writer
from langgraph.graph import START, StateGraph, add_messages
from langgraph.store.base import BaseStore
from langgraph.types import interrupt


class State(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    note: str
    seen: Annotated[list[str], operator.add]
    mode: str
    answer: Any


async def look(state: State, config: RunnableConfig, *, store: BaseStore) -> State:
    get_stream_writer()({"custom": state.get("note")})
    note = state.get("note", "")
    if state.get("mode") == "secretive":
        return {"seen": ["".join(["unencrypt", "able"])]}
    if note:
        await store.aput(("notes",), f"python-{len(note)}", {"text": note})
    topic = config["configurable"].get("topic")
    return {"seen": [note, *([topic] if topic else [])], "messages": [AIMessage(f"about {note}")]}


async def ask(state: State, config: RunnableConfig) -> State:
    if state.get("mode") == "slow" and config["configurable"]["run_attempt"] == 1:
        await asyncio.sleep(120)  # waits to be killed
    if state.get("mode") == "fail":
        raise ValueError(f"no good: {state['note']}")
    return {"answer": interrupt(f"why {state['note']}?")} if state.get("mode") == "ask" else {}


graph = StateGraph(State).add_node(look).add_node(ask).add_edge(START, "look").add_edge("look", "ask").compile()
