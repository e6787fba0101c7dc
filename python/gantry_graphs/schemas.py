"""JSON schemas of a graph; None where one can't be described."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from pydantic import create_model


def schemas_of(graph: Any) -> dict[str, Any]:
    return {
        "state": _read(lambda: _state_schema(graph)),
        "input": _read(graph.get_input_jsonschema),
        "output": _read(graph.get_output_jsonschema),
        "config": _read(graph.get_context_jsonschema),
    }


# By the schema's class: describing it takes milliseconds, which each run would spend.
_context_schemas: WeakKeyDictionary[Any, dict[str, Any] | None] = WeakKeyDictionary()


def known_context(graph: Any, context: dict[str, Any]) -> dict[str, Any]:
    """The values of a run's context that the graph's schema has: a dataclass can't be made from others.

    It is all of them without a schema, and with one that allows further properties.
    """
    declared = graph.context_schema
    if declared is None:
        return context
    if declared not in _context_schemas:
        _context_schemas[declared] = _read(graph.get_context_jsonschema)
    schema = _context_schemas[declared] or {}
    if "properties" not in schema or schema.get("additionalProperties"):
        return context
    return {name: value for name, value in context.items() if name in schema["properties"]}


def _read(schema: Callable[[], Any]) -> Any:
    try:
        return schema()
    except Exception:
        # A state with a type that JSON Schema can't describe: the other schemas are still worth having.
        return None


def _state_schema(graph: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name in graph.stream_channels_list:
        channel_type = graph.channels[name].UpdateType
        try:
            create_model(name, value=(channel_type, None)).model_json_schema()
            fields[name] = (channel_type, None)
        except Exception:
            fields[name] = (Any, None)
    schema: dict[str, Any] = create_model(graph.get_name("State"), **fields).model_json_schema()
    return schema
