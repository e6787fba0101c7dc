"""Condenses a text: each paragraph to its first sentence, all paragraphs in parallel."""

import operator
import re
from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send


class State(TypedDict, total=False):
    text: str
    sentences: Annotated[list[tuple[int, str]], operator.add]
    digest: str


class Paragraph(TypedDict):
    position: int
    text: str


def split(state: State) -> list[Send]:
    paragraphs = [text.strip() for text in state["text"].split("\n\n") if text.strip()]
    return [Send("condense", Paragraph(position=position, text=text)) for position, text in enumerate(paragraphs)]


async def condense(paragraph: Paragraph) -> State:
    first = re.split(r"(?<=[.!?])\s", paragraph["text"], maxsplit=1)[0]
    return {"sentences": [(paragraph["position"], first)]}


def merge(state: State) -> State:
    return {"digest": " ".join(sentence for _, sentence in sorted(state["sentences"]))}


graph = (
    StateGraph(State)
    .add_node(condense)
    .add_node(merge)
    .add_conditional_edges(START, split, ["condense"])
    .add_edge("condense", "merge")
    .add_edge("merge", END)
    .compile(name="digest")
)
