"""The graphs of doubt.ts."""

import asyncio
import operator
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
from ledger_node import record_execution

# Longer than any case takes: the process that waits for it is killed.
FOR_EVER_SECONDS = 600


class Steps(TypedDict, total=False):
    # Whether the second node hangs in the first attempt.
    hangs: bool
    step_ms: float
    done: Annotated[list[str], operator.add]


def step(name: str, may_hang: bool = False) -> Callable[[Steps, RunnableConfig], Awaitable[Steps]]:
    async def node(state: Steps, config: RunnableConfig) -> Steps:
        ended = await record_execution(name, config)
        hangs = may_hang and state.get("hangs") and config["configurable"]["run_attempt"] == 1
        await asyncio.sleep(FOR_EVER_SECONDS if hangs else state.get("step_ms", 0) / 1000)
        await ended()
        return {"done": [name]}

    return node


sequence = (
    StateGraph(Steps)
    .add_sequence([("first", step("first")), ("second", step("second", True)), ("third", step("third"))])
    .add_edge(START, "first")
)
steps = sequence.compile(name="steps")

Outer = Callable[[Steps, RunnableConfig], Awaitable[Steps]]


async def plainly(state: Steps, config: RunnableConfig) -> Steps:
    return {"done": (await steps.ainvoke({"step_ms": state["step_ms"]}, config))["done"]}


def hiding_errors_of(graph: Any) -> Outer:
    async def outer(state: Steps, config: RunnableConfig) -> Steps:
        try:
            return {"done": (await graph.ainvoke({"step_ms": state["step_ms"]}, config))["done"]}
        except Exception as error:
            return {"done": [f"failed: {error}"]}

    return outer


async def wrapping_errors(state: Steps, config: RunnableConfig) -> Steps:
    async with asyncio.TaskGroup() as group:
        done = group.create_task(plainly(state, config))
    return done.result()


def in_one_node(name: str, outer: Outer) -> Any:
    return StateGraph(Steps).add_node("outer", outer).add_edge(START, "outer").compile(name=name)


# Runs the steps in a node that hides the errors of its nested graph.
careless = in_one_node("careless", hiding_errors_of(steps))

# The same with a nested graph that keeps its state between runs: no task is in its namespace.
careless_stateful = in_one_node("careless_stateful", hiding_errors_of(sequence.compile(name="kept", checkpointer=True)))

# Runs the steps in a node that makes an error of its own of those of its nested graph.
wrapping = in_one_node("wrapping", wrapping_errors)


async def plain(state: Steps, config: RunnableConfig) -> Steps:
    return await step("plain")({**state, "step_ms": 2 * state["step_ms"]}, config)


def beside_another(name: str, outer: Outer) -> Any:
    """Runs the steps in a node, and beside it one of no steps that takes longer than the first of them."""
    graph = StateGraph(Steps).add_node("outer", outer).add_node("plain", plain)
    return graph.add_edge(START, "outer").add_edge(START, "plain").compile(name=name)


beside = beside_another("beside", plainly)
careless_beside = beside_another("careless_beside", hiding_errors_of(steps))


class Payment(TypedDict, total=False):
    paid: str


async def pay(paid: str, config: RunnableConfig) -> Payment:
    ended = await record_execution("pay", config)
    await asyncio.sleep(FOR_EVER_SECONDS if config["configurable"]["run_attempt"] == 1 else 0)
    await ended()
    return {"paid": paid}


async def ask(_: Payment, config: RunnableConfig) -> Payment:
    return await pay(interrupt("Pay?"), config)


async def stop(_: Payment, config: RunnableConfig) -> Payment:
    return await pay("yes", config)


# Asks a person, and pays after the answer: for ever in the first attempt.
approved = StateGraph(Payment).add_node("pay", ask).add_edge(START, "pay").compile(name="approved")


async def ask_twice(_: Payment, config: RunnableConfig) -> Payment:
    interrupt("Pay?")
    return await pay(interrupt("Really?"), config)


# Asks a person twice, and pays after the second answer: for ever in the first attempt.
approved_twice = StateGraph(Payment).add_node("pay", ask_twice).add_edge(START, "pay").compile(name="approved_twice")


async def log(_: Payment) -> Payment:
    return {}


# Stops before it pays: for ever in the first attempt. A node beside it changes no state, and has ended by then.
confirmed = (
    StateGraph(Payment)
    .add_node("pay", stop)
    .add_node("log", log)
    .add_edge(START, "pay")
    .add_edge(START, "log")
    .compile(name="confirmed", interrupt_before=["pay"])
)
