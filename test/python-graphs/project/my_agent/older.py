"""Graphs for langgraph 0.6: an agent of `create_react_agent`, one with a context, and one that calls this server's API."""

from dataclasses import dataclass
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.prebuilt import create_react_agent
from langgraph.runtime import Runtime
from langgraph_sdk import get_client

from my_agent.model import RuleModel


def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"Sunny in {city}"


agent = create_react_agent(RuleModel(), tools=[get_weather])


@dataclass(kw_only=True)
class Context:
    word: str = "nothing"


class State(TypedDict, total=False):
    said: str


async def say(_: State, runtime: Runtime[Context]) -> State:
    return {"said": runtime.context.word}


context = StateGraph(State, context_schema=Context).add_node(say).add_edge(START, "say").compile()

client = get_client()


async def call(_: State) -> State:
    return {"said": (await client.runs.wait(None, "context", input={}, context={"word": "there"}))["said"]}


caller = StateGraph(State).add_node(call).add_edge(START, "call").compile()
