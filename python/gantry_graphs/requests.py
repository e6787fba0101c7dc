"""Questions to the parent that wait for their answers."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

from .channel import ParentChannel


class ParentRequests:
    def __init__(self, channel: ParentChannel) -> None:
        self._channel = channel
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._ids = itertools.count(1)

    async def ask(self, kind: str, question: dict[str, Any]) -> Any:
        request = next(self._ids)
        answer = self._waiting[request] = asyncio.get_running_loop().create_future()
        try:
            self._channel.send({"type": kind, "request": request, **question})
            return await answer
        finally:
            del self._waiting[request]

    def answered(self, message: dict[str, Any]) -> None:
        answer = self._waiting.get(message["request"])
        if answer is None or answer.done():
            return
        if "error" in message:
            answer.set_exception(RuntimeError(message["error"]))
        else:
            answer.set_result(message.get("value", message.get("values")))
