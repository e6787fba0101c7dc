"""Where the project's libraries differ between the versions that it may have: langgraph from 0.6 on."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import Any

from langchain_core.runnables import config as langchain_config
from langgraph._internal import _config as langgraph_config

__all__ = [
    "CONTENT_BLOCKS_FLAG",
    "COPIES_CONFIGURABLE",
    "RUNTIME_KEY",
    "DeltaSnapshot",
    "StreamMux",
    "StreamTransformer",
    "message_to_events",
    "require_event_protocol",
    "sdk_client",
]

# Key of `configurable` under which `get_store` and `get_runtime` find the runtime: the same in all versions.
RUNTIME_KEY = "__pregel_runtime"

try:
    from langgraph.checkpoint.serde.types import _DeltaSnapshot as DeltaSnapshot
except ImportError:  # langgraph-checkpoint before 4.1 has no delta channels, so that no value is a snapshot of one.

    class DeltaSnapshot:  # type: ignore[no-redef]
        """The type of no value."""


try:
    from langchain_core.language_models._compat_bridge import message_to_events
    from langgraph._internal._constants import CONFIG_KEY_STREAM_MESSAGES_V2
except ImportError:  # langgraph before 1.2 doesn't stream tokens as content blocks.
    message_to_events = CONFIG_KEY_STREAM_MESSAGES_V2 = None  # type: ignore[assignment]

try:
    from langgraph.stream import StreamTransformer
    from langgraph.stream._mux import StreamMux
except ImportError:  # langgraph before 1.2 has no event stream that transformers could see.
    StreamMux = StreamTransformer = None  # type: ignore[assignment,misc]

# Key of `configurable` by which the library streams tokens as content blocks; None where it can't.
CONTENT_BLOCKS_FLAG: str | None = CONFIG_KEY_STREAM_MESSAGES_V2


def _copies_configurable(library: Any) -> bool:
    name = "gantry_probe"
    return name in library.ensure_config({"configurable": {name: name}})["metadata"]


# Whether the libraries copy `configurable` into the metadata of runs, as older ones do. This is tried, since a project
# combines any version of one with any of the other.
COPIES_CONFIGURABLE: bool = _copies_configurable(langgraph_config) or _copies_configurable(langchain_config)


def sdk_client() -> Any:
    """The module of langgraph-sdk that has `get_client`: a private one since 0.3."""
    try:
        return import_module("langgraph_sdk._async.client")
    except ImportError:
        return import_module("langgraph_sdk.client")


def require_event_protocol() -> None:
    """Raises a RuntimeError if the libraries can't stream content blocks, of which the event protocol consists."""
    if CONTENT_BLOCKS_FLAG is None:
        raise RuntimeError(
            "The event protocol needs langgraph 1.2 or newer in the project's environment, "
            f"which has {version('langgraph')}: update it, or stream the run with stream_mode"
        )
