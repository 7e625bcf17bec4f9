"""Makes what was erased vanish from the database's files too: PostgreSQL leaves old rows lying about."""

import asyncio
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

# VACUUM keeps the old rows for every transaction that may still read them: one with an older snapshot, and,
# since its own snapshot counts too, one that was writing before the erasure, in whichever database.
_OLDER: Final[LiteralString] = """
    SELECT count(*)
      FROM pg_stat_activity
     WHERE pid <> pg_backend_pid()
       AND (age(backend_xid) > age(%(now)s::xid)
            OR datname = current_database() AND age(backend_xmin) > age(%(now)s::xid))
"""
_PATIENCE: Final = 60.0

_AHEAD: Final[LiteralString] = """
    SELECT count(*)
      FROM pg_ls_waldir()
     WHERE name ~ '^[0-9A-F]{24}$'
       AND name > pg_walfile_name(pg_current_wal_lsn())
"""
_SWITCHES: Final = 100
_ROUNDS: Final = 2


class ScrubRefused(AliciaError):
    """The database's role may not do this; the text says what an operator has to run."""


async def scrub(url: str) -> None:
    """Write every table and index anew, and throw the write-ahead log of before away.

    Takes as long as writing the database takes, and locks one table at a time; waits for the transactions
    that are open when it begins. ScrubRefused without the right to it, or when one of them stays open; the
    erased is then gone from all queries, but not yet from the files.
    """
    try:
        async with await AsyncConnection.connect(url, autocommit=True) as conn:
            await _outlast_transactions(conn)
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


async def _outlast_transactions(conn: AsyncConnection[tuple[object, ...]]) -> None:
    row = await (await conn.execute("SELECT pg_current_xact_id()::xid::text")).fetchone()
    now = row[0] if row else None
    try:
        async with asyncio.timeout(_PATIENCE):
            while (await (await conn.execute(_OLDER, {"now": now})).fetchone()) != (0,):
                await conn.execute("SELECT pg_sleep(0.05)")
    except TimeoutError:
        raise ScrubRefused(
            "The database's files were not cleaned: a transaction stays open that may still read what was "
            "erased. End it (pg_stat_activity shows it), and erase again."
        ) from None


async def _renew_log(conn: AsyncConnection[tuple[object, ...]]) -> None:
    # A recycled segment is an old file under a new name, with all that stood in it. Some may lie ready, or be
    # made when another erasure ends just now: each is used up, which writes over all of it. The last switch
    # must lead to a file that was not there before.
    await conn.execute("ALTER SYSTEM SET wal_recycle = off")
    await conn.execute("SELECT pg_reload_conf()")
    try:
        rounds_without = 0
        for _ in range(_SWITCHES):
            await conn.execute("SELECT pg_switch_wal()")
            await conn.execute("CHECKPOINT")
            ahead = await (await conn.execute(_AHEAD)).fetchone()
            rounds_without = rounds_without + 1 if ahead == (0,) else 0
            if rounds_without > _ROUNDS:
                break
    finally:
        await conn.execute("ALTER SYSTEM RESET wal_recycle")
        await conn.execute("SELECT pg_reload_conf()")
