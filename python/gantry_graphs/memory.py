"""The memory of a process: its limit (GANTRY_GRAPH_MEMORY_MB), and what it has taken."""

from __future__ import annotations

import re
import resource
from collections.abc import Sequence
from pathlib import Path

_OPTION = "--memory-mb="
_STATUS = Path("/proc/self/status")
_SIZES = Path("/proc/self/statm")
_MIB = 1024 * 1024


def granted_memory(arguments: Sequence[str]) -> int | None:
    """MiB that the process may allocate beside what it has loaded; None for no limit."""
    return next((int(each.removeprefix(_OPTION)) for each in arguments if each.startswith(_OPTION)), None)


def limit_memory(granted: int | None) -> None:
    """Limits the memory that the process may allocate from now on: beyond it, its code gets a MemoryError."""
    taken = re.search(r"^VmData:\s+(\d+) kB$", _STATUS.read_text(), re.MULTILINE) if _STATUS.exists() else None
    if granted is None or taken is None:
        return
    limit = int(taken[1]) * 1024 + granted * _MIB
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def resident_mb() -> float:
    """MiB of memory that the process has taken; outside of Linux the most that it had."""
    try:
        return int(_SIZES.read_text().split()[1]) * resource.getpagesize() / _MIB
    except OSError:
        # In bytes on macOS.
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MIB
