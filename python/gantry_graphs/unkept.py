"""Lets graphs that were compiled with `checkpointer=False` run inside others, though each step waits for its checkpoint.

With the durability `sync`, which every run has, langgraph 1.2 waits for the last checkpoint of the nested graph as well, and
fails with an AttributeError as there has been none.
"""

from __future__ import annotations

from collections.abc import Iterator

from langgraph.pregel._loop import AsyncPregelLoop, SyncPregelLoop


class _Written:
    """A write that has ended, for code that waits for it in either way."""

    def result(self) -> None:
        return None

    def __await__(self) -> Iterator[None]:
        return iter(())


def allow_unkept_graphs() -> None:
    """Gives the loops of the library a last checkpoint to wait for where they write none."""
    for loop in (SyncPregelLoop, AsyncPregelLoop):
        loop._put_checkpoint_fut = _Written()  # type: ignore[assignment]
