"""Nodes that do what a process shared by many runs doesn't expect."""

import asyncio
import multiprocessing
import operator
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from itertools import count
from typing import Annotated, Any, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_store, get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send, interrupt
from pydantic.v1 import BaseModel as OldModel

from my_agent.ten import record

CROWD = 100
# Blocking nodes that a process runs at once.
AT_ONCE = 64


class State(TypedDict, total=False):
    how: str
    seen: Any
    number: float
    missing: float
    text: str
    large: int
    done: Annotated[list[str], operator.add]


def graph_of(*nodes: Any) -> Any:
    builder = StateGraph(State)
    for node in nodes:
        builder.add_node(node.__name__, node)
    names = [node.__name__ for node in nodes]
    for before, after in zip([START, *names], [*names, END], strict=True):
        builder.add_edge(before, after)
    return builder.compile()


gate = threading.Event()


async def wait_at_gate(_: State, config: RunnableConfig) -> State:
    await record(config, "wait_at_gate")
    while not gate.is_set():
        await asyncio.sleep(0.05)
    return {"seen": "open"}


async def open_gate(_: State) -> State:
    gate.set()
    return {"seen": "opened"}


patient = graph_of(wait_at_gate)
opener = graph_of(open_gate)


def leave(_: State) -> State:
    sys.exit("this agent gives up")


async def leave_async(_: State) -> State:
    sys.exit("this agent gives up")


async def leave_nested(_: State) -> State:
    await asyncio.gather(asyncio.create_task(leave_async({})))
    return {}


def press_keys(_: State) -> State:
    raise KeyboardInterrupt("this agent gives up")


class Panic(BaseException):
    """As libraries in Rust raise it."""


async def panic(_: State) -> State:
    raise Panic("this agent gives up")


async def stop_loop(_: State) -> State:
    asyncio.get_running_loop().stop()
    await asyncio.sleep(0)
    return {"seen": "stopped"}


def end_program(_: State) -> State:
    program = subprocess.Popen(["sleep", "600"])
    program.terminate()
    return {"seen": program.wait(60)}


def end_process(_: State) -> State:
    process = multiprocessing.get_context("fork").Process(target=time.sleep, args=(600,))
    process.start()
    process.terminate()
    process.join(60)
    return {"seen": process.exitcode}


def use_own_loop(_: State) -> State:
    store = get_store()

    async def keep() -> Any:
        await store.aput(("loops",), "key", {"kept": True})
        item = await store.aget(("loops",), "key")
        # Each of these graphs writes its checkpoints.
        states = await asyncio.gather(*(inner.ainvoke({}) for _ in range(10)))
        return item and [item.value, *{state["seen"] for state in states}]

    return {"seen": asyncio.run(keep())}


def greet(_: State) -> State:
    return {"seen": "hello"}


inner = graph_of(greet)


class Old(OldModel):
    number: int = 1


class Nameless:
    def __str__(self) -> str:
        raise RuntimeError("no text")


class Unshown:
    def model_dump(self) -> Any:
        raise RuntimeError("no fields")


def emit(_: State) -> State:
    for value in (Old(), 10**5000, {"deep": [Nameless(), 1]}, {Nameless(): 1}, Unshown()):
        get_stream_writer()(value)
    return {"seen": "emitted"}


NODES: list[Callable[..., Any]] = [
    *(leave, leave_async, leave_nested, press_keys, panic, stop_loop),
    *(end_program, end_process, use_own_loop, emit),
]

builder = StateGraph(State)
for node in NODES:
    builder.add_node(node.__name__, node)
    builder.add_edge(node.__name__, END)
builder.add_conditional_edges(START, lambda state: state["how"], [node.__name__ for node in NODES])
unruly = builder.compile()


arrived = count(1)


def stand(_: State) -> State:
    if next(arrived) == AT_ONCE:
        get_stream_writer()("crowded")
    gate.wait()
    return {"done": [inner.invoke({})["seen"]]}


crowd_builder = StateGraph(State)
crowd_builder.add_node(stand)
crowd_builder.add_conditional_edges(START, lambda _: [Send("stand", {}) for _ in range(CROWD)], ["stand"])
crowd_builder.add_edge("stand", END)
crowd = crowd_builder.compile()


def make(_: State) -> State:
    return {"number": float("inf"), "missing": float("nan"), "text": "a\0b", "large": 2**62 + 1}


def ask(_: State) -> State:
    return {"how": interrupt("Go on?")}


def look(state: State) -> State:
    return {"seen": repr((state["number"], state["missing"], state["text"], state["large"]))}


values = graph_of(make, ask, look)


class Sum(TypedDict, total=False):
    # Of what a reducer makes, only the sum is more than 64 bits.
    sum: Annotated[int, operator.add]
    given: int
    nested: Any
    seen: list[str]


def add_most(_: Sum) -> Sum:
    return {"sum": 2**63 - 1}


def give(_: Sum) -> Sum:
    return {"sum": 2**63 - 1, "given": -(2**70)}


def ask_and_add(_: Sum) -> Sum:
    return {"sum": interrupt("Continue?")}


def look_at_sum(state: Sum) -> Sum:
    return {"seen": [repr(state["sum"]), repr(state["given"])]}


def nest(_: Sum) -> Sum:
    return {"nested": [2**70]}


sums_builder = StateGraph(Sum)
sums_builder.add_sequence([add_most, ("again", add_most), give, ask_and_add, look_at_sum, nest])
sums_builder.add_edge(START, "add_most")
sums = sums_builder.compile()
