"""The embedding function that `store.index.embed` names."""

from __future__ import annotations

import math
from typing import Any

from langchain_core.embeddings import Embeddings
from langgraph.store.base.embed import ensure_embeddings

from .modules import load_export

_WHAT_WOULD_BE_RIGHT = "a function of texts, plain or async, or an Embeddings object"


class EmbeddingFunction:
    def __init__(self, embeddings: Embeddings, dims: int) -> None:
        self._embeddings = embeddings
        self._dims = dims

    @classmethod
    def load(cls, index: dict[str, Any]) -> EmbeddingFunction:
        """Raises ValueError, naming the setting: an index that can't work is reported at the start."""
        file, name = index["embed"]["file"], index["embed"]["exportName"]
        try:
            value = load_export(file, name, _WHAT_WOULD_BE_RIGHT)
            if not callable(value) and not isinstance(value, Embeddings):
                kind = type(value).__name__
                raise TypeError(f'{file}: "{name}" is a value of the type {kind}; it has to be {_WHAT_WOULD_BE_RIGHT}')
            return cls(ensure_embeddings(value), index["dims"])
        except Exception as error:
            raise ValueError(f"store.index.embed: {error}") from error

    async def embed(self, kind: str, texts: list[str]) -> list[list[float]]:
        """One vector for each text. Raises what the function raises, or an error that says how its answer is wrong."""
        if kind == "document":
            vectors: Any = await self._embeddings.aembed_documents(texts)
        else:
            vectors = [await self._embeddings.aembed_query(text) for text in texts]
        if not hasattr(vectors, "__len__") or len(vectors) != len(texts):
            raise ValueError(f"it was given {len(texts)} texts and did not answer with as many vectors")
        return [self._checked(vector) for vector in vectors]

    def _checked(self, vector: Any) -> list[float]:
        numbers = [float(number) for number in vector]
        if len(numbers) != self._dims:
            raise ValueError(f"it answered with a vector of {len(numbers)} numbers, while store.index.dims is {self._dims}")
        if not all(map(math.isfinite, numbers)):
            raise ValueError("it answered with a vector that has no number in a place")
        return numbers
