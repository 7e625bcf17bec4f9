"""Makes what was erased vanish from the database's files too: PostgreSQL leaves old rows lying about."""

from typing import Final, LiteralString

import psycopg
from psycopg import AsyncConnection, sql

from alicia.errors import AliciaError

_TABLES: Final[LiteralString] = """
    SELECT c.relname
      FROM pg_class c
     WHERE c.relnamespace = 'public'::regnamespace
       AND c.relkind = 'r'
       AND c.relname LIKE 'alicia%'
     ORDER BY c.relname
"""


class ScrubRefused(AliciaError):
    """The database's role may not do this; the text says what an operator has to run."""


async def scrub(url: str) -> None:
    """Write every table and index anew, and throw the write-ahead log of before away.

    Takes as long as writing the database takes, and locks one table at a time. ScrubRefused without the
    right to it; the erased is then gone from all queries, but not yet from the files.
    """
    try:
        async with await AsyncConnection.connect(url, autocommit=True) as conn:
            tables = await (await conn.execute(_TABLES)).fetchall()
            for (name,) in tables:
                await conn.execute(sql.SQL("VACUUM (FULL, ANALYZE) {}").format(sql.Identifier(name)))
            # The planner's statistics hold the commonest values of columns, as text.
            await conn.execute("VACUUM FULL pg_statistic")
            await _renew_log(conn)
    except psycopg.errors.InsufficientPrivilege as error:
        raise ScrubRefused(
            "To clean the database's files too, a superuser runs VACUUM FULL, CHECKPOINT and pg_switch_wal()."
        ) from error
    except psycopg.OperationalError as error:
        raise ScrubRefused(f"The database's files were not cleaned: {error}") from error


async def _renew_log(conn: AsyncConnection[tuple[object, ...]]) -> None:
    # A recycled segment is an old file under a new name, with all that stood in it.
    await conn.execute("ALTER SYSTEM SET wal_recycle = off")
    await conn.execute("SELECT pg_reload_conf()")
    try:
        for _ in range(2):
            await conn.execute("SELECT pg_switch_wal()")
            await conn.execute("CHECKPOINT")
    finally:
        await conn.execute("ALTER SYSTEM RESET wal_recycle")
        await conn.execute("SELECT pg_reload_conf()")
