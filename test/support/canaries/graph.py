"""The graph of graph.ts in Python."""

from typing import Any

from langchain_core.language_models import FakeListChatModel
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.config import get_stream_writer
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.runtime import get_runtime
from langgraph.types import interrupt

SECRETS = ("x-user-token", "langgraph_auth_user", "langgraph_auth_user_id", "langgraph_auth_permissions", "api_key")
model = FakeListChatModel(responses=["well said"])


class State(MessagesState, total=False):
    ask: bool
    known: int


@tool
def count(text: str) -> int:
    """Counts letters"""
    return len(text)


async def look(state: State, config: RunnableConfig) -> dict[str, Any]:
    get_stream_writer()({"custom": True})
    await count.ainvoke({"type": "tool_call", "id": "c", "name": "count", "args": {"text": "abc"}}, config)
    given = {**config["configurable"], **(get_runtime().context or {})}
    return {"known": len([name for name in SECRETS if given.get(name) is not None])}


async def speak(state: State, config: RunnableConfig) -> dict[str, Any]:
    # Metadata of its own, which take the place of those that the server has chosen.
    return {"messages": [await model.ainvoke(state["messages"], {**config, "metadata": {"own": "metadata"}})]}


def approve(state: State) -> dict[str, Any]:
    if state.get("ask"):
        interrupt("Continue?")
    return {}


innermost = StateGraph(State).add_node(speak).add_edge(START, "speak").compile(name="innermost")
inner = StateGraph(State).add_node("innermost", innermost).add_edge(START, "innermost").compile()

graph = (
    StateGraph(State)
    .add_node(look)
    .add_node("inner", inner)
    .add_node(approve)
    .add_edge(START, "look")
    .add_edge("look", "inner")
    .add_edge("inner", "approve")
    .compile(name="canary")
)
