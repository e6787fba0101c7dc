"""A graph whose output is a part of its state."""

from __future__ import annotations

from typing import TypedDict

from langgraph.graph import START, StateGraph


class Input(TypedDict):
    question: str


class Output(TypedDict, total=False):
    answer: str


class State(Input, Output, total=False):
    draft: str


def think(state: State) -> State:
    return {"draft": f"about {state['question']}"}


def answer(state: State) -> State:
    return {"answer": state["draft"].upper()}


builder = StateGraph(State, input_schema=Input, output_schema=Output)
builder.add_sequence([think, answer])
builder.add_edge(START, "think")
graph = builder.compile()
