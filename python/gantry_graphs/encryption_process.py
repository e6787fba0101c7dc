"""The entry point of the encryption process: the user's encryption module runs here, beside the api or the worker.

Neither of them, and no graph process, has the keys that its handlers use.
"""

from __future__ import annotations

import asyncio
from base64 import b64decode, b64encode
from typing import Any

from .module_process import LoadedModule, run_module_process
from .modules import load_export

_WHAT_WOULD_BE_RIGHT = "an Encryption of langgraph_sdk"
# Maximum size of an encrypted value: values of checkpoints are as large as messages of graph processes.
_LIMIT = 2**28


class EncryptionModule:
    """The user's Encryption object of langgraph_sdk."""

    def __init__(self, exported: Any, where: str) -> None:
        """Raises TypeError when `exported` is no Encryption, or lacks a handler; `where` names it."""
        from langgraph_sdk import Encryption, EncryptionContext

        if not isinstance(exported, Encryption):
            raise TypeError(f"{where} is not {_WHAT_WOULD_BE_RIGHT}")
        self._handlers = {
            "encrypt-json": exported._json_encryptor,
            "decrypt-json": exported._json_decryptor,
            "encrypt-blob": exported._blob_encryptor,
            "decrypt-blob": exported._blob_decryptor,
        }
        self._context_handler = exported._context_handler
        self._context_type = EncryptionContext
        if missing := [kind for kind, handler in self._handlers.items() if handler is None]:
            names = ", ".join("@encryption.{}.{}".format(*kind.split("-")) for kind in missing)
            raise TypeError(f"{where} has no {names}: what it doesn't encrypt would be stored as it is")

    @property
    def has_context(self) -> bool:
        return self._context_handler is not None

    async def transform(self, calls: list[dict[str, Any]]) -> list[Any]:
        return await asyncio.gather(*(self._call(**call) for call in calls))

    async def context(self, user: dict[str, Any], context: dict[str, Any]) -> Any:
        from .user import User

        assert self._context_handler is not None
        asks: Any = User(user)
        return await self._context_handler(asks, self._context_type(metadata=context))

    async def _call(self, kind: str, model: str | None, field: str | None, context: dict[str, Any], data: Any) -> Any:
        handler = self._handlers[kind]
        assert handler is not None
        is_blob = kind.endswith("blob")
        given: Any = b64decode(data) if is_blob else data
        result = await handler(self._context_type(model=model, metadata=context, field=field), given)
        # A decryptor may also propose what should be stored instead. Gantry encrypts a value only when it changes.
        result = getattr(result, "plaintext", result) if kind.startswith("decrypt") else result
        expected: Any = (bytes, bytearray) if is_blob else dict
        if not isinstance(result, expected):
            raise TypeError(f"{kind} returned {type(result).__name__}, not {'bytes' if is_blob else 'a dict'}")
        return b64encode(result).decode() if is_blob else result


def _load(file: str, name: str) -> LoadedModule:
    module = EncryptionModule(load_export(file, name, _WHAT_WOULD_BE_RIGHT), f'{file}: "{name}"')

    async def answer(message: dict[str, Any]) -> Any:
        if message["type"] == "context":
            return await module.context(message["user"], message["context"])
        return await module.transform(message["calls"])

    return LoadedModule({"hasContext": module.has_context}, answer)


if __name__ == "__main__":
    run_module_process(_load, limit=_LIMIT)
