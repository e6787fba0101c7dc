"""The limit of a process's memory (GANTRY_GRAPH_MEMORY_MB)."""

from __future__ import annotations

import re
import resource
from collections.abc import Sequence
from pathlib import Path

_OPTION = "--memory-mb="
_STATUS = Path("/proc/self/status")


def granted_memory(arguments: Sequence[str]) -> int | None:
    """MiB that the process may allocate beside what it has loaded; None for no limit."""
    return next((int(each.removeprefix(_OPTION)) for each in arguments if each.startswith(_OPTION)), None)


def limit_memory(granted: int | None) -> None:
    """Limits the memory that the process may allocate from now on: beyond it, its code gets a MemoryError."""
    taken = re.search(r"^VmData:\s+(\d+) kB$", _STATUS.read_text(), re.MULTILINE) if _STATUS.exists() else None
    if granted is None or taken is None:
        return
    limit = int(taken[1]) * 1024 + granted * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
