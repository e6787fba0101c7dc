"""The graph of growing.ts."""

import asyncio
import os
from pathlib import Path
from typing import TypedDict

from langgraph.graph import START, StateGraph


class State(TypedDict, total=False):
    # MiB that the module keeps from now on.
    mb: int
    # Path of a file whose existence ends the node.
    until_file: str
    pid: int


kept: list[bytes] = []


async def keep(state: State) -> State:
    kept.append(b"x" * (state.get("mb", 0) * 1024 * 1024))
    until = state.get("until_file")
    while until and not Path(until).exists():
        await asyncio.sleep(0.05)
    return {"pid": os.getpid()}


growing = StateGraph(State).add_node(keep).add_edge(START, "keep").compile()
