"""JSON schemas of a graph; None where one can't be described."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import create_model


def schemas_of(graph: Any) -> dict[str, Any]:
    return {
        "state": _read(lambda: _state_schema(graph)),
        "input": _read(graph.get_input_jsonschema),
        "output": _read(graph.get_output_jsonschema),
        "config": _read(graph.get_context_jsonschema),
    }


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
