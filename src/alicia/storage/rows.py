"""Rows as frozen structs whose fields are the columns of the statement that reads them."""

from typing import LiteralString, TypeVar

from psycopg import AsyncConnection
from psycopg.abc import Params
from psycopg.rows import TupleRow, class_row

T = TypeVar("T")


async def fetch_all(
    conn: AsyncConnection[TupleRow], kind: type[T], sql: LiteralString, params: Params | None = None
) -> list[T]:
    """Every row, in the statement's order."""
    async with conn.cursor(row_factory=class_row(kind)) as cursor:
        await cursor.execute(sql, params)
        return await cursor.fetchall()


async def fetch_one(
    conn: AsyncConnection[TupleRow], kind: type[T], sql: LiteralString, params: Params | None = None
) -> T | None:
    """The first row, or None."""
    async with conn.cursor(row_factory=class_row(kind)) as cursor:
        await cursor.execute(sql, params)
        return await cursor.fetchone()
