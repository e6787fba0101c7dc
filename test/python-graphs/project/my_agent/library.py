"""Parts of the library that other test graphs don't use: `InjectedStore`, cancellation, many blocking nodes at once."""

import asyncio
import os
from threading import Barrier
from typing import Annotated, Any

import psycopg
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedStore, ToolNode
from langgraph.store.base import BaseStore


async def record(config: RunnableConfig, node: str) -> None:
    configurable = config["configurable"]
    run = configurable["run_id"]
    async with await psycopg.AsyncConnection.connect(os.environ["GANTRY_TEST_LEDGER_URL"], autocommit=True) as ledger:
        await ledger.execute(
            "INSERT INTO ledger.executions (run_id, thread_id, node, key, attempt, pid) VALUES (%s, %s, %s, %s, %s, %s)",
            (run, configurable["thread_id"], node, run, configurable["run_attempt"], os.getppid()),
        )


@tool
async def remember(text: str, store: Annotated[BaseStore, InjectedStore()]) -> str:
    """Keeps a text"""
    await store.aput(("kept",), text, {"text": text})
    return f"Kept {[item.key for item in await store.asearch(('kept',))]}"


def call(state: MessagesState) -> dict[str, Any]:
    args = {"text": state["messages"][-1].text}
    return {"messages": [AIMessage("", tool_calls=[{"id": "1", "name": "remember", "args": args}])]}


injected = (
    StateGraph(MessagesState)
    .add_node(call)
    .add_node("tools", ToolNode([remember]))
    .add_edge(START, "call")
    .add_edge("call", "tools")
    .compile()
)


async def wait(_: MessagesState, config: RunnableConfig) -> dict[str, Any]:
    await record(config, "wait")
    try:
        await asyncio.sleep(600)
    except asyncio.CancelledError:
        await asyncio.shield(record(config, "CancelledError"))
        raise
    return {}


cancelled = StateGraph(MessagesState).add_node(wait).add_edge(START, "wait").compile()

# More than twice the threads that Python starts by itself on a machine with two processors.
meeting = Barrier(20)


def meet(_: MessagesState) -> dict[str, Any]:
    """Blocks until as many nodes as the meeting needs do so at once."""
    meeting.wait(timeout=60)
    return {"messages": [AIMessage("Met")]}


together = StateGraph(MessagesState).add_node(meet).add_edge(START, "meet").compile()
