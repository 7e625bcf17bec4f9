"""Addresses of the run's servers, and what a test does with them."""

from dataclasses import dataclass
from urllib.parse import quote

import psycopg
from psycopg import sql


@dataclass(frozen=True, slots=True)
class PostgresServer:
    """The run's PostgreSQL; databases are cheap (some 30 ms), so a test may have its own."""

    port: int
    password: str

    def url(self, database: str) -> str:
        return f"postgresql://alicia:{quote(self.password, safe='')}@127.0.0.1:{self.port}/{database}"

    def create(self, database: str, *, template: str = "template0") -> str:
        """Make a database, a copy of the template, and return its address."""
        self._execute("CREATE DATABASE {} TEMPLATE {}", database, template)
        return self.url(database)

    def drop(self, database: str) -> None:
        """Remove a database, whoever is still connected to it."""
        self._execute("DROP DATABASE IF EXISTS {} WITH (FORCE)", database)

    def _execute(self, statement: str, *names: str) -> None:
        query = sql.SQL(statement).format(*map(sql.Identifier, names))  # pyright: ignore[reportArgumentType]
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(query)


@dataclass(frozen=True, slots=True)
class LiveKitServer:
    """The run's LiveKit server and the key that makes tokens for it."""

    url: str
    api_key: str
    api_secret: str
