"""A database comes to the newest schema, or the runner says why it will not touch it."""

import asyncio
from pathlib import Path

import psycopg
import pytest

from alicia.errors import AliciaError, DatabaseUnavailable
from alicia.storage import migrate as migrations
from alicia.storage.dump import dump
from alicia.storage.migrate import Migration, SchemaError, known_migrations, migrate, pending

SCHEMA = Path(migrations.__file__).parent / "schema.sql"


async def test_an_empty_database_gets_all_migrations_once(empty_database_url: str) -> None:
    names = [migration.name for migration in known_migrations()]
    assert names == sorted(names)
    assert await pending(empty_database_url) == names
    assert await migrate(empty_database_url) == names
    assert await migrate(empty_database_url) == []
    assert await pending(empty_database_url) == []


async def test_runs_at_the_same_time_take_turns(empty_database_url: str) -> None:
    applied = await asyncio.gather(*(migrate(empty_database_url) for _ in range(4)))
    assert sorted(len(names) for names in applied) == [0, 0, 0, len(known_migrations())]


async def test_a_migration_that_was_edited_is_refused(empty_database_url: str) -> None:
    first = Migration("0001_a.sql", "CREATE TABLE a ()")
    await migrate(empty_database_url, [first])
    with pytest.raises(SchemaError, match=r"0001_a\.sql was changed"):
        await migrate(empty_database_url, [Migration("0001_a.sql", "CREATE TABLE a (b int)")])


async def test_line_ends_are_no_edit(empty_database_url: str) -> None:
    await migrate(empty_database_url, [Migration("0001_a.sql", "CREATE TABLE a (\n)")])
    assert await migrate(empty_database_url, [Migration("0001_a.sql", "CREATE TABLE a (\r\n)")]) == []


async def test_a_database_of_a_newer_version_is_refused(empty_database_url: str) -> None:
    first, second = Migration("0001_a.sql", "CREATE TABLE a ()"), Migration("0002_b.sql", "CREATE TABLE b ()")
    await migrate(empty_database_url, [first, second])
    with pytest.raises(SchemaError, match="newer version"):
        await migrate(empty_database_url, [first])


async def test_a_migration_cannot_slip_in_before_one_that_was_applied(empty_database_url: str) -> None:
    late = Migration("0002_b.sql", "CREATE TABLE b ()")
    await migrate(empty_database_url, [late])
    with pytest.raises(SchemaError, match="higher number"):
        await migrate(empty_database_url, [Migration("0001_a.sql", "CREATE TABLE a ()"), late])


async def test_a_run_that_fails_leaves_nothing(empty_database_url: str) -> None:
    good, bad = Migration("0001_a.sql", "CREATE TABLE a ()"), Migration("0002_b.sql", "CREATE TABLE")
    with pytest.raises(AliciaError, match=r"0002_b\.sql failed"):
        await migrate(empty_database_url, [good, bad])
    assert await migrate(empty_database_url, [good]) == ["0001_a.sql"]


async def test_a_server_that_is_away_is_no_fault_of_the_schema() -> None:
    with pytest.raises(DatabaseUnavailable):
        await migrate("postgresql://alicia@127.0.0.1:1/alicia?connect_timeout=2")


async def test_the_committed_schema_is_what_the_migrations_make(database_url: str) -> None:
    assert await dump(database_url) == SCHEMA.read_text("utf-8")


async def test_the_committed_schema_makes_itself_again(empty_database_url: str) -> None:
    async with await psycopg.AsyncConnection.connect(empty_database_url) as conn:
        await conn.execute(SCHEMA.read_bytes())
    assert await dump(empty_database_url) == SCHEMA.read_text("utf-8")
