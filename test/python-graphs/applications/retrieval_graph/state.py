"""The states of both graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from langchain_core.documents import Document
from langchain_core.messages import AnyMessage
from langgraph.graph import add_messages


def reduce_docs(
    existing: Sequence[Document] | None,
    new: Sequence[Document] | Sequence[dict[str, Any]] | Sequence[str] | str | Literal["delete"],
) -> Sequence[Document]:
    """Documents as clients send them: as texts, or with metadata."""
    if new == "delete":
        return []
    if isinstance(new, str):
        return [Document(page_content=new)]
    if isinstance(new, list):
        return [
            Document(page_content=each) if isinstance(each, str) else Document(**each) if isinstance(each, dict) else each
            for each in new
        ]
    return existing or []


def add_queries(existing: Sequence[str], new: Sequence[str]) -> Sequence[str]:
    return [*existing, *new]


@dataclass(kw_only=True)
class IndexState:
    docs: Annotated[Sequence[Document], reduce_docs]


@dataclass(kw_only=True)
class InputState:
    messages: Annotated[Sequence[AnyMessage], add_messages] = field(default_factory=list)


@dataclass(kw_only=True)
class State(InputState):
    queries: Annotated[list[str], add_queries] = field(default_factory=list)
    retrieved_docs: list[Document] = field(default_factory=list)
