"""Connections to Postgres that see the rows of one tenant."""

from __future__ import annotations

import select
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from psycopg import AsyncConnection, InterfaceError, OperationalError
from psycopg.errors import ReadOnlySqlTransaction
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

from .cipher import Cipher

CHECKPOINT_SCHEMA = "langgraph"
_TENANT_SETTING = "gantry.tenant_id"
_TOKEN_SETTING = "gantry.tenant_token"


class PostgresUnreachable(Exception):
    """Gantry's own connections are lost, or the server can't serve (src/database/lost-connections.ts).

    User code has connections of its own, whose errors have the same classes.
    """


@dataclass(frozen=True)
class TenantAccess:
    """The tenant that the process works for, and its token for Postgres (src/database/tenant-token.ts)."""

    tenant_id: str
    token: str

    @classmethod
    def of(cls, message: dict[str, Any]) -> TenantAccess:
        """The access in a request to execute a run, or in the arguments of a call."""
        return cls(message["tenantId"], message.get("tenantToken", ""))


_SET_ACCESS = f"SELECT set_config('{_TENANT_SETTING}', %s, false), set_config('{_TOKEN_SETTING}', %s, false)"


async def _check(connection: AsyncConnection[Any]) -> None:
    """Raises if the server has closed an idle connection. Costs a round trip only if something has arrived on it."""
    arrived = select.poll()
    arrived.register(connection.fileno(), select.POLLIN)
    if arrived.poll(0):
        await AsyncConnectionPool.check_connection(connection)


class TenantConnections:
    """The pool of this process; row-level security shows each use the rows of its tenant alone."""

    def __init__(self, url: str, size: int, cipher: Cipher | None = None) -> None:
        """`cipher` encrypts checkpoints; with None they are stored in plain text."""
        self.cipher = cipher
        self._pool: AsyncConnectionPool[Any] = AsyncConnectionPool(
            url,
            min_size=0,
            max_size=size,
            open=False,
            # The pool doesn't notice when an idle connection breaks. The write on it would fail, and its node run again.
            check=_check,
            kwargs={
                "autocommit": True,
                "row_factory": dict_row,
                "application_name": "gantry-graphs",
                # A server that is lost is noticed within half a minute; the kernel alone needs a quarter of an hour.
                "keepalives_idle": 10,
                "keepalives_interval": 5,
                "keepalives_count": 4,
                "tcp_user_timeout": 30_000,
                # Tables of LangGraph's library are found by its own statements, which name no schema.
                "options": f"-c search_path={CHECKPOINT_SCHEMA},public",
            },
        )
        # The current settings of a connection: it needs a round trip only after it served another run or call.
        self._settings: dict[AsyncConnection[Any], TenantAccess] = {}

    async def open(self) -> None:
        await self._pool.open()

    @asynccontextmanager
    async def of(self, access: TenantAccess) -> AsyncIterator[AsyncConnection[Any]]:
        """Raises PostgresUnreachable, also for what is done on the connection."""
        try:
            async with self._pool.connection() as connection:
                try:
                    if self._settings.get(connection) != access:
                        self._settings = {known: setting for known, setting in self._settings.items() if not known.closed}
                        self._settings.pop(connection, None)
                        await connection.execute(_SET_ACCESS, [access.tenant_id, access.token])
                        self._settings[connection] = access
                    yield connection
                except ReadOnlySqlTransaction:
                    # A server that lost its role in a failover keeps its sessions: only another one leads to the new server.
                    await connection.close()
                    raise
        except (OperationalError, InterfaceError, ReadOnlySqlTransaction) as error:
            raise PostgresUnreachable(str(error)) from error
