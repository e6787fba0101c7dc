"""States of a thread as the API shows them (src/graphs/host/thread-state.ts)."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from langgraph.types import StateSnapshot

from .wire import interrupt_form, to_wire_json


def reference(configurable: dict[str, Any]) -> dict[str, Any]:
    """A checkpoint by its name, as the API shows it and takes it back."""
    return {
        "thread_id": configurable.get("thread_id"),
        "checkpoint_id": configurable.get("checkpoint_id"),
        "checkpoint_ns": configurable.get("checkpoint_ns") or "",
        "checkpoint_map": configurable.get("checkpoint_map"),
    }


def checkpoint_of(config: Any) -> dict[str, Any] | None:
    """The checkpoint that a config of the library names; None when it names none."""
    configurable = (config or {}).get("configurable") or {}
    return reference(configurable) if configurable.get("checkpoint_id") else None


def _asking_tasks(snapshot: StateSnapshot, ended: Container[str]) -> list[Any]:
    """The tasks that wait for an answer.

    The library lists the questions of parallel tasks until the last of them is answered. The results of those that are don't
    distinguish them: that of a task that changes no state is empty, as that of one that asks a second time.
    `ended` are the tasks that have ended, as the saver that the snapshot was read with knows them.
    """
    return [task for task in snapshot.tasks if task.interrupts and task.id not in ended]


def interrupts_by_task(snapshot: StateSnapshot, ended: Container[str]) -> dict[str, list[dict[str, Any]]]:
    """The interrupts that a thread waits at: task id → what each asks."""
    return {task.id: [interrupt_form(each) for each in task.interrupts] for task in _asking_tasks(snapshot, ended)}


def waiting_nodes(snapshot: StateSnapshot, ended: Container[str]) -> list[str]:
    """The nodes that a thread waits at. The library doesn't name in `next` a node that asks a second time."""
    asking = [task.name for task in _asking_tasks(snapshot, ended)]
    return list(dict.fromkeys([*snapshot.next, *asking]))


def final_state(snapshot: StateSnapshot, ended: Container[str]) -> dict[str, Any]:
    """The part of a state that the thread's row keeps (FinalState of the protocol)."""
    return {
        "values": to_wire_json(snapshot.values),
        "next": waiting_nodes(snapshot, ended),
        "interrupts": to_wire_json(interrupts_by_task(snapshot, ended)),
    }


def output_of(graph: Any, snapshot: StateSnapshot) -> dict[str, list[str]]:
    """The entry of a final state that names the graph's output; without it, all values are the output.

    A graph has an output schema, or an agent's middleware has state of its own, which callers don't see.
    """
    shown = graph.output_channels
    if isinstance(shown, str) or not isinstance(snapshot.values, dict) or set(snapshot.values) <= set(shown):
        return {}
    return {"output": list(shown)}


def _questions(snapshot: StateSnapshot, ended: Container[str]) -> list[Any]:
    """The questions of a state: those that are open, or in the history, once the whole step has ended, those it asked."""
    is_over = all(task.id in ended for task in snapshot.tasks)
    asking = snapshot.tasks if is_over else _asking_tasks(snapshot, ended)
    return [interrupt_form(each) for task in asking for each in task.interrupts]


def thread_state(snapshot: StateSnapshot, ended: Container[str]) -> dict[str, Any]:
    """A state as the API shows it."""
    checkpoint = checkpoint_of(snapshot.config)
    parent = checkpoint_of(snapshot.parent_config)
    return {
        "values": {} if snapshot.values is None else snapshot.values,
        "next": list(snapshot.next),
        "tasks": [_task(task, ended) for task in snapshot.tasks],
        "metadata": snapshot.metadata or {},
        "created_at": snapshot.created_at,
        "checkpoint": checkpoint,
        "parent_checkpoint": parent,
        "interrupts": _questions(snapshot, ended),
        "checkpoint_id": checkpoint and checkpoint["checkpoint_id"],
        "parent_checkpoint_id": parent and parent["checkpoint_id"],
    }


def _task(task: Any, ended: Container[str]) -> dict[str, Any]:
    # A nested graph is a pointer to its own state, or that state when it was asked for.
    nested = task.state if isinstance(task.state, StateSnapshot) else None
    pointer = task.state if isinstance(task.state, dict) else None
    return {
        "id": task.id,
        "name": task.name,
        "path": task.path,
        "error": None if task.error is None else str(task.error),
        "interrupts": [interrupt_form(each) for each in task.interrupts],
        "checkpoint": pointer and pointer.get("configurable"),
        "state": nested and thread_state(nested, ended),
        "result": getattr(task, "result", None),
    }


_VALUE = "values."


def select_fields(state: dict[str, Any], select: list[str] | None) -> dict[str, Any]:
    """A state with the fields that a selection names, `values.<key>` among them: all where there is none."""
    if select is None:
        return state
    keys = [field.removeprefix(_VALUE) for field in select if field.startswith(_VALUE)]
    fields = {field: value for field, value in state.items() if field in select}
    if "values" in select or not keys:
        return fields
    values = state["values"] if isinstance(state["values"], dict) else {}
    return {"values": {key: value for key, value in values.items() if key in keys}, **fields}
