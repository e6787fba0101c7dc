"""A graph that a function makes for each use."""

from contextlib import asynccontextmanager
from typing import TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, StateGraph
from langgraph_sdk.runtime import ServerRuntime


class State(TypedDict, total=False):
    said: str


@asynccontextmanager
async def make_graph(config: RunnableConfig, runtime: ServerRuntime):
    word = config["configurable"].get("word", "nothing")
    runs = runtime.execution_runtime is not None

    def say(_: State, config: RunnableConfig) -> State:
        # There, but empty, where the server has no users.
        return {"said": f"{word} {runs}{config['configurable']['langgraph_auth_user_id']}"}

    yield StateGraph(State).add_node("say", say).add_edge(START, "say").compile()
