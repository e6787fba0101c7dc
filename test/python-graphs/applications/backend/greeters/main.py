"""A graph in a package of a folder of `dependencies`, which imports its neighbours as `langgraph dev` finds them."""

from typing import TypedDict

from greeters.words import greeting
from langgraph.graph import START, StateGraph
from speakers import speaker


class State(TypedDict, total=False):
    name: str
    said: str


def greet(state: State) -> State:
    return {"said": speaker(__name__) + greeting(state["name"])}


graph = StateGraph(State).add_node("greet", greet).add_edge(START, "greet").compile()
