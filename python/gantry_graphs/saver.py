"""LangGraph's Postgres saver with one statement for each write, refused once another attempt holds the run.

Tables and encoding are those of langgraph-checkpoint-postgres; the statements are those of
src/graphs/host/run-checkpoint-saver.ts.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import orjson
from langgraph.checkpoint.base import WRITES_IDX_MAP, CheckpointTuple
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from psycopg.rows import dict_row

from .cipher import Cipher, OpeningCursor
from .connections import TenantAccess, TenantConnections
from .threads import own_threads
from .thrown import ungrouped
from .versions import DeltaSnapshot
from .wire import storable_json

# The tenant of a deployment that names no other: its checkpoints keep the plain ids of threads.
_UNPREFIXED_TENANT = "00000000-0000-0000-0000-000000000000"

_STORE = """
SELECT 1 WHERE store_checkpoints(
  %(run)s::uuid, %(attempt)s::int, %(thread)s, %(replaces)s,
  %(b_ns)s::text[], %(b_channel)s::text[], %(b_version)s::text[], %(b_type)s::text[], %(b_blob)s::bytea[],
  %(w_ns)s::text[], %(w_checkpoint)s::text[], %(w_task)s::text[], %(w_path)s::text[], %(w_idx)s::int[],
  %(w_channel)s::text[], %(w_type)s::text[], %(w_blob)s::bytea[],
  %(c_ns)s::text[], %(c_id)s::text[], %(c_parent)s::text[], %(c_checkpoint)s::text[], %(c_metadata)s::text[])"""

_MAX_INT = 2**63

# Channels of what happens to a task before its end. All others are written at its end, also if it changes no state.
_BEFORE_THE_END = ("__error__", "__error_source_node__", "__interrupt__", "__resume__")

COLUMNS = {
    "b": ("ns", "channel", "version", "type", "blob"),
    "w": ("ns", "checkpoint", "task", "path", "idx", "channel", "type", "blob"),
    "c": ("ns", "id", "parent", "checkpoint", "metadata"),
}
Rows = dict[str, list[tuple[Any, ...]]]


@dataclass(frozen=True)
class Fence:
    """The attempt that a write belongs to."""

    run_id: str
    attempt: int


class FencedError(Exception):
    """Another worker holds the run: nothing that this attempt still writes may count."""

    def __init__(self, fence: Fence) -> None:
        super().__init__(f"Attempt {fence.attempt} of run {fence.run_id} has lost the run")


class OtherLanguage(Exception):
    """The thread belongs to graphs of another language."""


def _other_language() -> OtherLanguage:
    return OtherLanguage(
        "The thread's state was written by a graph in JavaScript, which a graph in Python can't read: use another thread"
    )


class UnstorableValue(TypeError):
    """A value of the state or of a question that the library can't write."""

    def __init__(self, reason: Exception) -> None:
        super().__init__(
            f"A value of the state, or of a question, can't be stored: {reason}. "
            "Names in it must be text without halves of surrogate pairs, and integers must fit into 64 bits"
        )


class _Serializer(JsonPlusSerializer):
    """Reads what it writes. Values as JSON are those of a graph in JavaScript: the library would make objects of them."""

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        if _is_large(obj):
            # msgpack has no such integers, and the library would pickle them.
            return "int", str(obj).encode()
        try:
            # The error of a task is stored by its name and its text.
            return super().dumps_typed(ungrouped(obj) if isinstance(obj, BaseException) else obj)
        except TypeError as error:
            raise UnstorableValue(error) from error

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        if data[0] == "json":
            raise _other_language()
        return int(data[1]) if data[0] == "int" else super().loads_typed(data)


class CheckpointSaver(AsyncPostgresSaver):
    """The saver of one thread's owner. Graphs and callers see thread ids as the tenant knows them."""

    def __init__(self, connections: TenantConnections, access: TenantAccess) -> None:
        super().__init__(conn=None, serde=_Serializer())  # type: ignore[arg-type]  # every use of it is in _cursor
        self._connections = connections
        self._access = access
        self._tenant_id = access.tenant_id
        # Ids of the tasks that have ended, of the checkpoints that have been read.
        self.ended: set[str] = set()

    @asynccontextmanager
    async def _cursor(self, *, pipeline: bool = False) -> AsyncIterator[Any]:
        async with (
            self._connections.of(self._access) as connection,
            connection.cursor(binary=True, row_factory=dict_row) as cursor,
        ):
            cipher = self._connections.cipher
            yield OpeningCursor(cursor, cipher) if cipher else cursor

    async def aget_tuple(self, config: Any) -> CheckpointTuple | None:
        found = await super().aget_tuple(self._stored(config))
        return found and self._shown(found)

    async def alist(self, config: Any, **options: Any) -> AsyncIterator[CheckpointTuple]:
        async for found in super().alist(config and self._stored(config), **options):
            yield self._shown(found)

    async def aget_delta_channel_history(self, *, config: Any, channels: Sequence[str]) -> Mapping[str, Any]:
        return await super().aget_delta_channel_history(config=self._stored(config), channels=channels)

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        rows = await computed_rows(self._checkpoint_rows, config, checkpoint, metadata, new_versions)
        await self._store(config["configurable"]["thread_id"], rows)
        return place_of(config, checkpoint)

    async def aput_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        if not writes:
            return
        rows = await computed_rows(self._write_rows, config, writes, task_id, task_path)
        await self._store(config["configurable"]["thread_id"], rows, replaces=replaces_known(writes))

    async def _load_checkpoint_tuple(self, value: Any) -> CheckpointTuple:
        with own_threads():
            return await super()._load_checkpoint_tuple(value)

    def _metadata(self, metadata: Any) -> dict[str, Any]:
        """The metadata of a checkpoint. The library would add all of the `configurable`, headers and keys included."""
        return dict(metadata)

    async def _store(self, thread_id: str, rows: Rows, *, replaces: bool = False, fence: Fence | None = None) -> None:
        """Stores rows of a thread, all or none. Raises FencedError when another attempt holds the run of the fence.

        `replaces` says whether a write of a task that exists is replaced; otherwise it stays as it is.
        """
        if self._connections.cipher:
            rows = await _sealed(self._connections.cipher, rows)
        columns = {
            f"{table}_{name}": [row[index] for row in rows.get(table, ())]
            for table, names in COLUMNS.items()
            for index, name in enumerate(names)
        }
        held = {"run": fence and fence.run_id, "attempt": fence and fence.attempt}
        async with self._cursor() as cursor:
            await cursor.execute(_STORE, {**columns, **held, "thread": self._key(thread_id), "replaces": replaces})
            if fence and cursor.rowcount == 0:
                raise FencedError(fence)

    def _checkpoint_rows(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Rows:
        configurable = config["configurable"]
        namespace = configurable.get("checkpoint_ns", "")
        values = checkpoint["channel_values"]
        # As in the library: plain values stand in the checkpoint itself, all others in rows of their own. In such rows also
        # stand plain values that JSON would change.
        inline = {name: _json_form(value) for name, value in values.items() if _is_inline(value)}
        if self._connections.cipher:
            # They can't be encrypted there. One that is older than the encryption has no row of its own yet.
            known = checkpoint["channel_versions"]
            new_versions = {**{name: known[name] for name in inline if name in known}, **new_versions}
            inline = {}
        snapshots = {name: True for name, value in values.items() if isinstance(value, DeltaSnapshot)}
        stored = {name: value for name, value in values.items() if name not in inline}
        versions = {name: version for name, version in new_versions.items() if name in stored}
        blobs = self._dump_blobs("", namespace, stored, versions)
        body = {**checkpoint, "channel_values": {**inline, **snapshots}}
        row = (
            namespace,
            checkpoint["id"],
            configurable.get("checkpoint_id"),
            storable_json(body),
            storable_json(self._metadata(metadata)),
        )
        return {"b": [blob[1:] for blob in blobs], "c": [row]}

    def _write_rows(self, config: Any, writes: Any, task_id: str, task_path: str) -> Rows:
        configurable = config["configurable"]
        namespace = configurable.get("checkpoint_ns", "")
        rows = self._dump_writes("", namespace, configurable["checkpoint_id"], task_id, task_path, writes)
        return {"w": [row[1:] for row in rows]}

    def _key(self, thread_id: str) -> str:
        """The thread's id in the tables, which two tenants may have as well (src/database/checkpoint-key.ts)."""
        return thread_id if self._tenant_id == _UNPREFIXED_TENANT else f"{self._tenant_id}/{thread_id}"

    def _stored(self, config: Any) -> Any:
        configurable = config["configurable"]
        return {**config, "configurable": {**configurable, "thread_id": self._key(str(configurable["thread_id"]))}}

    def _shown(self, found: CheckpointTuple) -> CheckpointTuple:
        # Both libraries keep their checkpoints in the same tables, and each versions its channels in its own way.
        if not all(isinstance(version, str) for version in found.checkpoint["channel_versions"].values()):
            raise _other_language()
        self.ended.update(task for task, channel, _ in found.pending_writes or () if channel not in _BEFORE_THE_END)
        parent = found.parent_config
        return found._replace(config=self._shown_config(found.config), parent_config=parent and self._shown_config(parent))

    def _shown_config(self, config: Any) -> Any:
        key: str = config["configurable"]["thread_id"]
        thread_id = key.removeprefix(f"{self._tenant_id}/")
        return {**config, "configurable": {**config["configurable"], "thread_id": thread_id}}


def place_of(config: Any, checkpoint: Any) -> dict[str, Any]:
    """The config that finds a stored checkpoint again."""
    configurable = config["configurable"]
    return {
        "configurable": {
            "thread_id": configurable["thread_id"],
            "checkpoint_ns": configurable.get("checkpoint_ns", ""),
            "checkpoint_id": checkpoint["id"],
        }
    }


def replaces_known(writes: Any) -> bool:
    """Whether writes replace earlier ones: a task has one interrupt, one error and one answer at a time, the newest."""
    return all(channel in WRITES_IDX_MAP for channel, _ in writes)


def computed_rows(compute: Callable[..., Rows], *arguments: Any) -> asyncio.Future[Rows]:
    """Computes rows in another thread. A value that can't be encoded fails its write."""
    with own_threads():
        rows = asyncio.ensure_future(asyncio.to_thread(compute, *arguments))
    rows.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
    return rows


async def _sealed(cipher: Cipher, rows: Rows) -> Rows:
    """The rows as they are stored encrypted: their values, and the metadata of checkpoints."""
    fields = {"b": "values", "w": "writes"}
    places = [(table, row) for table in fields for row in rows.get(table, ()) if row[-1] is not None]
    checkpoints = rows.get("c", ())
    blobs, metadata = await cipher.seal(
        [(fields[table], bytes(row[-1])) for table, row in places], [orjson.loads(row[-1]) for row in checkpoints]
    )
    stored = {id(row): (*row[:-1], blob) for (_, row), blob in zip(places, blobs, strict=True)}
    return {
        **{table: [stored.get(id(row), row) for row in rows.get(table, ())] for table in fields},
        "c": [(*row[:-1], storable_json(each)) for row, each in zip(checkpoints, metadata, strict=True)],
    }


def _is_inline(value: Any) -> bool:
    """Whether jsonb holds the value as it is."""
    if isinstance(value, str):
        return "\0" not in value
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, int)


def _is_large(value: Any) -> bool:
    """Whether the value is an integer that takes more than 64 bits."""
    return type(value) is int and not -_MAX_INT <= value < _MAX_INT


def _json_form(value: Any) -> Any:
    """The value in a form that orjson writes: jsonb holds integers of any size."""
    return orjson.Fragment(str(value)) if _is_large(value) else value
