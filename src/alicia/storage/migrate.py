"""Bring a database to the schema of this version, by numbered SQL files that never change once released."""

import hashlib
from importlib import resources
from typing import Final, LiteralString, cast

import psycopg
from msgspec import Struct
from psycopg import AsyncConnection
from psycopg.rows import TupleRow

from alicia.errors import AliciaError, ConfigError, DatabaseUnavailable

LOCK: Final = 0x616C696369610001
"""The advisory lock's key: "alicia", and one for migrations. Two runs at once take turns."""


class SchemaError(ConfigError):
    """The database's schema and this version of Alicia do not fit; the message says what to change."""


class Migration(Struct, frozen=True):
    """One SQL file."""

    name: str
    sql: str

    @property
    def checksum(self) -> str:
        """Of the text with Unix line ends, so that a checkout on Windows gives the same."""
        return hashlib.sha256(self.sql.replace("\r\n", "\n").encode()).hexdigest()


def known_migrations() -> list[Migration]:
    """The migrations that this version brings, in order."""
    folder = resources.files("alicia.storage") / "migrations"
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    return [Migration(f.name, f.read_text("utf-8")) for f in files]


async def migrate(url: str, migrations: list[Migration] | None = None) -> list[str]:
    """Apply what is missing, all or nothing, and give the names applied.

    Raises SchemaError for a database that a newer or an altered Alicia made, DatabaseUnavailable when
    PostgreSQL does not answer.
    """
    known = known_migrations() if migrations is None else migrations
    try:
        async with await AsyncConnection.connect(url) as conn:
            await conn.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
            await conn.execute(
                """
                CREATE TABLE IF NOT EXISTS alicia_migrations (
                    name       text PRIMARY KEY,
                    checksum   text NOT NULL,
                    applied_at timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'utc')
                )
                """
            )
            missing = _missing(known, await _applied(conn))
            for migration in missing:
                await _apply(conn, migration)
            return [migration.name for migration in missing]
    except psycopg.OperationalError as error:
        raise DatabaseUnavailable(f"PostgreSQL did not answer while migrating: {error}") from error


async def pending(url: str) -> list[str]:
    """The names that `migrate` would apply; raises as it does, and changes nothing."""
    try:
        async with await AsyncConnection.connect(url) as conn:
            found = await (
                await conn.execute("SELECT to_regclass('alicia_migrations') IS NOT NULL")
            ).fetchone()
            applied = await _applied(conn) if found and found[0] else {}
            return [migration.name for migration in _missing(known_migrations(), applied)]
    except psycopg.OperationalError as error:
        raise DatabaseUnavailable(f"PostgreSQL did not answer: {error}") from error


async def _applied(conn: AsyncConnection[TupleRow]) -> dict[str, str]:
    cursor = await conn.execute("SELECT name, checksum FROM alicia_migrations ORDER BY name")
    return dict(await cursor.fetchall())


def _missing(known: list[Migration], applied: dict[str, str]) -> list[Migration]:
    by_name = {migration.name: migration for migration in known}
    for name, checksum in applied.items():
        migration = by_name.get(name)
        if migration is None:
            raise SchemaError(
                f"The database has had migration {name}, which this version of Alicia does not know: "
                "a newer version made it. Update Alicia."
            )
        if migration.checksum != checksum:
            raise SchemaError(
                f"Migration {name} was changed after the database had it. Restore the file, "
                "and put the change into a new migration."
            )
    missing = [migration for migration in known if migration.name not in applied]
    newest = max(applied, default="")
    for migration in missing:
        if migration.name < newest:
            raise SchemaError(
                f"Migration {migration.name} comes before {newest}, which the database already has. "
                "Give it a higher number."
            )
    return missing


async def _apply(conn: AsyncConnection[TupleRow], migration: Migration) -> None:
    try:
        # The text comes from this package's own files, not from a caller.
        await conn.execute(cast("LiteralString", migration.sql))
        await conn.execute(
            "INSERT INTO alicia_migrations (name, checksum) VALUES (%s, %s)",
            (migration.name, migration.checksum),
        )
    except psycopg.errors.FeatureNotSupported as error:
        raise SchemaError(
            "PostgreSQL has no pgvector. Install the extension `vector` (0.8 or later) on the server."
        ) from error
    except psycopg.errors.InsufficientPrivilege as error:
        raise SchemaError(
            f"The database user may not apply migration {migration.name}: {error.diag.message_primary}. Run "
            "it as the owner of the database, or have an administrator run CREATE EXTENSION vector first."
        ) from error
    except psycopg.OperationalError:
        raise
    except psycopg.Error as error:
        raise AliciaError(f"Migration {migration.name} failed: {error}") from error
