"""A graph directly in the folder: it may name its neighbours from the folder, from the project, and relatively."""

import backend.speakers
import speakers
from greeters.main import State
from langgraph.graph import START, StateGraph

from .greeters.words import greeting


def greet(state: State) -> State:
    return {"said": speakers.speaker("guest") + backend.speakers.speaker(greeting(state["name"]))}


graph = StateGraph(State).add_node("greet", greet).add_edge(START, "greet").compile()
