"""A graph that says how many steps are `left`, in channels that checkpoints don't have the value of."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, TypedDict

from langgraph.channels import DeltaChannel
from langgraph.graph import END, START, StateGraph


def joined(state: list[str], writes: Sequence[list[str]]) -> list[str]:
    return [*state, *(word for words in writes for word in words)]


class State(TypedDict, total=False):
    # Its value is in every third checkpoint or so.
    often: Annotated[list[str], DeltaChannel(joined, snapshot_frequency=3)]
    # Its value is in no checkpoint of a short thread.
    rarely: Annotated[list[str], DeltaChannel(joined)]
    left: int
    sleep_ms: int


def say(state: State) -> State:
    left = state["left"]
    return {"often": [f"step {left}"], "rarely": [f"step {left}"], "left": left - 1}


async def nap(state: State) -> State:
    await asyncio.sleep(state["sleep_ms"] / 1000)
    return {}


graph = (
    StateGraph(State)
    .add_node(say)
    .add_node(nap)
    .add_edge(START, "say")
    .add_conditional_edges("say", lambda state: "say" if state["left"] > 0 else "nap")
    .add_edge("nap", END)
    .compile()
)
