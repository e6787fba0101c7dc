"""The saver of one attempt of a run: it stores results with the checkpoint of their step, and hands the run back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from langgraph.checkpoint.base import CheckpointTuple

from .connections import PostgresUnreachable, TenantAccess, TenantConnections
from .left import HandedBack, LeftGraphs
from .loops import in_own_loop
from .saver import COLUMNS, CheckpointSaver, Fence, Rows, computed_rows, place_of, replaces_known

# Key of `configurable` with the id of the task that runs a nested graph.
_TASK = "__pregel_task_id"

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
        *,
        thread_id: str,
        is_empty: bool,
        stores_steps: bool,
    ) -> None:
        """`run_metadata` is kept with every checkpoint of the run: who made it, and the user's own metadata.

        `is_empty` says that the run's thread has no checkpoint yet, so that none is looked for; `stores_steps`, that the run
        stores a checkpoint after each step, not only at its end.
        """
        super().__init__(connections, access)
        self._fence = fence
        self._run_metadata = run_metadata
        self._is_handing_back = is_handing_back
        self._thread_id = thread_id
        self._stores_steps = stores_steps
        self._empty_thread = thread_id if is_empty else None
        self._open: set[asyncio.Future[None]] = set()
        # By thread: a node may run other graphs on threads of their own.
        self._deferred: dict[str, _Deferred] = {}
        # A lost connection, which code of the user may hide from the library, since that of a nested graph passes through
        # it, or an error of deferred rows, which no caller may have awaited: it fails every later write.
        self._failure: BaseException | None = None
        # The nested graphs in which the run was handed back.
        self.left = LeftGraphs()

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
        thread_id, namespace = _owner_of(config)
        # A node that starts its nested graph again would run a further step of it.
        if self._is_of_run(thread_id) and namespace in self.left:
            await self._refuse()
        await self._write_rest()
        if thread_id == self._empty_thread:
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
        thread_id, namespace = _owner_of(config)
        if self._is_of_run(thread_id) and self.left.has_inside(namespace):
            await self._refuse()
        rows = computed_rows(self._checkpoint_rows, config, checkpoint, metadata, new_versions)
        await self._write(thread_id, rows)
        if self._is_handing_back() and self._may_leave(thread_id, namespace):
            handed_back = HandedBack(in_doubt=namespace != "")
            if namespace:
                self.left.add(namespace, config["configurable"].get(_TASK), handed_back)
            raise handed_back
        return place_of(config, checkpoint)

    @in_own_loop
    async def aput_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        """Stores the result of a task, where possible together with the checkpoint of its step.

        The library asks for that checkpoint as soon as the last task of the step has ended.
        """
        if not writes:
            return
        thread_id, _ = _owner_of(config)
        if self._is_of_run(thread_id) and self.left.has_in_task(task_id):
            await self._refuse()
        rows = computed_rows(self._write_rows, config, writes, task_id, task_path)
        if replaces_known(writes):
            await self._write_deferred()
            await self._track(self._insert(thread_id, [rows], replaces=True))
        else:
            self._defer(thread_id, rows)

    def _may_leave(self, thread_id: str, namespace: str) -> bool:
        """Whether the next attempt can continue a graph at its checkpoint.

        One on a thread of its own belongs to a node that no namespace names. One that is nested in a run without steps
        would be run by a node that begins again.
        """
        return self._is_of_run(thread_id) and (namespace == "" or self._stores_steps)

    def _is_of_run(self, thread_id: str) -> bool:
        return thread_id == self._thread_id

    async def _refuse(self) -> NoReturn:
        """Refuses what follows from a nested graph that was left, such as the result of a node that caught HandedBack.

        The next attempt continues the nested graph. Results of other nodes are kept.
        """
        await self._write_deferred()
        raise HandedBack(in_doubt=True)

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
            if fails_later_writes or isinstance(failure, PostgresUnreachable):
                self._failure = self._failure or failure

        writing.add_done_callback(end)
        return asyncio.shield(writing)

    async def _insert(self, thread_id: str, parts: Sequence[asyncio.Future[Rows]], *, replaces: bool = False) -> None:
        computed = [await part for part in parts]
        rows = {table: [row for each in computed for row in each.get(table, ())] for table in COLUMNS}
        if thread_id == self._empty_thread:
            self._empty_thread = None
        await self._store(thread_id, rows, replaces=replaces, fence=self._fence)


def _owner_of(config: Any) -> tuple[str, str]:
    """The thread of a checkpoint, and the namespace of its graph, which is empty for the root."""
    configurable = config["configurable"]
    return configurable["thread_id"], configurable.get("checkpoint_ns", "")
