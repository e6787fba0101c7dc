"""The retriever of a run: documents of one user, in a vector store that is chosen by the configuration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.runnables import RunnableConfig
from langchain_core.vectorstores import VectorStore, VectorStoreRetriever
from langchain_openai import OpenAIEmbeddings

from retrieval_graph.configuration import IndexConfiguration

# What has been indexed. The template has servers for that, which keep it beyond the life of the process.
_indexed: list[tuple[list[float], Document]] = []


class LocalVectorStore(VectorStore):
    def __init__(self, embedding: Embeddings) -> None:
        self._embedding = embedding

    def add_texts(self, texts: Iterable[str], metadatas: list[dict] | None = None, **kwargs: Any) -> list[str]:
        documents = [
            Document(page_content=text, metadata=metadata) for text, metadata in zip(texts, metadatas or [], strict=True)
        ]
        vectors = self._embedding.embed_documents([document.page_content for document in documents])
        _indexed.extend(zip(vectors, documents, strict=True))
        return [str(len(_indexed) - len(documents) + index) for index in range(len(documents))]

    def similarity_search(
        self, query: str, k: int = 4, filter: dict[str, Any] | None = None, **kwargs: Any
    ) -> list[Document]:
        wanted = (filter or {}).items()
        asked = self._embedding.embed_query(query)
        scored = [
            (sum(left * right for left, right in zip(asked, vector, strict=True)), document)
            for vector, document in _indexed
            if wanted <= document.metadata.items()
        ]
        return [document for _, document in sorted(scored, key=lambda pair: pair[0], reverse=True)[:k]]

    @classmethod
    def from_texts(cls, texts: list[str], embedding: Embeddings, metadatas: Any = None, **kwargs: Any) -> LocalVectorStore:
        store = cls(embedding)
        store.add_texts(texts, metadatas)
        return store


def make_text_encoder(model: str) -> Embeddings:
    provider, name = model.split("/", maxsplit=1)
    assert provider == "openai"
    # Without counting tokens, for which the library would download a vocabulary.
    return OpenAIEmbeddings(model=name, check_embedding_ctx_length=False)


@contextmanager
def make_local_retriever(configuration: IndexConfiguration, embedding: Embeddings) -> Iterator[VectorStoreRetriever]:
    search_kwargs = {**configuration.search_kwargs, "filter": {"user_id": configuration.user_id}}
    yield LocalVectorStore(embedding).as_retriever(search_kwargs=search_kwargs)


@contextmanager
def make_retriever(config: RunnableConfig) -> Iterator[VectorStoreRetriever]:
    configuration = IndexConfiguration.from_runnable_config(config)
    if not configuration.user_id:
        raise ValueError("Please provide a user_id in the configuration.")
    embedding = make_text_encoder(configuration.embedding_model)
    match configuration.retriever_provider:
        case "local":
            with make_local_retriever(configuration, embedding) as retriever:
                yield retriever
        case other:
            raise ValueError(f"Unknown retriever_provider: {other}")
