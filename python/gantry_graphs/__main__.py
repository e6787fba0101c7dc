"""The entry point of a graph process: user code runs here and nowhere else.

A node that blocks the event loop, takes all memory or ends the process does it to the runs of this process alone.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import os
import sys
import time
import traceback
from contextlib import suppress
from typing import Any

from .channel import MessageTooLarge, ParentChannel, end_with_parent, sendable
from .failures import FAILURES
from .loops import run_to_end
from .thrown import message_of

_PULSE_SECONDS = 0.1
# Pulses of a busy process in the time of one of an idle process, whose pulses are most of what it costs.
_PULSES_OF_IDLE = 5
# Events that may be in flight to the log before the run waits: a slow database slows the run, not the memory.
_WINDOW = 2_000
# Maximum number of characters of events in one message: the reader holds a whole message in memory.
_BATCH_CHARACTERS = 128 * 1024


class Execution:
    """One attempt of a run in this process."""

    def __init__(self, channel: ParentChannel, id: int, request: dict[str, Any]) -> None:
        self.request = request
        self.is_handing_back = False
        self.cancelled = False
        self._task: asyncio.Task[None] | None = None
        self._has_reported = False
        self._id = id
        self._channel = channel
        self._batch: list[Any] = []
        self._characters = 0
        self._unacknowledged = 0
        self._room = asyncio.Event()
        self._room.set()

    async def run(self, context: Any) -> None:
        # Known from the first step on: a task that is cancelled earlier never takes one, and would report no outcome.
        self._task = asyncio.current_task()
        from .cipher import encryption_context
        from .run import RunControl, run_graph
        from .sdk_client import credentials

        encryption_context.set(self.request["kwargs"].get("encryption_context"))
        if "callToken" in self.request:
            tenant = self.request["tenantId"]
            credentials.set({"x-api-key": self.request["callToken"], "x-tenant-id": tenant})
        control = RunControl(
            on_node=lambda node: self._channel.send({"type": "node", "id": self._id, "node": node}),
            is_handing_back=lambda: self.is_handing_back,
            is_cancelled=lambda: self.cancelled,
            room=self._room.wait,
        )
        events = run_graph(context, self.request, self._id, control)
        try:
            async for event in events:
                self._push(event)
            self._flush()
            self._report_outcome(control.outcome)
        except MessageTooLarge as error:
            # Another attempt would produce the same value. Neither a cancellation meanwhile nor the graph's own clean-up may
            # keep this from being reported.
            with suppress(BaseException):
                await events.aclose()
            failure = {"error": type(error).__name__, "message": str(error)}
            self._report("outcome", outcome={"status": "error", "error": failure})
        except BaseException as error:
            self._flush()
            self._report("broken", message=message_of(error))

    def settle(self, task: asyncio.Task[None]) -> None:
        """Reports a run whose task has ended without a report: its caller would wait for ever."""
        if not self._has_reported:
            error = None if task.cancelled() else task.exception()
            self._report("broken", message=sendable(f"The run ended without an outcome: {error!r}"))

    def cancel(self) -> None:
        """Ends the run. One that hasn't begun looks at `cancelled` before it starts a node."""
        self.cancelled = True
        if self._task:
            self._task.cancel()

    def acknowledge(self, count: int) -> None:
        self._unacknowledged -= count
        if self._unacknowledged < _WINDOW:
            self._room.set()

    def _report_outcome(self, outcome: dict[str, Any]) -> None:
        """One that can't be sent for its content is an error of the run: another attempt would have the same content."""
        try:
            self._report("outcome", outcome=outcome)
        except Exception as error:
            failure = {"error": type(error).__name__, "message": message_of(error)}
            self._report("outcome", outcome={"status": "error", "error": failure})

    def _report(self, kind: str, **fields: Any) -> None:
        self._channel.send({"type": kind, "id": self._id, **fields})
        self._has_reported = True

    def _push(self, event: Any) -> None:
        """Collects the events of one turn of the event loop into one message."""
        length = len(event["data"])
        if self._characters + length > _BATCH_CHARACTERS:
            self._flush()
        if not self._batch and length <= _BATCH_CHARACTERS:
            asyncio.get_running_loop().call_soon(self._flush)
        self._batch.append(event)
        self._characters += length
        self._unacknowledged += 1
        if length > _BATCH_CHARACTERS:
            self._flush()
        if self._unacknowledged >= _WINDOW:
            self._room.clear()

    def _flush(self) -> None:
        if self._batch:
            events, self._batch, self._characters = self._batch, [], 0
            self._channel.send({"type": "events", "id": self._id, "events": events})


class GraphProcess:
    """Handles the messages of the parent."""

    def __init__(self, channel: ParentChannel, context: Any, calls: Any, requests: Any) -> None:
        self._channel = channel
        self._context = context
        self._calls = calls
        self._requests = requests
        self._executions: dict[int, Execution] = {}
        self._asked: set[asyncio.Task[None]] = set()

    @property
    def is_idle(self) -> bool:
        return not self._executions and not self._asked

    def take(self, message: dict[str, Any]) -> None:
        kind, id = message["type"], message.get("id", 0)
        execution = self._executions.get(id)
        if kind == "offer":
            # It begins when the parent grants it: by then it may have gone elsewhere.
            self._executions[id] = Execution(self._channel, id, message["request"])
            self._channel.send({"type": "accept", "id": id})
        elif kind == "call":
            task = asyncio.create_task(self._call(id, message["name"], message["args"]))
            self._asked.add(task)
            task.add_done_callback(self._asked.discard)
        elif kind in ("store-result", "cipher-result"):
            self._requests.answered(message)
        elif execution is None:
            return
        elif kind == "begin":
            begun = asyncio.create_task(execution.run(self._context))
            begun.add_done_callback(execution.settle)
            begun.add_done_callback(lambda _: self._executions.pop(id, None))
        elif kind == "withdraw":
            del self._executions[id]
        elif kind == "abort":
            execution.cancel()
        elif kind == "hand-back":
            execution.is_handing_back = True
        elif kind == "ack":
            execution.acknowledge(message["count"])

    async def _call(self, id: int, name: str, args: dict[str, Any]) -> None:
        from .cipher import encryption_context

        encryption_context.set(args.get("encryptionContext"))
        try:
            self._channel.send({"type": "result", "id": id, "value": await self._calls.handle(name, args)})
        except FAILURES as error:
            refusal = {"message": message_of(error), "errorName": sendable(type(error).__name__)}
            self._channel.send({"type": "refused", "id": id, **refusal})


async def serve() -> None:
    channel = await ParentChannel.connect()
    messages = channel.messages()
    data = await anext(messages)
    channel.limit = data["messageLimitBytes"]
    loop = asyncio.get_running_loop()

    def report_stray(_: Any, context: dict[str, Any]) -> None:
        error = context.get("exception")
        text = "".join(traceback.format_exception(error)) if error else str(context.get("message"))
        channel.send({"type": "stray", "message": sendable(text)})

    loop.set_exception_handler(report_stray)
    # What is imported stays. The collector would look through all of it again and again, for a fifth of the time of a start.
    gc.disable()
    try:
        process = await _load(channel, data)
    except ImportError:
        # A library is missing: no later attempt finds it, unlike a database that doesn't answer.
        raise
    except Exception as error:
        channel.send({"type": "unusable", "message": sendable(f"{type(error).__name__}: {error}")})
        return
    gc.freeze()
    gc.enable()
    pulse = asyncio.create_task(_pulse(channel, process))
    async for message in messages:
        process.take(message)
    pulse.cancel()


async def _load(channel: ParentChannel, data: dict[str, Any]) -> GraphProcess:
    from .calls import GraphCalls
    from .cipher import Cipher
    from .connections import TenantConnections
    from .embeddings import EmbeddingFunction
    from .loader import GraphLoader
    from .memory import granted_memory, limit_memory
    from .requests import ParentRequests
    from .run import RunContext
    from .sdk_client import register
    from .threads import ProcessThreads, own_threads
    from .tracer import RunTracer

    if "apiUrl" in data:
        register(data["apiUrl"])
    graphs = GraphLoader(data["graphs"])
    graphs.load()
    index = data["store"].get("index")
    embeddings = EmbeddingFunction.load(index) if index and index["embed"].get("language") == "python" else None
    requests = ParentRequests(channel)
    cipher = Cipher(requests) if data.get("isEncrypted") else None
    connections = TenantConnections(data["databaseUrl"], data["databasePool"], cipher)
    # The tasks that connect resolve the names of hosts in threads.
    with own_threads():
        await connections.open()
    tracing = data.get("tracing")
    context = RunContext(
        graphs=graphs,
        connections=connections,
        requests=requests,
        recursion_limit=data["recursionLimit"],
        tracer=RunTracer(tracing["apiUrl"]) if tracing else None,
    )
    calls = GraphCalls(graphs, connections, requests, embeddings)
    granted = granted_memory(sys.argv[1:])
    threads = ProcessThreads()
    asyncio.get_running_loop().set_default_executor(threads)
    if granted is not None:
        # Before the limit applies, so that the stacks of threads take nothing of what nodes may allocate.
        threads.start_all()
    # Libraries and graphs are loaded: the rest is for runs.
    limit_memory(granted)
    problems = {graph_id: sendable(why) for graph_id, why in graphs.problems.items()}
    channel.send({"type": "ready", "problems": problems, "factories": graphs.factories})
    return GraphProcess(channel, context, calls, requests)


async def _pulse(channel: ParentChannel, process: GraphProcess) -> None:
    from .memory import resident_mb

    last, busy = time.monotonic(), time.thread_time()
    for count in itertools.count():
        if not process.is_idle or count % _PULSES_OF_IDLE == 0:
            now, busy_now = time.monotonic(), time.thread_time()
            # The event loop of Python doesn't measure how long it waits.
            share = (busy_now - busy) / max(now - last, _PULSE_SECONDS)
            last, busy = now, busy_now
            channel.send({"type": "pulse", "residentMb": resident_mb(), "busyShare": share})
        await asyncio.sleep(_PULSE_SECONDS)


if __name__ == "__main__":
    end_with_parent()
    run_to_end(serve())
    # Threads of nodes that are still running must not keep the process alive.
    os._exit(0)
