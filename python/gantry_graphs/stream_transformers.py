"""A graph's own stream transformers, for one run (src/graphs/host/stream-transformers.ts).

They are given to `compile(transformers=…)`, or returned by a function `stream_transformers` of the graph's module. The
library runs them in `astream_events` of version v3, whose events don't say which checkpoint they belong to; here they see
the same events, part by part.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Any

from .versions import StreamMux, StreamTransformer

Part = dict[str, Any]

# How the library's event stream names what a transformer emits on a channel of its own.
_EXTENSION = "custom:"
# The modes that are events of the protocol; others pass by the transformers.
_TRANSFORMED = {"values", "updates", "messages", "tools", "custom", "tasks"}


async def transformed(
    parts: AsyncIterator[Part], graph: Any, exported: Callable[[], list[Any]] | None
) -> AsyncGenerator[Part]:
    """Yields the parts of a run's stream for clients: those of the transformers, and the graph's own unless one drops it.

    `exported` is the function of the graph's module that returns more of them. Raises the errors of transformers.
    """
    transformers = None if StreamMux is None else _Transformers.of(graph, exported)
    if transformers is None:
        async for part in parts:
            yield part
        return
    try:
        async for part in parts:
            for each in await transformers.apply(part):
                yield each
        for each in await transformers.end():
            yield each
    except BaseException as error:
        await transformers.fail(error)
        raise


class _Transformers:
    def __init__(self, transformers: list[Any]) -> None:
        self._mux = StreamMux(transformers, is_async=True)
        self._events: list[Any] = []
        self._mux._events._wire(self._events.append)

    @classmethod
    def of(cls, graph: Any, exported: Callable[[], list[Any]] | None) -> _Transformers | None:
        """None where no transformer has anything for clients: native ones serve callers in the same process."""
        given = [*getattr(graph, "stream_transformers", ()), *(exported() if exported else ())]
        # A factory makes one for a namespace: here they see the whole run.
        made = [each if isinstance(each, StreamTransformer) else each(()) for each in given]
        return None if all(getattr(each, "_native", False) for each in made) else cls(made)

    async def apply(self, part: Part) -> list[Part]:
        if part["type"] not in _TRANSFORMED:
            return [part]
        params: Any = {"namespace": list(part["ns"]), "timestamp": int(time.time() * 1000), "data": part["data"]}
        if "interrupts" in part:
            params["interrupts"] = part["interrupts"]
        await self._mux.apush({"type": "event", "method": part["type"], "params": params})
        return self._take(part)

    async def end(self) -> list[Part]:
        """What the transformers emit at the end of the run."""
        await self._mux.aclose()
        return self._take(None)

    async def fail(self, error: BaseException) -> None:
        await self._mux.afail(error)

    def _take(self, part: Part | None) -> list[Part]:
        taken = []
        for event in self._events:
            method, params = event["method"], event["params"]
            if method.startswith(_EXTENSION):
                data = {"name": method.removeprefix(_EXTENSION), "payload": params["data"]}
                taken.append({"type": "custom", "ns": params["namespace"], "data": data})
            elif part and method == part["type"]:
                # A transformer may have changed the data, to remove what is not for clients.
                taken.append({**part, "data": params["data"]})
        self._events.clear()
        return taken
