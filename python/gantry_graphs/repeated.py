"""The events of a repeated attempt: those that earlier attempts didn't emit, without duplicates."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from .stream import Event
from .wire import to_wire_json

_EMITTED_BY_STEP = {"values", "updates", "tasks"}


async def without_emitted(events: AsyncIterator[Event], emitted: dict[str, Any]) -> AsyncIterator[Event]:
    """The events of a repeated attempt without those that an earlier one has emitted (src/graphs/host/emitted-events.ts)."""
    facts = set(emitted["facts"])
    async for event in events:
        kind = event["event"].split("|", 1)[0]
        if kind in ("values", "messages/complete") and f"{event['event']} {event.get('fact')}" in facts:
            continue
        if kind == "updates":
            update = _without_cache_mark(event["data"])
            if update is not None:
                if update in emitted["updates"].get(event["event"], []):
                    continue
                event = {**event, "data": update}
        yield event


def _without_cache_mark(data: str) -> str | None:
    """The update without its mark, if LangGraph marks it as cached; otherwise None."""
    if '"__metadata__"' not in data:
        return None
    update = json.loads(data)
    mark = update.pop("__metadata__", None)
    return to_wire_json(update) if isinstance(mark, dict) and mark.get("cached") else None


async def missing_steps(graph: Any, request: dict[str, Any]) -> list[Event]:
    """Events that earlier attempts committed and didn't emit: the ends of finished steps, oldest first.

    The step that the run stands at is left out: LangGraph itself begins with it. So are nested graphs, and what no
    checkpoint keeps: tokens, `custom`, `events` (src/graphs/host/missing-events.ts).
    """
    asked = set(request["kwargs"]["stream_mode"])
    if not asked & _EMITTED_BY_STEP:
        return []
    facts = set(request["emitted"]["facts"])
    run_id = request["runId"]
    missing_all: list[Event] = []
    step = await graph.aget_state({"configurable": {"thread_id": request["threadId"]}})
    while step.parent_config and _is_step_of(step, run_id):
        before = await graph.aget_state(step.parent_config)
        if not _is_of(before, run_id):
            break
        events = _values_event(graph, before) if _is_step_of(before, run_id) else []
        for task in before.tasks:
            if task.error is None and not _is_hidden(graph, task.name):
                events.extend(_end_events(graph, task))
        missing = [event for event in events if f"{event['event']} {event['fact']}" not in facts]
        missing_all[:0] = [event for event in missing if event["event"] in asked]
        # Events are emitted in order: before a step that was emitted, nothing is missing.
        if len(missing) < len(events):
            break
        step = before
    return missing_all


def _is_of(snapshot: Any, run_id: str) -> bool:
    return (snapshot.metadata or {}).get("run_id") == run_id


def _is_step_of(snapshot: Any, run_id: str) -> bool:
    """Whether nodes of the run made the checkpoint; others hold its input, or an edit."""
    return _is_of(snapshot, run_id) and snapshot.metadata.get("source") == "loop"


def _is_hidden(graph: Any, node: str) -> bool:
    return "langsmith:hidden" in (getattr(graph.nodes.get(node), "tags", None) or [])


def _shown(graph: Any, values: Any) -> Any:
    channels = graph.output_channels
    if isinstance(channels, str) or not isinstance(values, dict):
        return values
    return {name: value for name, value in values.items() if name in channels}


def _values_event(graph: Any, snapshot: Any) -> list[Event]:
    fact = snapshot.config["configurable"]["checkpoint_id"]
    return [{"event": "values", "data": to_wire_json(_shown(graph, snapshot.values)), "fact": fact}]


def _end_events(graph: Any, task: Any) -> list[Event]:
    """A task of a finished step is finished, also when it wrote nothing that is shown."""
    result = getattr(task, "result", None)
    end = {
        "id": task.id,
        "name": task.name,
        "error": None,
        "result": {} if result is None else result,
        "interrupts": [],
    }
    return [
        {"event": "updates", "data": to_wire_json({task.name: _update(graph, result)}), "fact": task.id},
        {"event": "tasks", "data": to_wire_json(end), "fact": task.id},
    ]


def _update(graph: Any, result: Any) -> Any:
    """The shape that the library gives a node's update: a list where the node wrote a channel several times."""
    shown = _shown(graph, result)
    if isinstance(graph.output_channels, str) or not isinstance(shown, dict):
        return shown
    if not shown:
        return None
    if not any(_is_several(value) for value in shown.values()):
        return shown
    return [
        {channel: write}
        for channel, value in shown.items()
        for write in (value["$writes"] if _is_several(value) else [value])
    ]


def _is_several(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("$writes"), list)
