"""The database inside the embedded PostgreSQL."""

from urllib.parse import urlsplit

import psycopg
from psycopg import sql


async def ensure_database(url: str) -> bool:
    """Make the database that `url` names unless it is there; return whether it had to be made."""
    name = urlsplit(url).path.lstrip("/")
    async with await psycopg.AsyncConnection.connect(url, dbname="postgres", autocommit=True) as connection:
        found = await connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name])
        if await found.fetchone() is not None:
            return False
        await connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    return True
