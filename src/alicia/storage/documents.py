"""The memories that a document was split into."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from psycopg.types.json import Jsonb

from alicia.ids import MemoryId
from alicia.storage.pool import Connection
from alicia.storage.rows import fetch_all


class Chunk(Struct, frozen=True, kw_only=True):
    """A piece of a document as it is stored; `source_info` has its `hash` and `position`."""

    id: MemoryId
    source_info: dict[str, Any]


async def chunks_of(conn: Connection, owner: str, document: str) -> list[Chunk]:
    """What an owner's document was split into, in its order."""
    return await fetch_all(
        conn,
        Chunk,
        """
        SELECT id, source_info
          FROM alicia_memory
         WHERE created_by = %(owner)s
           AND source_type = 'document'
           AND source_info @> %(document)s
           AND deleted_at IS NULL
         ORDER BY alicia_position(source_info), id
        """,
        {"owner": owner, "document": Jsonb({"document": document})},
    )


async def move_chunk(conn: Connection, owner: str, chunk_id: str, source_info: dict[str, Any]) -> None:
    """Say where in its document a piece now stands."""
    await conn.execute(
        "UPDATE alicia_memory SET source_info = %s WHERE id = %s AND created_by = %s",
        (Jsonb(source_info), chunk_id, owner),
    )


async def drop_chunks(conn: Connection, owner: str, chunk_ids: Sequence[str]) -> None:
    """Delete, softly, what a document no longer has."""
    await conn.execute(
        """
        UPDATE alicia_memory
           SET deleted_at = now() AT TIME ZONE 'utc'
         WHERE id = ANY(%s)
           AND created_by = %s
           AND deleted_at IS NULL
        """,
        (list(chunk_ids), owner),
    )
