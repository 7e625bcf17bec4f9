"""Writing memories outside of conversations: under a given id, and back from a soft deletion."""

from alicia.storage.memories import Memory, NewMemory, columns
from alicia.storage.pool import Connection
from alicia.storage.rows import fetch_one


async def put_memory(conn: Connection, owner: str, memory_id: str, new: NewMemory) -> None:
    """Store a memory under this id, or change the one that is there, if it is this owner's.

    Rating and pin are the user's own and stay as they are.
    """
    await conn.execute(
        """
        INSERT INTO alicia_memory AS m (id, content, embeddings, embeddings_info, importance, confidence,
                                        user_rating, created_by, source_type, source_info, tags, pinned,
                                        memory_type)
        VALUES (%(id)s, %(content)s, %(embeddings)s, %(embeddings_info)s, %(importance)s, %(confidence)s,
                %(user_rating)s, %(owner)s, %(source_type)s, %(source_info)s, %(tags)s, %(pinned)s,
                %(memory_type)s)
            ON CONFLICT (id) DO UPDATE
           SET content = excluded.content,
               embeddings = excluded.embeddings,
               embeddings_info = excluded.embeddings_info,
               importance = excluded.importance,
               confidence = excluded.confidence,
               source_info = m.source_info || excluded.source_info,
               tags = excluded.tags,
               memory_type = coalesce(excluded.memory_type, m.memory_type)
         WHERE m.created_by = excluded.created_by
        """,
        columns(owner, memory_id, new),
    )


async def restore_memory(conn: Connection, owner: str, memory_id: str) -> Memory | None:
    """Undo a soft deletion; None if there is nothing to undo: an erased memory has no content left."""
    return await fetch_one(
        conn,
        Memory,
        """
           UPDATE alicia_memory
              SET deleted_at = NULL
            WHERE id = %s
              AND created_by = %s
              AND deleted_at IS NOT NULL
              AND content <> ''
        RETURNING id, content, embeddings_info, importance, confidence, user_rating, created_by, source_type,
                  source_info, tags, pinned, archived, memory_type, superseded_by, created_at, updated_at,
                  deleted_at
        """,
        (memory_id, owner),
    )
