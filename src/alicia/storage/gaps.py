"""Memories without a vector of the model in use: after a failure, an edit, or a change of model."""

from msgspec import Struct
from psycopg.types.json import Jsonb

from alicia.ids import MemoryId
from alicia.storage.memories import Embedding
from alicia.storage.pool import Connection
from alicia.storage.rows import fetch_all


class Gap(Struct, frozen=True, kw_only=True):
    """A memory that is to be embedded."""

    id: MemoryId
    content: str


async def owners_with_gaps(conn: Connection, model: str) -> dict[str, int]:
    """Whose memories lack a vector of this model, and how many of them; no memory is read."""
    cursor = await conn.execute(
        """
        SELECT created_by, count(*)
          FROM alicia_memory
         WHERE deleted_at IS NULL
           AND content <> ''
           AND (embeddings_info ->> 'model' IS NULL
                OR embeddings_info ->> 'model' < %(model)s
                OR embeddings_info ->> 'model' > %(model)s)
         GROUP BY created_by
         ORDER BY created_by
        """,
        {"model": model},
    )
    return {row[0]: row[1] for row in await cursor.fetchall()}


async def progress(conn: Connection, model: str) -> tuple[int, int]:
    """How many of how many memories have a vector of this model; none is read."""
    cursor = await conn.execute(
        """
        SELECT created_by, count(*), count(*) FILTER (WHERE embeddings_info ->> 'model' = %(model)s)
          FROM alicia_memory
         WHERE deleted_at IS NULL
           AND content <> ''
         GROUP BY created_by
        """,
        {"model": model},
    )
    rows = await cursor.fetchall()
    return sum(row[2] for row in rows), sum(row[1] for row in rows)


async def gaps(conn: Connection, owner: str, model: str, limit: int) -> list[Gap]:
    """Some of an owner's memories that lack a vector of this model."""
    return await fetch_all(
        conn,
        Gap,
        """
        SELECT id, content
          FROM alicia_memory
         WHERE created_by = %(owner)s
           AND deleted_at IS NULL
           AND content <> ''
           AND (embeddings_info ->> 'model' IS NULL
                OR embeddings_info ->> 'model' < %(model)s
                OR embeddings_info ->> 'model' > %(model)s)
         LIMIT %(limit)s
        """,
        {"owner": owner, "model": model, "limit": limit},
    )


async def fill(conn: Connection, owner: str, gap: Gap, embedding: Embedding) -> bool:
    """Set the vector, unless the content has changed since it was read; whether it was set."""
    cursor = await conn.execute(
        """
        UPDATE alicia_memory
           SET embeddings = %(embeddings)s,
               embeddings_info = %(info)s
         WHERE id = %(id)s
           AND created_by = %(owner)s
           AND content = %(content)s
        """,
        {
            "id": gap.id,
            "owner": owner,
            "content": gap.content,
            "embeddings": embedding.padded,
            "info": Jsonb(embedding.info),
        },
    )
    return cursor.rowcount == 1
