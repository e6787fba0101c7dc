"""The entry point of the encryption process: the user's encryption module runs here, beside the api or the worker.

Neither of them, and no graph process, has the keys that its handlers use.
"""

from __future__ import annotations

import asyncio
import os
import traceback
from base64 import b64decode, b64encode
from typing import Any

from .channel import ParentChannel, end_with_parent
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
        # A decryptor may say what should be stored in place of what was: it is written with the next change of the value.
        result = getattr(result, "plaintext", result) if kind.startswith("decrypt") else result
        expected: Any = (bytes, bytearray) if is_blob else dict
        if not isinstance(result, expected):
            raise TypeError(f"{kind} returned {type(result).__name__}, not {'bytes' if is_blob else 'a dict'}")
        return b64encode(result).decode() if is_blob else result


async def serve() -> None:
    channel = await ParentChannel.connect()
    channel.limit = _LIMIT
    messages = channel.messages()
    data = await anext(messages)
    file, name = data["file"], data["exportName"]
    try:
        module = EncryptionModule(load_export(file, name, _WHAT_WOULD_BE_RIGHT), f'{file}: "{name}"')
    except Exception as error:
        channel.send({"type": "unusable", "message": str(error)})
        return
    channel.send({"type": "ready", "hasContext": module.has_context})
    running: set[asyncio.Task[None]] = set()
    async for message in messages:
        task = asyncio.create_task(_answer(channel, module, message))
        running.add(task)
        task.add_done_callback(running.discard)


async def _answer(channel: ParentChannel, module: EncryptionModule, message: dict[str, Any]) -> None:
    id = message["id"]
    try:
        if message["type"] == "context":
            result = await module.context(message["user"], message["context"])
        else:
            result = await module.transform(message["calls"])
        channel.send({"type": "done", "id": id, "result": result})
    except Exception as error:
        channel.send({"type": "failed", "id": id, "message": "".join(traceback.format_exception(error))})


if __name__ == "__main__":
    end_with_parent()
    asyncio.run(serve())
    # Threads of handlers that are still running must not keep the process alive.
    os._exit(0)
