"""A node that asks until the answer is a number, and a nested graph."""

from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt


class State(TypedDict, total=False):
    age: int
    greeting: str


def ask(_: State) -> State:
    question = "How old are you?"
    while True:
        answer = interrupt(question)
        if isinstance(answer, int):
            return {"age": answer}
        question = f"{answer!r} is no number. How old are you?"


def greet(state: State) -> State:
    return {"greeting": f"Hello, you are {state['age']}"}


inner = StateGraph(State).add_node(greet).add_edge(START, "greet").add_edge("greet", END).compile()

graph = (
    StateGraph(State)
    .add_node(ask)
    .add_node("inner", inner)
    .add_edge(START, "ask")
    .add_edge("ask", "inner")
    .add_edge("inner", END)
    .compile()
)
