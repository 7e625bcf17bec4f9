"""The statements of one append, joined into one round trip and one transaction."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, LiteralString, TypeVar

import msgspec
from psycopg.types.json import Jsonb

from alicia import ids
from alicia.errors import LocalProtocolError
from alicia.ledger.entries import Entry, Nothing, Private
from alicia.ledger.prepared import Statement, run_together
from alicia.protocol.messages import Body, Map
from alicia.storage.meta import text_of
from alicia.storage.pool import Connection

B = TypeVar("B", bound=Body)
P = TypeVar("P", bound=Private)


class Batch:
    """Collects statements and rows of `alicia_meta`, in order."""

    def __init__(self) -> None:
        self._statements: list[Statement] = []
        self._meta: list[dict[str, str]] = []

    def add(self, sql: LiteralString, params: Mapping[str, Any]) -> None:
        """A statement that sees what those before it did."""
        self._statements.append((sql, params))

    def note(self, ref: str, **values: Any) -> None:
        """Body fields that have no column become meta of the row that they are about; None is left out."""
        self.note_all(ref, {key: value for key, value in values.items() if value is not None})

    def note_all(self, ref: str, values: Map) -> None:
        """Rows of `alicia_meta`, one per key."""
        self._meta += [
            # Made here, an id costs a fifth of what it costs in SQL.
            {"id": ids.new(ids.MetaId), "ref": ref, "key": key, "value": text_of(value)}
            for key, value in values.items()
        ]

    async def send(self, conn: Connection) -> None:
        """Do everything or nothing, in one round trip."""
        statements = list(self._statements)
        if self._meta:
            statements.append((_INSERT_META, {"rows": records(self._meta)}))
        await run_together(conn, statements)


_INSERT_META: Final[LiteralString] = """
    INSERT INTO alicia_meta (id, ref, key, value)
    SELECT * FROM json_to_recordset(%(rows)s) AS meta (id text, ref text, key text, value text)
"""

_WRITERS: Final[dict[type[Body], tuple[type[Private], Callable[[Batch, Any, Any], None]]]] = {}


def writes(
    kind: type[B], private: type[P] = Nothing
) -> Callable[[Callable[[Batch, B, P], None]], Callable[[Batch, B, P], None]]:
    """Register the one function that writes the rows of this body."""

    def register(writer: Callable[[Batch, B, P], None]) -> Callable[[Batch, B, P], None]:
        _WRITERS[kind] = (private, writer)
        return writer

    return register


def writable() -> frozenset[type[Body]]:
    """The bodies that have a writer."""
    return frozenset(_WRITERS)


def write(batch: Batch, entry: Entry) -> None:
    """Add an entry's rows to the batch."""
    kind = type(entry.body)
    if kind not in _WRITERS:
        raise LocalProtocolError(f"{kind.__name__} is never stored")
    expected, writer = _WRITERS[kind]
    given = expected() if entry.private is None else entry.private
    if not isinstance(given, expected):
        raise LocalProtocolError(f"{kind.__name__} has no use for {type(given).__name__}")
    writer(batch, entry.body, given)
    if entry.meta:
        own_id: str | None = getattr(entry.body, "id", None)
        batch.note_all(own_id or entry.body.conversation_id, entry.meta)


def records(rows: Sequence[Map]) -> str:
    """Rows for `json_to_recordset`, which psycopg's adaptation of arrays cannot match for speed."""
    return msgspec.json.encode(rows).decode()


def json(value: Any) -> Jsonb | None:
    """A value for a jsonb column; None is the column's NULL."""
    return None if value is None else Jsonb(value)
