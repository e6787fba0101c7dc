"""A graph that runs another one through the API of the server that it runs in."""

from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph_sdk import get_client

client = get_client()


class State(TypedDict, total=False):
    said: str


async def call(_: State) -> State:
    return {"said": (await client.runs.wait(None, "made", input={}, config={"configurable": {"word": "there"}}))["said"]}


graph = StateGraph(State).add_node(call).add_edge(START, "call").compile()
