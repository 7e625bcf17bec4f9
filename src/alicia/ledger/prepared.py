"""Statements that a connection plans once and runs by name, several of them in one round trip."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import count
from typing import Any, Final, LiteralString, TypeAlias, cast
from weakref import WeakKeyDictionary

from msgspec import Struct
from psycopg import AsyncClientCursor
from psycopg.errors import InvalidSqlStatementName

from alicia.storage.pool import Connection

Statement: TypeAlias = tuple[LiteralString, Mapping[str, Any]]


class _Shape(Struct, frozen=True):
    """A statement as PREPARE wants it, and the parameters in the order in which EXECUTE gives them."""

    numbered: str
    arguments: LiteralString


_PARAMETER: Final = re.compile(r"%\((\w+)\)s")
_names: Final = (f"alicia_{number}" for number in count())
_prepared: Final[WeakKeyDictionary[Connection, dict[LiteralString, str]]] = WeakKeyDictionary()


async def run_together(conn: Connection, statements: Sequence[Statement]) -> None:
    """Run the statements in order, each seeing what those before it did, in one transaction and round trip.

    psycopg merges the parameters into the text, so that all fit into one message of the simple protocol,
    which needs no BEGIN and no COMMIT; in pipeline mode the same took nearly twice as long. What is sent are
    EXECUTEs of prepared statements, which saves a third; where the connection must not prepare, because a
    pooler stands between, the statements themselves.
    """
    cursor = AsyncClientCursor(conn)
    if conn.prepare_threshold is None:
        await cursor.execute(";".join([cursor.mogrify(*statement) for statement in statements]).encode())
        return
    done = _prepared.setdefault(conn, {})
    new: dict[LiteralString, str] = {sql: next(_names) for sql, _ in statements if sql not in done}
    parts = [f"PREPARE {name} AS {_shape(sql).numbered}" for sql, name in new.items()]
    for sql, params in statements:
        arguments = cursor.mogrify(_shape(sql).arguments, params)
        parts.append(f"EXECUTE {done.get(sql) or new[sql]}{arguments}")
    try:
        await cursor.execute(";".join(parts).encode())
    except InvalidSqlStatementName:
        # psycopg has the server forget everything when a transaction on this connection is rolled back.
        if not done:
            raise
        done.clear()
        await run_together(conn, statements)
        return
    # Only now is it certain that the server has them; after a failure they are prepared under new names.
    done.update(new)


@cache
def _shape(sql: LiteralString) -> _Shape:
    names = list(dict.fromkeys(_PARAMETER.findall(sql)))
    numbered = _PARAMETER.sub(lambda found: f"${names.index(found[1]) + 1}", sql)
    arguments = ", ".join(f"%({name})s" for name in names)
    # Nothing but the names of the statement's own parameters, and so a literal too.
    return _Shape(numbered, cast("LiteralString", f"({arguments})"))
