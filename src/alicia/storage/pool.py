"""Connections to PostgreSQL."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

import msgspec
from psycopg import AsyncConnection, InterfaceError, OperationalError
from psycopg.rows import TupleRow
from psycopg.types.json import set_json_dumps, set_json_loads
from psycopg_pool import AsyncConnectionPool

from alicia.errors import DatabaseUnavailable
from alicia.storage.moments import UtcBinaryLoader, UtcLoader

Connection: TypeAlias = AsyncConnection[TupleRow]

AWAY: Final = (OperationalError, InterfaceError)
"""What is raised when PostgreSQL, or the way to it, is gone; a pool's own errors are among these."""


@contextmanager
def reaching() -> Generator[None]:
    """Whatever PostgreSQL raises in here when it is away is a DatabaseUnavailable outside."""
    try:
        yield
    except AWAY as error:
        raise DatabaseUnavailable(f"PostgreSQL did not answer: {error}") from error


class Pool(AsyncConnectionPool[Connection]):
    """One that loses no cancellation.

    The library waits for a connection with `asyncio.wait_for`, which before Python 3.12 drops a cancellation
    that comes just as there is one: the task would go on, and whoever ends it would wait for ever.
    """

    async def getconn(self, timeout: float | None = None) -> Connection:  # noqa: ASYNC109 (the library's)
        task = asyncio.current_task()
        before = task.cancelling() if task else 0
        conn = await super().getconn(timeout)
        if task and task.cancelling() > before:
            await self.putconn(conn)
            raise asyncio.CancelledError
        return conn


def make_pool(
    url: str, *, min_size: int = 1, max_size: int = 10, pooler: bool = False, timeout: float = 10.0
) -> Pool:
    """A pool that is not open yet: use it as an async context manager.

    Statements commit by themselves; what belongs together says `async with conn.transaction()`. Set `pooler`
    behind a transaction pooler such as PgBouncer, where a prepared statement may be sought on the wrong
    server connection. `timeout` is how long a caller waits for a connection.
    """
    # psycopg reads None as "never prepare".
    prepare = {"prepare_threshold": None} if pooler else {}
    return Pool(
        url,
        kwargs={"autocommit": True, **prepare},
        min_size=min_size,
        max_size=max_size,
        timeout=timeout,
        open=False,
        configure=configure,
    )


async def configure(conn: Connection) -> None:
    """Make a connection read rows as the rest of the code expects: aware timestamps, JSON by msgspec."""
    conn.adapters.register_loader("timestamp", UtcLoader)
    conn.adapters.register_loader("timestamp", UtcBinaryLoader)
    set_json_loads(msgspec.json.decode, conn)
    set_json_dumps(_dumps, conn)


def _dumps(value: Any) -> bytes:
    return msgspec.json.encode(value)
