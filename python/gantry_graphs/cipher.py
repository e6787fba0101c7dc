"""Encryption of what is stored. The worker has the handlers: a graph process has neither them nor their keys."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import AsyncIterator
from contextvars import ContextVar
from typing import Any

from .requests import ParentRequests

# The encryption context of the current run or call, by which the handlers choose a key.
encryption_context: ContextVar[dict[str, Any] | None] = ContextVar("encryption_context", default=None)

# Marks of encrypted bytes and objects (src/database/at-rest.ts).
_BYTES_MARK = b"\0gantry-encrypted\x01"
_CONTEXT_MARK = "__encryption_context__"


class Cipher:
    def __init__(self, requests: ParentRequests) -> None:
        self._requests = requests

    async def seal(self, blobs: list[tuple[str, bytes]], objects: list[dict[str, Any]]) -> tuple[list[bytes], list[Any]]:
        """Encrypts values, each with its place, and objects of metadata."""
        context = encryption_context.get() or {}
        operations = [
            *(_operation("bytes", field, b64encode(blob).decode(), context) for field, blob in blobs),
            *(_operation("json", "metadata", each, context) for each in objects),
        ]
        if not operations:
            return [], []
        values = await self._requests.ask("cipher", {"seal": operations})
        return [b64decode(value) for value in values[: len(blobs)]], values[len(blobs) :]

    async def open(self, rows: list[Any]) -> None:
        """Writes the encrypted values into the rows, which are dicts of columns."""
        places: list[tuple[Any, Any, Any]] = []
        for row in rows:
            _find(row, places)
        if not places:
            return
        values = await self._requests.ask("cipher", {"open": [sealed for _, _, sealed in places]})
        for (holder, key, sealed), value in zip(places, values, strict=True):
            holder[key] = b64decode(value) if isinstance(sealed, str) else value


class OpeningCursor:
    """A cursor whose rows are decrypted."""

    def __init__(self, cursor: Any, cipher: Cipher) -> None:
        self._cursor = cursor
        self._cipher = cipher

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cursor, name)

    async def fetchone(self) -> Any:
        row = await self._cursor.fetchone()
        if row is not None:
            await self._cipher.open([row])
        return row

    async def fetchall(self) -> list[Any]:
        rows: list[Any] = await self._cursor.fetchall()
        await self._cipher.open(rows)
        return rows

    async def __aiter__(self) -> AsyncIterator[Any]:
        for row in await self.fetchall():
            yield row


def _operation(form: str, field: str, value: Any, context: dict[str, Any]) -> dict[str, Any]:
    return {"form": form, "model": "checkpoint", "field": field, "value": value, "context": context}


def _find(holder: Any, places: list[tuple[Any, Any, Any]]) -> None:
    """Columns, and the values in arrays of columns; a column of JSON is encrypted as a whole."""
    items = list(holder.items() if isinstance(holder, dict) else enumerate(holder))
    for key, value in items:
        if isinstance(value, (bytes, bytearray, memoryview)):
            if bytes(value[: len(_BYTES_MARK)]) == _BYTES_MARK:
                places.append((holder, key, b64encode(value).decode()))
        elif isinstance(value, dict):
            if _CONTEXT_MARK in value:
                places.append((holder, key, value))
        elif isinstance(value, (list, tuple)):
            inner = list(value)
            holder[key] = inner
            _find(inner, places)
