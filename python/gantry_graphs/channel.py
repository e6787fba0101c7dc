"""Messages with the process that started this one: framed JSON over a socket (src/graphs/host/message-channel.ts)."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import struct
import threading
from collections.abc import AsyncIterator
from typing import Any

import orjson

# Descriptors that src/graphs/host/parent-channel.ts names.
MESSAGES = 3
LIFELINE = 4

_HEADER = struct.Struct(">II")
_MARK = 0x474E5452
_HALF_OF_PAIR = re.compile("[\ud800-\udfff]")
# Maximum number of characters of a text about an error.
_MAX_TEXT = 100_000


def sendable(text: str) -> str:
    """A text about an error of user code, as messages hold it: of limited length, without halves of surrogate pairs."""
    return _HALF_OF_PAIR.sub("\ufffd", text[:_MAX_TEXT])


def end_with_parent() -> None:
    """Ends this process when its parent ends, whatever its code is busy with."""
    _leave_signals_to_parent()

    def watch() -> None:
        while os.read(LIFELINE, 1):
            pass
        end_at_once()

    threading.Thread(target=watch, name="lifeline", daemon=True).start()


def end_at_once() -> None:
    """Ends this process, and the programs that its code has started where it leads a group with them.

    Its parent ends the group as well (src/graphs/host/user-code-process.ts), unless it was killed.
    """
    pid = os.getpid()
    if os.getpgrp() == pid:
        os.killpg(pid, signal.SIGKILL)
    os.kill(pid, signal.SIGKILL)


def _leave_signals_to_parent() -> None:
    """The parent handles a signal to the whole group: it hands the runs back before it ends.

    Signals get a handler instead of being ignored, which programs that user code starts would inherit. A process that it
    forks has the handlers that were there before; a signal that arrives earlier waits for them.
    """
    former = {name: signal.signal(name, lambda *_: None) for name in (signal.SIGINT, signal.SIGTERM)}

    def hold() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, former)

    def release() -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, former)

    def restore() -> None:
        for name, handler in former.items():
            signal.signal(name, handler)
        release()

    os.register_at_fork(before=hold, after_in_parent=release, after_in_child=restore)


class MessageTooLarge(Exception):
    """A value that the parent would not read."""

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(
            f"A value that the graph emits or returns, or its state, takes {size} bytes beside its names: "
            f"at most {limit} are sent (GANTRY_GRAPH_VALUE_LIMIT_BYTES)"
        )


class ParentChannel:
    """The connection with the parent. `send` may be called from any thread, and raises MessageTooLarge."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        # Maximum bytes of a message that the parent reads; its first message sets it.
        self.limit = 2**20

    @classmethod
    async def connect(cls) -> ParentChannel:
        reader, writer = await asyncio.open_connection(sock=socket.socket(fileno=MESSAGES), limit=2**20)
        return cls(reader, writer)

    def send(self, message: dict[str, Any]) -> None:
        body = orjson.dumps(message)
        if len(body) > self.limit:
            raise MessageTooLarge(len(body), self.limit)
        if threading.get_ident() == self._thread:
            self._write(body)
        else:
            self._loop.call_soon_threadsafe(self._write, body)

    async def messages(self) -> AsyncIterator[dict[str, Any]]:
        """Yields the messages of the parent until it closes the connection."""
        while True:
            try:
                mark, length = _HEADER.unpack(await self._reader.readexactly(_HEADER.size))
                if mark != _MARK:
                    raise ValueError("bytes that no message begins with")
                yield orjson.loads(await self._reader.readexactly(length))
            except asyncio.IncompleteReadError:
                return

    def _write(self, body: bytes) -> None:
        self._writer.write(_HEADER.pack(_MARK, len(body)) + body)
