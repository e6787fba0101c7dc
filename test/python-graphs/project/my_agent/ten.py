"""Ten nodes, each of which writes down that it ran."""

import asyncio
import operator
import os
from typing import Annotated, Any, TypedDict

import psycopg
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph


class State(TypedDict, total=False):
    step_ms: int
    done: Annotated[list[str], operator.add]


async def record(config: RunnableConfig, node: str) -> None:
    configurable = config["configurable"]
    async with await psycopg.AsyncConnection.connect(os.environ["GANTRY_TEST_LEDGER_URL"], autocommit=True) as ledger:
        await ledger.execute(
            "INSERT INTO ledger.executions (run_id, thread_id, node, key, attempt, pid) VALUES (%s, %s, %s, %s, %s, %s)",
            (
                configurable["run_id"],
                configurable["thread_id"],
                node,
                f"{configurable['run_id']}/{configurable['checkpoint_ns']}",
                configurable["run_attempt"],
                os.getppid(),
            ),
        )


def step(name: str) -> Any:
    async def node(state: State, config: RunnableConfig) -> State:
        await record(config, name)
        await asyncio.sleep(state.get("step_ms", 0) / 1000)
        return {"done": [name]}

    return node


NAMES = [f"node_{number}" for number in range(1, 11)]

builder = StateGraph(State)
for name in NAMES:
    builder.add_node(name, step(name))
for before, after in zip([START, *NAMES], [*NAMES, END], strict=True):
    builder.add_edge(before, after)

graph = builder.compile()


async def deadly(state: State, config: RunnableConfig) -> State:
    await record(config, "deadly")
    os._exit(1)


poison_builder = StateGraph(State)
poison_builder.add_node("fine", step("fine"))
poison_builder.add_node("deadly", deadly)
poison_builder.add_edge(START, "fine")
poison_builder.add_edge("fine", "deadly")
poison_builder.add_edge("deadly", END)

poison = poison_builder.compile()
