"""What the graphs can be configured with, from the `configurable` of a run."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal

from langchain_core.runnables import RunnableConfig, ensure_config
from typing_extensions import Self


@dataclass(kw_only=True)
class IndexConfiguration:
    user_id: str = field(metadata={"description": "The user whose documents are indexed and found."})
    embedding_model: Annotated[str, {"__template_metadata__": {"kind": "embeddings"}}] = field(
        default="openai/text-embedding-3-small"
    )
    retriever_provider: Annotated[Literal["local"], {"__template_metadata__": {"kind": "retriever"}}] = field(
        default="local"
    )
    search_kwargs: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_runnable_config(cls, config: RunnableConfig | None = None) -> Self:
        configurable = ensure_config(config).get("configurable") or {}
        names = {each.name for each in fields(cls) if each.init}
        return cls(**{name: value for name, value in configurable.items() if name in names})


@dataclass(kw_only=True)
class Configuration(IndexConfiguration):
    response_system_prompt: str = field(default="Answer from these documents.\n\n{retrieved_docs}\n\nIt is {system_time}.")
    response_model: Annotated[str, {"__template_metadata__": {"kind": "llm"}}] = field(default="openai/gpt-4.1-mini")
    query_system_prompt: str = field(default="Write a query. The earlier ones are:\n{queries}\n\nIt is {system_time}.")
    query_model: Annotated[str, {"__template_metadata__": {"kind": "llm"}}] = field(default="openai/gpt-4.1-mini")
