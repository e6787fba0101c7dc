"""JSON as LangGraph clients read it."""

from __future__ import annotations

import dataclasses
import re
from base64 import b64encode
from collections import deque
from collections.abc import Mapping
from datetime import timedelta, tzinfo
from decimal import Decimal
from enum import Enum
from typing import Any

import orjson
from langgraph.types import Interrupt, Send

from .thrown import message_of, ungrouped

_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_PASSTHROUGH_DATACLASS
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_MAX_ORJSON_INT = 2**63
# Levels that are shown of a value: as many as the API takes of one (src/http/json-limits.ts); orjson writes 254.
_MAX_DEPTH = 200


def to_wire_json(value: Any) -> str:
    """The value as JSON text.

    Messages and other pydantic models are their fields, sets are lists, bytes are base64. What JSON can't hold is named or
    replaced, never an exception: an odd value in a state must not end a run.
    """
    try:
        return orjson.dumps(value, default=_form, option=_OPTIONS).decode()
    except (TypeError, ValueError, RecursionError):
        return orjson.dumps(_plain(value, ()), option=orjson.OPT_NON_STR_KEYS).decode()


def storable(text: str) -> str:
    """Text as text and jsonb columns hold it: without U+0000 and halves of surrogate pairs."""
    return _UNSTORABLE.sub("\ufffd", text)


def storable_json(value: Any) -> str:
    """JSON text for a jsonb column, which refuses U+0000."""
    text = to_wire_json(value)
    return re.sub(r"(?<!\\)((?:\\\\)*)\\u0000", "\\1\ufffd", text) if "\\u0000" in text else text


def interrupt_form(interrupt: Any) -> dict[str, Any]:
    form = {"id": interrupt.id, "value": interrupt.value}
    schema = getattr(interrupt, "response_schema", None)
    return form if schema is None else {**form, "response_schema": schema}


def _form(value: Any) -> Any:
    """The JSON value in the place of an object that is none."""
    if isinstance(value, Interrupt):
        return interrupt_form(value)
    if isinstance(value, Send):
        return {"node": value.node, "args": value.arg}
    if isinstance(value, type):
        return value.__name__
    if callable(getattr(value, "model_dump", None)):
        return value.model_dump()
    if hasattr(value, "__fields__") and callable(getattr(value, "dict", None)):
        # A model of pydantic 1.
        return value.dict()
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if callable(getattr(value, "_asdict", None)):
        return value._asdict()
    if isinstance(value, BaseException):
        error = ungrouped(value)
        return {"error": type(error).__name__, "message": message_of(error)}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset, deque)):
        return list(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return b64encode(bytes(value)).decode()
    if isinstance(value, Decimal):
        return int(value) if value.is_finite() and value == value.to_integral_value() else float(value)
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, tzinfo):
        return value.tzname(None)
    if isinstance(value, re.Pattern):
        return value.pattern
    return str(value)


def _plain(value: Any, path: tuple[int, ...]) -> Any:
    """A copy that orjson takes: of cycles, deep values, halves of surrogates and integers above 64 bits it takes none.

    What raises an error when it is read is shown by its type.
    """
    try:
        return _copy(value, path)
    except MemoryError:
        raise
    except Exception:
        return _type_of(value)


def _copy(value: Any, path: tuple[int, ...]) -> Any:
    if value is None or isinstance(value, (bool, float, orjson.Fragment)):
        return value
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, int):
        return value if -_MAX_ORJSON_INT <= value < _MAX_ORJSON_INT else _digits(value)
    if id(value) in path:
        return "[Circular]"
    if len(path) >= _MAX_DEPTH:
        return "[Too deep]"
    inner = (*path, id(value))
    if isinstance(value, Mapping):
        return {_key(key): _plain(item, inner) for key, item in value.items()}
    if isinstance(value, (list, tuple)) and not hasattr(value, "_asdict"):
        return [_plain(item, inner) for item in value]
    if isinstance(value, Enum):
        return _plain(value.value, inner)
    try:
        # Dates, UUIDs and the like, which orjson knows.
        return orjson.loads(orjson.dumps(value, option=_OPTIONS))
    except (TypeError, ValueError, RecursionError):
        return _plain(_form(value), inner)


def _digits(number: int) -> str:
    try:
        return str(number)
    except ValueError:
        # Python writes integers of more than 4300 digits in no decimal form.
        return hex(number)


def _key(key: Any) -> str:
    try:
        return storable(_digits(key) if isinstance(key, int) else str(key))
    except Exception:
        return _type_of(key)


def _type_of(value: Any) -> str:
    return storable(f"[{type(value).__name__}]")
