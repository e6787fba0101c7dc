"""LangGraph's Postgres saver with one statement for each write, refused once another attempt holds the run.

Tables and encoding are those of langgraph-checkpoint-postgres; the statements are those of
src/graphs/host/run-checkpoint-saver.ts.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
from langgraph.checkpoint.base import WRITES_IDX_MAP, CheckpointTuple
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.errors import GraphBubbleUp
from psycopg.rows import dict_row

from .cipher import Cipher, OpeningCursor
from .connections import TenantAccess, TenantConnections
from .loops import in_own_loop
from .threads import own_threads
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

_COLUMNS = {
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
            return super().dumps_typed(obj)
        except TypeError as error:
            raise UnstorableValue(error) from error

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        if data[0] == "json":
            raise _other_language()
        return int(data[1]) if data[0] == "int" else super().loads_typed(data)


class HandedBack(GraphBubbleUp):
    """Thrown after a written checkpoint, to stop a graph there: the next step is another worker's.

    As what an interrupt throws it passes through nested graphs and isn't stored as an error of their task.
    """

    def __init__(self, in_doubt: bool) -> None:
        super().__init__("The run was handed back at its checkpoint")
        self.in_doubt = in_doubt


class CheckpointSaver(AsyncPostgresSaver):
    """The saver of one thread's owner. Graphs and callers see thread ids as the tenant knows them."""

    def __init__(self, connections: TenantConnections, access: TenantAccess) -> None:
        super().__init__(conn=None, serde=_Serializer())  # type: ignore[arg-type]  # every use of it is in _cursor
        self._connections = connections
        self._access = access
        self._tenant_id = access.tenant_id

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
        rows = await _computed(self._checkpoint_rows, config, checkpoint, metadata, new_versions)
        await self._store(config["configurable"]["thread_id"], rows)
        return _place_of(config, checkpoint)

    async def aput_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        if not writes:
            return
        rows = await _computed(self._write_rows, config, writes, task_id, task_path)
        await self._store(config["configurable"]["thread_id"], rows, replaces=_replaces(writes))

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
            for table, names in _COLUMNS.items()
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
        parent = found.parent_config
        return found._replace(config=self._shown_config(found.config), parent_config=parent and self._shown_config(parent))

    def _shown_config(self, config: Any) -> Any:
        key: str = config["configurable"]["thread_id"]
        thread_id = key.removeprefix(f"{self._tenant_id}/")
        return {**config, "configurable": {**config["configurable"], "thread_id": thread_id}}


# Longer than the library takes from the end of a step's last task to its checkpoint.
_DEFERRED_SECONDS = 0.005


@dataclass
class _Deferred:
    """Rows of a thread that are stored with its next checkpoint, or alone when none follows soon."""

    timer: asyncio.TimerHandle
    parts: list[asyncio.Future[Rows]] = field(default_factory=list)


class RunCheckpointSaver(CheckpointSaver):
    """The saver of one attempt of a run."""

    def __init__(
        self,
        connections: TenantConnections,
        access: TenantAccess,
        fence: Fence,
        run_metadata: Mapping[str, Any],
        is_handing_back: Callable[[], bool],
        empty_thread: str | None,
    ) -> None:
        """`run_metadata` is kept with every checkpoint of the run: who made it, and the user's own metadata.

        `empty_thread` is the run's thread where it has no checkpoint yet, so that none is looked for.
        """
        super().__init__(connections, access)
        self._fence = fence
        self._run_metadata = run_metadata
        self._is_handing_back = is_handing_back
        self._empty_thread = empty_thread
        self._open: set[asyncio.Future[None]] = set()
        # By thread: a node may run other graphs on threads of their own.
        self._deferred: dict[str, _Deferred] = {}
        # Error of deferred rows, whose writing no caller may have awaited: it fails every later write.
        self._failure: BaseException | None = None

    async def written(self) -> None:
        """Returns when all writes so far are committed: only then may they be emitted.

        The library starts a write as a task of the event loop, before it emits what the write is of; that task begins
        within the next turns of the loop. Deferred rows are written at once: the library makes no checkpoint before the
        caller asks it for its next chunk.
        """
        for _ in range(3):
            await asyncio.sleep(0)
        await self._write_rest()
        self._check()

    @in_own_loop
    async def aget_tuple(self, config: Any) -> CheckpointTuple | None:
        await self._write_rest()
        if config["configurable"]["thread_id"] == self._empty_thread:
            return None
        return await super().aget_tuple(config)

    async def alist(self, config: Any, **options: Any) -> AsyncIterator[CheckpointTuple]:
        await self._write_rest()
        async for found in super().alist(config, **options):
            yield found

    @in_own_loop
    async def aget_delta_channel_history(self, *, config: Any, channels: Sequence[str]) -> Mapping[str, Any]:
        await self._write_rest()
        return await super().aget_delta_channel_history(config=config, channels=channels)

    @in_own_loop
    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        rows = _computed(self._checkpoint_rows, config, checkpoint, metadata, new_versions)
        await self._write(config["configurable"]["thread_id"], rows)
        if self._is_handing_back():
            raise HandedBack(in_doubt=config["configurable"].get("checkpoint_ns", "") != "")
        return _place_of(config, checkpoint)

    @in_own_loop
    async def aput_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        """Stores the result of a task, where possible together with the checkpoint of its step.

        The library asks for that checkpoint as soon as the last task of the step has ended.
        """
        if not writes:
            return
        rows = _computed(self._write_rows, config, writes, task_id, task_path)
        thread_id = config["configurable"]["thread_id"]
        if _replaces(writes):
            await self._write_deferred()
            await self._track(self._insert(thread_id, [rows], replaces=True))
        else:
            self._defer(thread_id, rows)

    def _metadata(self, metadata: Any) -> dict[str, Any]:
        return {**self._run_metadata, **metadata}

    def _check(self) -> None:
        if self._failure:
            raise self._failure

    def _defer(self, thread_id: str, rows: asyncio.Future[Rows]) -> None:
        self._check()
        if thread_id not in self._deferred:
            timer = asyncio.get_running_loop().call_later(_DEFERRED_SECONDS, self._write_late)
            self._deferred[thread_id] = _Deferred(timer)
        self._deferred[thread_id].parts.append(rows)

    def _write_late(self) -> None:
        # Its failure fails whatever is written next.
        asyncio.ensure_future(self._write_deferred()).add_done_callback(lambda late: late.cancelled() or late.exception())

    async def _write_deferred(self) -> None:
        while self._deferred:
            await self._write(next(iter(self._deferred)))

    async def _write_rest(self) -> None:
        """Returns when nothing is left to be written that a read would miss."""
        await self._write_deferred()
        while self._open:
            await asyncio.wait(set(self._open))

    async def _write(self, thread_id: str, *rows: asyncio.Future[Rows]) -> None:
        """Writes the deferred rows of the thread and these in one statement."""
        deferred = self._deferred.pop(thread_id, None)
        if deferred is None:
            self._check()
            return await self._track(self._insert(thread_id, rows))
        deferred.timer.cancel()
        self._check()
        parts = [*deferred.parts, *rows]
        return await self._track(self._insert(thread_id, parts), fails_later_writes=True)

    def _track(self, write: Coroutine[Any, Any, None], *, fails_later_writes: bool = False) -> asyncio.Future[None]:
        """Starts a write. It is completed even if its caller is cancelled: the results in it are those of finished tasks."""
        writing = asyncio.ensure_future(write)
        self._open.add(writing)

        def end(ended: asyncio.Future[None]) -> None:
            self._open.discard(ended)
            failure = None if ended.cancelled() else ended.exception()
            if fails_later_writes:
                self._failure = self._failure or failure

        writing.add_done_callback(end)
        return asyncio.shield(writing)

    async def _insert(self, thread_id: str, parts: Sequence[asyncio.Future[Rows]], *, replaces: bool = False) -> None:
        computed = [await part for part in parts]
        rows = {table: [row for each in computed for row in each.get(table, ())] for table in _COLUMNS}
        if thread_id == self._empty_thread:
            self._empty_thread = None
        await self._store(thread_id, rows, replaces=replaces, fence=self._fence)


def _place_of(config: Any, checkpoint: Any) -> dict[str, Any]:
    """The config that finds a stored checkpoint again."""
    configurable = config["configurable"]
    return {
        "configurable": {
            "thread_id": configurable["thread_id"],
            "checkpoint_ns": configurable.get("checkpoint_ns", ""),
            "checkpoint_id": checkpoint["id"],
        }
    }


def _replaces(writes: Any) -> bool:
    """Whether writes replace earlier ones: a task has one interrupt, one error and one answer at a time, the newest."""
    return all(channel in WRITES_IDX_MAP for channel, _ in writes)


def _computed(compute: Callable[..., Rows], *arguments: Any) -> asyncio.Future[Rows]:
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
