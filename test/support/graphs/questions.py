"""Graphs whose nodes ask at the same time: askBoth of behaviours.ts, and survey of shapes.ts."""

from typing import Literal

from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict


class Poll(TypedDict, total=False):
    first: str
    second: str


async def ask_first(state: Poll) -> Poll:
    return {"first": interrupt("First?")}


async def ask_second(state: Poll) -> Poll:
    return {"second": interrupt("Second?")}


# Two nodes that ask at the same time.
poll = (
    StateGraph(Poll)
    .add_node("ask_first", ask_first)
    .add_node("ask_second", ask_second)
    .add_edge(START, "ask_first")
    .add_edge(START, "ask_second")
    .compile()
)


class Survey(TypedDict, total=False):
    opinion: str


async def greet(state: Survey) -> Survey:
    interrupt("Ready?")
    return {}


async def route(state: Survey) -> Command[Literal["shout"]]:
    return Command(goto=interrupt("Where to?"))


async def ignore(state: Survey) -> None:
    interrupt("Anything else?")


async def insist(state: Survey) -> Survey:
    interrupt("What do you think?")
    return {"opinion": interrupt("Really?")}


async def shout(state: Survey) -> Survey:
    return {"opinion": state["opinion"].upper()}


# Four nodes that ask at the same time: of three the answers leave nothing in the state, and the last one asks twice.
survey = StateGraph(Survey).add_node(shout)
for asking in (greet, route, ignore, insist):
    survey.add_node(asking).add_edge(START, asking.__name__)
