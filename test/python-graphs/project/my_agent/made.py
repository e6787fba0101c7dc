"""Graphs that a function makes for each use."""

import asyncio
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config, get_store
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
from langgraph_sdk.runtime import ServerRuntime

from my_agent.library import record


class State(TypedDict, total=False):
    said: str


def saying(text: str) -> Any:
    return StateGraph(State).add_node("say", lambda _: {"said": text}).add_edge(START, "say").compile()


@asynccontextmanager
async def make_graph(config: RunnableConfig, runtime: ServerRuntime):
    word = config["configurable"].get("word", "nothing")
    runs = runtime.execution_runtime is not None
    ending = runtime.execution_runtime.context.get("ending", "") if runtime.execution_runtime else ""

    def say(_: State, config: RunnableConfig) -> State:
        # There, but empty, where the server has no users.
        configurable = config["configurable"]
        return {"said": f"{word} {runs}{configurable['langgraph_auth_user_id']}{configurable['user_id']}{ending}"}

    yield StateGraph(State).add_node("say", say).add_edge(START, "say").compile()


@contextmanager
def make_by_name(*, config: RunnableConfig, ending: str = "!"):
    yield saying(config["configurable"].get("word", "nothing") + ending)


def make_with_defaults(settings=None, ending: str = "!", *, start: str = "well, "):
    return saying(start + settings["configurable"].get("word", "nothing") + ending)


async def make_from_store():
    word = get_config()["configurable"].get("word", "nothing")
    await get_store().aput(("words",), "newest", {"word": word})
    item = await get_store().aget(("words",), "newest")
    return saying(f"{word} {item and item.value['word']}")


class Job(TypedDict, total=False):
    how: str
    begun: bool


async def begin(_: Job) -> Job:
    await record(get_config(), "begin")
    return {"begun": True}


async def work(state: Job) -> Job:
    if state["how"] == "fail":
        raise ValueError("The work failed")
    if state["how"] == "ask":
        interrupt("Continue?")
    if state["how"] == "wait":
        await record(get_config(), "work")
        await asyncio.sleep(600)
    return {}


job = StateGraph(Job).add_node(begin).add_node(work).add_edge(START, "begin").add_edge("begin", "work").compile()


@asynccontextmanager
async def make_job(runtime: ServerRuntime):
    """A graph inside a transaction, as one on a connection to a database would be."""
    try:
        yield job
        end = "commit"
    except BaseException as error:
        end = f"rollback: {type(error).__name__}"
        raise
    finally:
        if runtime.execution_runtime is not None:
            await record(get_config(), end)
