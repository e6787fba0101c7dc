"""Parts of the library that other test graphs don't use: the functional API, `Send`, `InjectedStore`, cancellation."""

import asyncio
import operator
import os
from typing import Annotated, Any, TypedDict

import psycopg
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.func import entrypoint, task
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedStore, ToolNode
from langgraph.store.base import BaseStore
from langgraph.types import Command, Send, interrupt


async def record(config: RunnableConfig, node: str) -> None:
    configurable = config["configurable"]
    run = configurable["run_id"]
    async with await psycopg.AsyncConnection.connect(os.environ["GANTRY_TEST_LEDGER_URL"], autocommit=True) as ledger:
        await ledger.execute(
            "INSERT INTO ledger.executions (run_id, thread_id, node, key, attempt, pid) VALUES (%s, %s, %s, %s, %s, %s)",
            (run, configurable["thread_id"], node, run, configurable["run_attempt"], os.getppid()),
        )


@task
async def double(value: int, config: RunnableConfig) -> int:
    await record(config, "double")
    return value * 2


@entrypoint()
async def functional(given: dict[str, int], *, previous: Any = None) -> dict[str, Any]:
    """A task, an interrupt in the middle, and what it returned the last time."""
    doubled = await double(given["value"])
    answer = interrupt(f"Is {doubled} right?")
    return {"doubled": doubled, "answer": answer, "previous": previous["doubled"] if previous else None}


class Routed(TypedDict, total=False):
    path: Annotated[list[str], operator.add]
    items: list[int]
    total: Annotated[int, operator.add]


def decide(state: Routed) -> Command:
    return Command(update={"path": ["decide"]}, goto=[Send("add", {"item": item}) for item in state["items"]])


def add(task: dict[str, int]) -> Routed:
    return {"path": [f"add {task['item']}"], "total": task["item"]}


routed = StateGraph(Routed).add_node(decide, destinations=("add",)).add_node(add).add_edge(START, "decide").compile()


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


async def wait(_: Routed, config: RunnableConfig) -> Routed:
    await record(config, "wait")
    try:
        await asyncio.sleep(600)
    except asyncio.CancelledError:
        await asyncio.shield(record(config, "CancelledError"))
        raise
    return {}


cancelled = StateGraph(Routed).add_node(wait).add_edge(START, "wait").compile()
