"""Statements that a connection plans once and runs by name, several of them in one round trip."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import blake2b
from typing import Any, Final, LiteralString, TypeAlias, cast
from weakref import WeakKeyDictionary

from msgspec import Struct
from psycopg import AsyncClientCursor

from alicia.storage.pool import Connection

Statement: TypeAlias = tuple[LiteralString, Mapping[str, Any]]


class _Prepared(Struct, frozen=True):
    name: str
    prepare: str
    execute: LiteralString


_PARAMETER: Final = re.compile(r"%\((\w+)\)s")
_prepared: Final[WeakKeyDictionary[Connection, set[str]]] = WeakKeyDictionary()


async def run_together(conn: Connection, statements: Sequence[Statement]) -> None:
    """Run the statements in order, each seeing what those before it did, in one transaction and round trip.

    psycopg merges the parameters into the text, so that all fit into one message of the simple protocol,
    which needs no BEGIN and no COMMIT; in pipeline mode the same took nearly twice as long. What is sent are
    EXECUTEs of prepared statements, which saves a third; where the connection must not prepare, because a
    pooler stands between, the statements themselves.
    """
    cursor = AsyncClientCursor(conn)
    if conn.prepare_threshold is None:
        parts = [cursor.mogrify(sql, params) for sql, params in statements]
    else:
        done = _prepared.setdefault(conn, set())
        known = [_prepare(sql) for sql, _ in statements]
        parts = [one.prepare for one in {one.name: one for one in known}.values() if one.name not in done]
        # They come first and outlive even a transaction that fails, so they count as done from here on.
        done.update(one.name for one in known)
        parts += [
            cursor.mogrify(one.execute, params) for one, (_, params) in zip(known, statements, strict=True)
        ]
    await cursor.execute(";".join(parts).encode())


@cache
def _prepare(sql: LiteralString) -> _Prepared:
    names = list(dict.fromkeys(_PARAMETER.findall(sql)))
    numbered = _PARAMETER.sub(lambda found: f"${names.index(found[1]) + 1}", sql)
    name = f"alicia_{blake2b(sql.encode(), digest_size=8).hexdigest()}"
    arguments = ", ".join(f"%({parameter})s" for parameter in names)
    # Only words of the statement itself, a literal, go into the text.
    execute = cast("LiteralString", f"EXECUTE {name} ({arguments})" if names else f"EXECUTE {name}")
    return _Prepared(name, f"PREPARE {name} AS {numbered}", execute)
