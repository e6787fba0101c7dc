"""A run's events as the API names them (src/graphs/host/run-stream.ts)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import aclosing
from typing import Any

from langchain_core.messages import BaseMessage, BaseMessageChunk, message_chunk_to_message

from .left import LeftGraphs, task_of_metadata
from .metadata import IDENTIFYING, PublicMetadata
from .state import checkpoint_of, reference
from .stream_transformers import transformed
from .versions import CONTENT_BLOCKS_FLAG, message_to_events, require_event_protocol
from .wire import to_wire_json

Event = dict[str, str]
Chunk = tuple[tuple[str, ...], str, Any]

# A node's own output, before its end; everything else reports an end, which has to be committed first.
_WORK_IN_PROGRESS = {"messages", "custom", "tools"}


def library_modes(asked: list[str]) -> list[str]:
    """The modes to request from the library, so that the client's modes can be emitted."""
    # The tasks show which node the run is at.
    modes = dict.fromkeys(["tasks"])
    for mode in asked:
        if mode == "messages-tuple":
            modes["messages"] = None
        elif mode == "messages":
            modes |= dict.fromkeys(["messages", "values"])
        elif mode != "events":
            modes[mode] = None
    # They show which checkpoint the values are of.
    if "values" in modes:
        modes["checkpoints"] = None
    return list(modes)


class ChunkFacts:
    """Finds the commit that each chunk reports: the id of a task or of a checkpoint, which no chunk names itself.

    The library emits the checkpoint right after its `values`, and the task's end right after its `updates`. After the last
    `values` of a nested graph without a saver it emits no checkpoint; then the end of the task that ran the graph follows.
    """

    def __init__(self) -> None:
        # By namespace: nested graphs that run beside each other emit in between.
        self._held: dict[tuple[str, ...], Chunk] = {}

    def next(self, chunk: Chunk) -> Iterator[tuple[Chunk, str | None]]:
        """Yields the chunks that can be emitted now: none yet, this one, or also the one that was held back for it."""
        namespace, mode, data = chunk
        held = self._held.pop(namespace, None)
        if mode == "tasks" and "result" in data:
            task = (*namespace, f"{data['name']}:{data['id']}")
            for nested in [each for each in self._held if each[: len(task)] == task]:
                yield self._held.pop(nested), None
        if held:
            yield held, _fact_after(held[1], mode, data)
        if mode == "values" or (mode == "updates" and _is_computed(data)):
            self._held[namespace] = chunk
        else:
            yield chunk, data["id"] if mode == "tasks" and "result" in data else None

    def rest(self) -> Iterator[tuple[Chunk, str | None]]:
        """Yields the chunks that are still held back when the stream has ended or failed."""
        for chunk in self._held.values():
            yield chunk, None
        self._held.clear()


def _fact_after(held_mode: str, mode: str, data: Any) -> str | None:
    if held_mode == "values":
        return (checkpoint_of(data.get("config")) or {}).get("checkpoint_id") if mode == "checkpoints" else None
    return data["id"] if mode == "tasks" and "result" in data else None


def _is_computed(data: Any) -> bool:
    """Whether the end of a task follows the update: not for questions, nor for results of an earlier attempt."""
    return isinstance(data, dict) and "__interrupt__" not in data and "__metadata__" not in data


async def stream_run(
    graph: Any,
    input: Any,
    config: dict[str, Any],
    *,
    options: dict[str, Any],
    kwargs: dict[str, Any],
    metadata: PublicMetadata,
    written: Callable[[], Awaitable[None]],
    left: LeftGraphs,
    on_node: Callable[[str], None],
    transformers: Callable[[], list[Any]] | None,
) -> AsyncIterator[Event]:
    """Runs the graph and yields its events: `values`, `updates|node:task` for a nested graph's, and so on.

    `written` returns when all writes so far are committed; `left` are the nested graphs that belong to the next attempt;
    `transformers` returns the stream transformers that the graph's module has for it.
    """
    translator = _Translator(kwargs, metadata, left, on_node)
    asked = kwargs["stream_mode"]
    # Without them the library streams no token and no `custom` of a nested graph either, unlike that of JavaScript.
    subgraphs = bool(kwargs.get("stream_subgraphs"))
    options = {**options, "stream_mode": library_modes(asked), "subgraphs": subgraphs}

    def placed(chunk: Any) -> Chunk:
        # Only with nested graphs do chunks name theirs.
        return chunk if subgraphs else ((), *chunk)

    async def emitted(translated: Iterable[tuple[str, Event]]) -> list[Event]:
        # Only ends that are emitted wait for their commit: the library takes its next step, which the commit can be part
        # of, when it is asked for its next chunk.
        modes_and_events = list(translated)
        if any(mode not in _WORK_IN_PROGRESS for mode, _ in modes_and_events):
            await written()
        return [event for _, event in modes_and_events]

    try:
        if kwargs.get("event_protocol"):
            require_event_protocol()
            configurable = {**config["configurable"], CONTENT_BLOCKS_FLAG: True}
            protocol_config = {**config, "configurable": configurable}
            async with (
                aclosing(graph.astream(input, protocol_config, version="v2", **options)) as parts,
                # Only the event protocol has channels for what they emit.
                aclosing(transformed(parts, graph, transformers)) as shown_parts,
            ):
                async for part in shown_parts:
                    for event in await emitted(translator.events(_chunk_of_part(part))):
                        yield event
        elif "events" not in asked:
            # As LangGraph's own server: by default the library streams all values, those that aren't output included.
            shown = graph.output_channels
            async with aclosing(graph.astream(input, config, output_keys=shown, **options)) as chunks:
                async for chunk in chunks:
                    for event in await emitted(translator.events(placed(chunk))):
                        yield event
        else:
            async with aclosing(graph.astream_events(input, config, version="v2", **options)) as events:
                async for event in events:
                    is_root = event["event"] == "on_chain_stream" and event["run_id"] == str(config["run_id"])
                    if is_root:
                        for each in await emitted(translator.events(placed(event["data"]["chunk"]))):
                            yield each
                        continue
                    if event["event"].endswith("_end"):
                        await written()
                    hidden = "langsmith:hidden" in (event.get("tags") or [])
                    if not hidden and not left.has_in_task(task_of_metadata(event["metadata"])):
                        yield {"event": "events", "data": to_wire_json(_public_event(event, metadata))}
    except BaseException:
        # What is held back of a run that is handed back follows from the next attempt.
        if left.handed_back is None:
            for each in await emitted(translator.rest()):
                yield each
        raise
    for each in await emitted(translator.rest()):
        yield each


def _chunk_of_part(part: dict[str, Any]) -> Chunk:
    """A part of the library's second stream format, which takes the interrupts out of the values."""
    data = part["data"]
    if part.get("interrupts"):
        data = {**data, "__interrupt__": part["interrupts"]}
    return tuple(part["ns"]), part["type"], data


class _Translator:
    """Chunks of the library's stream as events of the API, each with the mode of its chunk."""

    def __init__(
        self, kwargs: dict[str, Any], metadata: PublicMetadata, left: LeftGraphs, on_node: Callable[[str], None]
    ) -> None:
        self._asked = set(kwargs["stream_mode"])
        self._is_event_protocol = bool(kwargs.get("event_protocol"))
        self._metadata = metadata
        self._left = left
        self._facts = ChunkFacts()
        self._messages = _MessageAssembler()
        self._on_node = on_node

    def events(self, chunk: Chunk) -> Iterator[tuple[str, Event]]:
        chunks = list(self._facts.next(chunk))
        if self._is_event_protocol and len(chunks) == 2 and _modes_of(chunks) == ["values", "checkpoints"]:
            # The event protocol emits a checkpoint before the state that is in it; the library emits it after.
            chunks.reverse()
        return self._with_facts(chunks)

    def rest(self) -> Iterator[tuple[str, Event]]:
        return self._with_facts(self._facts.rest())

    def _with_facts(self, chunks: Iterable[tuple[Chunk, str | None]]) -> Iterator[tuple[str, Event]]:
        for chunk, fact in chunks:
            if self._left.owns(chunk, fact):
                continue
            for event in self._translate(chunk):
                yield chunk[1], event if fact is None else {**event, "fact": fact}

    def _translate(self, chunk: Chunk) -> Iterator[Event]:
        namespace, mode, data = chunk
        is_root = not namespace
        if self._is_event_protocol and mode in ("messages", "checkpoints"):
            yield from _protocol_events(namespace, mode, data)
            return
        name = mode if is_root else f"{mode}|{'|'.join(namespace)}"
        if mode == "messages":
            yield from self._message(name, public_chunk(mode, data, self._metadata))
            return
        if mode == "tasks" and is_root and "triggers" in data:
            self._on_node(data["name"])
        if mode in self._asked:
            yield {"event": name, "data": to_wire_json(public_chunk(mode, data, self._metadata))}
        if mode == "values" and is_root and "messages" in self._asked:
            yield from self._messages.state(data)

    def _message(self, name: str, data: Any) -> Iterator[Event]:
        message, metadata = data
        if "messages-tuple" in self._asked:
            yield {"event": name, "data": to_wire_json(data)}
        if "messages" in self._asked and isinstance(message, BaseMessage):
            yield from self._messages.message(message, metadata)


class _MessageAssembler:
    """Builds whole messages from streamed pieces: `messages/partial` carries all of the text so far."""

    def __init__(self) -> None:
        self._announced: set[str] = set()
        self._partial: dict[str, BaseMessageChunk] = {}
        self._complete: set[str] = set()

    def message(self, message: BaseMessage, metadata: Any) -> Iterator[Event]:
        """Events of a piece, or of a message that a node emits or returns whole: that one is complete with the state."""
        if not message.id:
            return
        if message.id not in self._announced:
            self._announced.add(message.id)
            yield {"event": "messages/metadata", "data": to_wire_json({message.id: {"metadata": metadata}})}
        if not isinstance(message, BaseMessageChunk):
            return
        before = self._partial.get(message.id)
        whole: Any = message if before is None else before + message
        self._partial[message.id] = whole
        yield {"event": "messages/partial", "data": to_wire_json([message_chunk_to_message(whole)])}

    def state(self, values: Any) -> Iterator[Event]:
        listed = values.get("messages") if isinstance(values, dict) else None
        messages = listed if isinstance(listed, list) else [listed]
        fresh = [each for each in messages if isinstance(each, BaseMessage) and each.id and each.id not in self._complete]
        if not fresh:
            return
        self._complete.update(str(each.id) for each in fresh)
        yield {"event": "messages/complete", "data": to_wire_json(fresh)}


def _modes_of(chunks: list[tuple[Chunk, str | None]]) -> list[str]:
    return [chunk[1] for chunk, _ in chunks]


def _protocol_events(namespace: tuple[str, ...], mode: str, data: Any) -> Iterator[Event]:
    """Tokens as content blocks, and checkpoints without the state in them (src/graphs/host/run-stream.ts)."""
    if mode == "checkpoints":
        yield {"event": "|".join(["checkpoints", *namespace]), "data": to_wire_json(_in_short(data))}
        return
    message, metadata = data
    # A message that a node returned whole comes as the message itself.
    blocks = message_to_events(message) if isinstance(message, BaseMessage) else [message]
    place = {name: metadata[name] for name in ("run_id",) if name in metadata}
    node = {"node": metadata["langgraph_node"]} if "langgraph_node" in metadata else {}
    for block in blocks:
        yield {
            "event": "|".join(["content-blocks", *namespace]),
            "data": to_wire_json({**node, "data": {**block, **place}}),
        }


def _in_short(payload: dict[str, Any]) -> dict[str, Any]:
    """The data needed to go back to a checkpoint, without its state."""
    metadata = payload.get("metadata") or {}
    parent = checkpoint_of(payload.get("parent_config"))
    return {
        "id": (checkpoint_of(payload.get("config")) or {}).get("checkpoint_id"),
        **({"parent_id": parent["checkpoint_id"]} if parent else {}),
        "step": metadata.get("step"),
        "source": metadata.get("source"),
    }


def public_chunk(mode: str, data: Any, metadata: PublicMetadata) -> Any:
    """A chunk of the library's stream in a mode, as clients may see it."""
    if mode == "messages" and isinstance(data, tuple) and isinstance(data[-1], dict):
        return (*data[:-1], metadata.of(data[-1]))
    if not isinstance(data, dict):
        # A node's own chunk that looks like one of the library's.
        return data
    if mode == "checkpoints":
        return _public_checkpoint(data)
    if mode == "debug" and data.get("type") == "checkpoint":
        return {**data, "payload": _public_checkpoint(data["payload"])}
    return data


def _public_event(event: dict[str, Any], metadata: PublicMetadata) -> dict[str, Any]:
    """An event of the mode `events`: those of a graph carry the chunks that it streams in all other modes."""
    event = {**event, "metadata": metadata.of(event["metadata"])}
    chunk = event["data"].get("chunk")
    if not isinstance(chunk, tuple) or len(chunk) not in (2, 3) or not isinstance(chunk[-2], str):
        return event
    shown = (*chunk[:-1], public_chunk(chunk[-2], chunk[-1], metadata))
    return {**event, "data": {**event["data"], "chunk": shown}}


def _public_config(config: Any) -> Any:
    configurable = (config or {}).get("configurable")
    if not isinstance(configurable, dict):
        return config
    shown = {key: configurable[key] for key in IDENTIFYING if configurable.get(key) is not None}
    rest = {key: value for key, value in config.items() if key != "callbacks"}
    return {**rest, "configurable": shown}


def _public_checkpoint(payload: dict[str, Any]) -> dict[str, Any]:
    """A checkpoint as the modes `checkpoints` and `debug` emit it."""
    config, parent = payload.get("config"), payload.get("parent_config")
    return {
        **payload,
        "config": _public_config(config),
        "parent_config": _public_config(parent),
        "checkpoint": checkpoint_of(config),
        "parent_checkpoint": checkpoint_of(parent),
        "tasks": [_public_task(task) for task in payload.get("tasks") or []],
    }


def _public_task(task: dict[str, Any]) -> dict[str, Any]:
    """A task of a checkpoint: for one that runs a nested graph, `checkpoint` refers to that graph's state."""
    if not task.get("state"):
        return task
    rest = {key: value for key, value in task.items() if key != "state"}
    configurable = task["state"].get("configurable") or {}
    return {**rest, "checkpoint": reference(configurable) if configurable.get("thread_id") else None}
