"""What benchmarks of the database share: a PostgreSQL of their own, and tables of targets met and missed."""

import secrets
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from psycopg import AsyncConnection, sql

from alicia.local.postgres import Postgres
from alicia.storage.migrate import migrate

Target: TypeAlias = tuple[str, str, str, bool]
"""What was measured, the figure, what was asked for, and whether it was met."""


@asynccontextmanager
async def scratch_postgres(settings: Mapping[str, str] | None = None) -> AsyncGenerator[Postgres]:
    """The embedded PostgreSQL with its usual settings, in a folder that goes away."""
    with TemporaryDirectory(prefix="alicia-bench-") as folder:
        server = Postgres(Path(folder), password=secrets.token_hex(8), settings=settings)
        await server.initialise()
        await server.start()
        try:
            await server.ready()
            yield server
        finally:
            await server.stop(within=30)


async def migrated(server: Postgres, name: str) -> str:
    """A new database with the schema; its address."""
    async with await AsyncConnection.connect(server.url("postgres"), autocommit=True) as conn:
        await conn.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    await migrate(server.url(name))
    return server.url(name)


def show(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table."""
    widths = [max(len(row[place]) for row in (header, *rows)) for place in range(len(header))]
    print(f"\n{title}")
    for row in (header, ["-" * width for width in widths], *rows):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def limits(targets: Sequence[Target]) -> str:
    """The same as a table for the results, of which bench/report.py makes a summary."""
    lines = ["| limit | measured | wanted |", "|---|---:|---:|"]
    for name, measured, target, met in targets:
        lines.append(f"| {name} | {measured}{'' if met else ', missed'} | {target} |")
    return "\n".join(lines)


def judge(targets: Sequence[Target]) -> None:
    """Print what was measured against what was asked, and end with 1 if anything was missed."""
    rows = [(name, measured, target, "met" if met else "MISSED") for name, measured, target, met in targets]
    show("Targets", ("what", "measured", "target", ""), rows)
    if not all(met for *_, met in targets):
        sys.exit(1)
