# ruff: noqa: S608 (every statement is put together from literals of this file; the type checker proves it)
"""All of a user's rows as JSON, and the same rows back in.

The rows name no user, so that an archive can be taken to another server under another name, and an archive
of what was imported is the same archive again.
"""

from collections.abc import AsyncGenerator, Sequence
from typing import Any, Final, LiteralString

import msgspec
from msgspec import Struct
from psycopg import sql

from alicia.storage.meta import user_ref
from alicia.storage.pool import Connection

USER_META: Final = "user:"
"""What `ref` is in an archive for the user's own settings."""

_MINE: Final[LiteralString] = (
    "conversation_id IN (SELECT id FROM alicia_conversations WHERE user_id = %(owner)s)"
)
_OF_MY_MESSAGES: Final[LiteralString] = f"message_id IN (SELECT id FROM alicia_messages WHERE {_MINE})"
_MY_SOUND: Final[LiteralString] = (
    f"({_OF_MY_MESSAGES} OR id IN (SELECT ref FROM alicia_stanzas WHERE {_MINE} AND ref ^@ 'aa_'))"
)


class Table(Struct, frozen=True):
    """A table, what is left out of its rows, which rows are a user's, and in which order they come."""

    name: LiteralString
    mine: LiteralString
    order: LiteralString = 'id COLLATE "C"'
    private: tuple[LiteralString, ...] = ()
    """Columns that are not exported: who owns the row, what the database makes itself, and sound."""
    has_sound: bool = False


_IDS: Final[LiteralString] = " UNION ALL ".join(
    (
        "SELECT id FROM alicia_conversations WHERE user_id = %(owner)s",
        f"SELECT id FROM alicia_messages WHERE {_MINE}",
        f"SELECT id FROM alicia_sentences WHERE {_OF_MY_MESSAGES}",
        f"SELECT id FROM alicia_reasoning_steps WHERE {_OF_MY_MESSAGES}",
        f"SELECT id FROM alicia_tool_uses WHERE {_OF_MY_MESSAGES}",
        f"SELECT id FROM alicia_audio WHERE {_MY_SOUND}",
        f"SELECT id FROM alicia_memory_used WHERE {_MINE}",
        f"SELECT id FROM alicia_user_conversation_commentaries WHERE {_MINE}",
        "SELECT id FROM alicia_memory WHERE created_by = %(owner)s",
        "SELECT %(user_ref)s",
    )
)

TABLES: Final = (
    Table("alicia_conversations", "user_id = %(owner)s", private=("user_id", "agent_id", "agent_seen_at")),
    Table("alicia_stanzas", _MINE, 'conversation_id COLLATE "C", stanza_id DESC'),
    Table("alicia_messages", _MINE, 'conversation_id COLLATE "C", sequence_number'),
    Table("alicia_sentences", _OF_MY_MESSAGES, private=("audio_data",), has_sound=True),
    Table("alicia_reasoning_steps", _OF_MY_MESSAGES),
    Table("alicia_tool_uses", _OF_MY_MESSAGES),
    Table("alicia_audio", _MY_SOUND, private=("audio_data",), has_sound=True),
    Table(
        "alicia_memory",
        "created_by = %(owner)s",
        private=("created_by", "content_search", "embeddings_search"),
    ),
    Table("alicia_memory_used", _MINE),
    Table("alicia_user_conversation_commentaries", _MINE, private=("created_by",)),
    Table("alicia_meta", f"ref IN ({_IDS})"),
)
"""In the order in which they are imported: each after what its rows belong to."""


async def rows(conn: Connection, owner: str, table: Table) -> AsyncGenerator[str]:
    """A table's rows as JSON texts, a few at a time, always in the same order. Needs a transaction."""
    statement = sql.SQL(
        """
        SELECT (CASE to_jsonb(t) ->> 'ref' WHEN %(user_ref)s THEN to_jsonb(t) || %(nobody)s::jsonb
                ELSE to_jsonb(t) - %(private)s::text[] END)::text
          FROM {table} t
         WHERE {mine}
         ORDER BY {order}
        """
    ).format(table=sql.Identifier(table.name), mine=sql.SQL(table.mine), order=sql.SQL(table.order))
    async with conn.cursor(f"export_{table.name}") as cursor:
        cursor.itersize = 100
        nobody = _json({"ref": USER_META})
        parameters = _parameters(owner) | {"private": list(table.private), "nobody": nobody}
        await cursor.execute(statement, parameters)
        async for row in cursor:
            yield row[0]


async def sounds(conn: Connection, owner: str, table: Table) -> AsyncGenerator[tuple[str, int]]:
    """The ids of a table's rows with sound, each with its size in bytes. Needs a transaction."""
    statement = sql.SQL(
        """
        SELECT id, octet_length(audio_data)
          FROM {table}
         WHERE {mine}
           AND audio_data IS NOT NULL
         ORDER BY {order}
        """
    ).format(table=sql.Identifier(table.name), mine=sql.SQL(table.mine), order=sql.SQL(table.order))
    async with conn.cursor(f"sounds_{table.name}") as cursor:
        await cursor.execute(statement, _parameters(owner))
        async for row in cursor:
            yield row[0], row[1]


async def sound(conn: Connection, table: Table, row_id: str, start: int, length: int) -> bytes:
    """A range of one row's sound."""
    statement = sql.SQL("SELECT substring(audio_data FROM %s FOR %s) FROM {table} WHERE id = %s").format(
        table=sql.Identifier(table.name)
    )
    row = await (await conn.execute(statement, (start + 1, length, row_id))).fetchone()
    return row[0] if row else b""


def _parameters(owner: str) -> dict[str, Any]:
    return {"owner": owner, "user_ref": user_ref(owner)}


_FRESH: Final[LiteralString] = "r.conversation_id IN (SELECT id FROM fresh)"
_OF_FRESH_MESSAGE: Final[LiteralString] = """
    EXISTS (SELECT
              FROM alicia_messages m
              JOIN fresh ON fresh.id = m.conversation_id
             WHERE m.id = r.message_id)
"""
_GUARDS: Final[dict[str, LiteralString]] = {
    "alicia_conversations": "true",
    "alicia_stanzas": _FRESH,
    "alicia_messages": _FRESH,
    "alicia_sentences": _OF_FRESH_MESSAGE,
    "alicia_reasoning_steps": _OF_FRESH_MESSAGE,
    "alicia_tool_uses": f"{_OF_FRESH_MESSAGE} AND (r.conversation_id IS NULL OR {_FRESH})",
    "alicia_audio": f"""
        ({_OF_FRESH_MESSAGE}
         OR r.message_id IS NULL
            AND EXISTS (SELECT
                          FROM alicia_stanzas s
                          JOIN fresh ON fresh.id = s.conversation_id
                         WHERE s.ref = r.id))
    """,
    "alicia_memory": "true",
    "alicia_memory_used": f"""
        {_FRESH} AND {_OF_FRESH_MESSAGE}
        AND EXISTS (SELECT FROM alicia_memory y WHERE y.id = r.memory_id AND y.created_by = %(owner)s)
    """,
    "alicia_user_conversation_commentaries": f"{_FRESH} AND (r.message_id IS NULL OR {_OF_FRESH_MESSAGE})",
    "alicia_meta": f"""
        r.ref IN ({_IDS})
        AND NOT EXISTS (SELECT
                          FROM alicia_meta n
                         WHERE r.ref = %(user_ref)s AND n.ref = r.ref AND n.key = r.key)
    """,
}
"""What an archive may bring in: rows of the conversations that this import makes, and memories. So nothing
in an archive, however it was made, touches what is another user's, or what is there already."""


async def begin_import(conn: Connection) -> None:
    """Before the first row, in the transaction of the whole import."""
    await conn.execute("CREATE TEMP TABLE fresh (id text PRIMARY KEY) ON COMMIT DROP")


async def insert(
    conn: Connection, owner: str, table: Table, texts: Sequence[str], data: bytes | None = None
) -> int:
    """Store rows that are not there yet; how many. `data` is the sound of a single row."""
    columns = await _columns(conn, table)
    owned = {"alicia_conversations": "user_id"}.get(table.name, "created_by")
    forced: dict[str, Any] = {owned: owner} if owned in table.private else {}
    values = [
        sql.SQL("%(data)s") if name == "audio_data" else sql.SQL("r.{}").format(sql.Identifier(name))
        for name in columns
    ]
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    statement = sql.SQL(
        """
        WITH added AS (
            INSERT INTO {table} ({names})
            SELECT {values}
              FROM jsonb_populate_recordset(
                       NULL::{table},
                       (SELECT jsonb_agg({row}) FROM unnest(%(texts)s::jsonb[]) AS e (each))) r
             WHERE {guard}
                ON CONFLICT DO NOTHING
            RETURNING {key}),
        noted AS (
            INSERT INTO fresh SELECT added.{key} FROM added WHERE %(is_conversation)s)
        SELECT count(*) FROM added
        """
    ).format(
        table=sql.Identifier(table.name),
        names=names,
        values=sql.SQL(", ").join(values),
        row=sql.SQL(
            "CASE WHEN each ->> 'ref' = %(user_meta)s THEN each || %(settings)s::jsonb "
            "ELSE each || %(forced)s::jsonb END"
        ),
        guard=sql.SQL(_GUARDS[table.name]),
        key=sql.Identifier("conversation_id" if table.name == "alicia_stanzas" else "id"),
    )
    parameters = _parameters(owner) | {
        "texts": list(texts),
        "data": data,
        "forced": _json(forced),
        "user_meta": USER_META,
        "settings": _json({"ref": user_ref(owner)}),
        "is_conversation": table.name == "alicia_conversations",
    }
    row = await (await conn.execute(statement, parameters)).fetchone()
    return row[0] if row else 0


async def borrowed_sound(conn: Connection, owner: str) -> bool:
    """Whether a message of the owner's names a recording that belongs to somebody else's."""
    cursor = await conn.execute(
        """
        SELECT EXISTS (SELECT
                         FROM alicia_messages m
                         JOIN alicia_conversations c ON c.id = m.conversation_id
                         JOIN alicia_audio a ON a.id = m.audio_id
                         JOIN alicia_messages n ON n.id = a.message_id
                         JOIN alicia_conversations d ON d.id = n.conversation_id
                        WHERE c.id IN (SELECT id FROM fresh)
                          AND d.user_id <> %s)
        """,
        (owner,),
    )
    row = await cursor.fetchone()
    return bool(row and row[0])


def _json(value: dict[str, Any]) -> str:
    return msgspec.json.encode(value).decode()


async def _columns(conn: Connection, table: Table) -> list[str]:
    cursor = await conn.execute(
        """
        SELECT attname
          FROM pg_attribute
         WHERE attrelid = %s::regclass
           AND attnum > 0
           AND NOT attisdropped
           AND attgenerated = ''
         ORDER BY attnum
        """,
        (table.name,),
    )
    left_out = {"agent_id", "agent_seen_at"}
    return [row[0] for row in await cursor.fetchall() if row[0] not in left_out]
