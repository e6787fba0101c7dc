"""A graph that indexes documents: the ingestion of an application in the layout of the template `retrieval-agent`."""

from typing import Optional

from langchain_core.documents import Document
from langchain_core.runnables import RunnableConfig
from langgraph.graph import StateGraph

from retrieval_graph import retrieval
from retrieval_graph.configuration import IndexConfiguration
from retrieval_graph.state import IndexState


def ensure_docs_have_user_id(docs: list[Document], config: RunnableConfig) -> list[Document]:
    user_id = config["configurable"]["user_id"]
    return [Document(page_content=doc.page_content, metadata={**doc.metadata, "user_id": user_id}) for doc in docs]


async def index_docs(state: IndexState, *, config: Optional[RunnableConfig] = None) -> dict[str, str]:  # noqa: UP045
    if not config:
        raise ValueError("Configuration required to run index_docs.")
    with retrieval.make_retriever(config) as retriever:
        await retriever.aadd_documents(ensure_docs_have_user_id(list(state.docs), config))
    return {"docs": "delete"}


# `config_schema` is the template's word, from before LangGraph called it `context_schema`.
builder = StateGraph(IndexState, config_schema=IndexConfiguration)
builder.add_node(index_docs)
builder.add_edge("__start__", "index_docs")
graph = builder.compile()
graph.name = "IndexGraph"
