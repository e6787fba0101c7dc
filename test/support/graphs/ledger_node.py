"""The ledger of executions, as ledger-node.ts keeps it."""

import os
from collections.abc import Awaitable, Callable

from langchain_core.runnables import RunnableConfig
from psycopg_pool import AsyncConnectionPool

# Few, as in ledger-node.ts; a database that was killed meanwhile is found by the check.
_connections = AsyncConnectionPool(
    os.environ.get("GANTRY_TEST_LEDGER_URL", ""),
    kwargs={"autocommit": True},
    min_size=0,
    max_size=2,
    max_idle=2,
    open=False,
    check=AsyncConnectionPool.check_connection,
)


async def _execute(statement: str, parameters: tuple[object, ...]) -> tuple[object, ...]:
    await _connections.open()
    async with _connections.connection() as ledger:
        return await (await ledger.execute(statement, parameters)).fetchone() or ()


async def record_execution(node: str, config: RunnableConfig) -> Callable[[], Awaitable[object]]:
    """Records an execution of a node; returns a function that records its end."""
    configurable = config["configurable"]
    run = configurable["run_id"]
    key = f"{run}/{configurable['checkpoint_ns']}"
    (id,) = await _execute(
        """INSERT INTO ledger.executions (run_id, thread_id, node, key, attempt, pid) VALUES (%s, %s, %s, %s, %s, %s)
        RETURNING id""",
        (run, configurable["thread_id"], node, key, configurable["run_attempt"], os.getppid()),
    )
    return lambda: _execute("UPDATE ledger.executions SET ended_at = clock_timestamp() WHERE id = %s RETURNING id", (id,))
