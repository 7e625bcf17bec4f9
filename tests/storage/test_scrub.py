"""What was erased is not in the database's files either."""

import asyncio
import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import LiteralString

import pytest
from psycopg import AsyncConnection, sql

from alicia.errors import AliciaError
from alicia.ledger.ledger import Ledger
from alicia.storage.pool import Pool, make_pool
from alicia.storage.scrub import ScrubRefused, scrub
from support.talk import Talk
from support.turns import whole_turn


def holding(folder: Path, words: Iterable[str]) -> list[str]:
    """The files that hold one of the words, as text or compressed into nothing else than bytes."""
    found: list[str] = []
    sought = [word.encode() for word in words]
    # Databases of other tests go while this looks: os.walk passes over what is no longer there.
    for path in (Path(place, name) for place, _, names in os.walk(folder) for name in names):
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            continue
        found += [f"{path.relative_to(folder)}: {word.decode()}" for word in sought if word in data]
    return found


async def data_folder(url: str) -> Path:
    async with await AsyncConnection.connect(url, autocommit=True) as conn:
        await conn.execute("CHECKPOINT")
        row = await (await conn.execute("SHOW data_directory")).fetchone()
        assert row
        return Path(row[0])


async def until_asked(pool: Pool, query: LiteralString) -> None:
    """Wait until another connection runs, or has just run, such a query."""
    asked = """
        SELECT count(*)
          FROM pg_stat_activity
         WHERE pid <> pg_backend_pid()
           AND datname = current_database()
           AND query LIKE %s
    """
    async with asyncio.timeout(30), pool.connection() as conn:
        await conn.set_autocommit(True)
        while (await (await conn.execute(asked, (query,))).fetchone()) == (0,):
            pass
        await conn.set_autocommit(False)


@pytest.mark.parametrize("kind", ["message", "conversation", "memory", "user"])
async def test_the_files_hold_nothing_of_what_was_erased(fresh_database_url: str, kind: str) -> None:
    word, name = f"word{secrets.token_hex(8)}", f"name{secrets.token_hex(8)}"
    async with make_pool(fresh_database_url, max_size=2) as pool:
        talk = await Talk.open(pool, name)
        turn = await whole_turn(talk, word)
        folder = await data_folder(fresh_database_url)
        assert holding(folder, [word])
        ledger = Ledger(pool)
        match kind:
            case "message":
                await ledger.erase_message(name, turn.asked)
                await ledger.erase_message(name, turn.answer)
            case "conversation":
                await ledger.erase_conversation(name, talk.id)
            case "memory":
                await ledger.erase_message(name, turn.asked)
                await ledger.erase_conversation(name, talk.id)
                await ledger.erase_memory(name, turn.memory)
            case _:
                await ledger.erase_user(name)
        if kind != "user":
            async with pool.connection() as conn:
                await conn.execute("DELETE FROM alicia_meta WHERE ref = %s", (f"user:{name}",))
    await scrub(fresh_database_url)
    assert holding(folder, [word, name] if kind == "user" else [word]) == []


@pytest.mark.parametrize("where", ["in the database", "in another database"])
async def test_a_transaction_that_may_still_read_the_erased_is_waited_for(
    fresh_database_url: str, database_url: str, where: str
) -> None:
    word = f"word{secrets.token_hex(8)}"
    async with make_pool(fresh_database_url, max_size=2) as pool:
        talk = await Talk.open(pool, "reader")
        await whole_turn(talk, word)
        folder = await data_folder(fresh_database_url)
        url = fresh_database_url if where == "in the database" else database_url
        async with await AsyncConnection.connect(url) as other, asyncio.TaskGroup() as tasks:
            await other.execute("SELECT pg_current_xact_id()")
            await Ledger(pool).erase_user("reader")
            scrubbing = tasks.create_task(scrub(fresh_database_url))
            await until_asked(pool, "%pg_sleep%")
            assert not scrubbing.done()
            await other.rollback()
    assert holding(folder, [word]) == []


async def test_without_the_right_it_is_said_what_an_operator_has_to_do(
    fresh_database_url: str,
) -> None:
    role = f"role_{secrets.token_hex(4)}"
    async with await AsyncConnection.connect(fresh_database_url, autocommit=True) as conn:
        await conn.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD 'x'").format(sql.Identifier(role)))
        info = conn.info
        weak = f"postgresql://{role}:x@{info.host}:{info.port}/{info.dbname}"
        with pytest.raises(ScrubRefused, match="superuser") as refused:
            await scrub(weak)
        assert isinstance(refused.value, AliciaError)
        await conn.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(role)))
    with pytest.raises(ScrubRefused, match="not cleaned"):
        await scrub("postgresql://nobody@127.0.0.1:9/none")
