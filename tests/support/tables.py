"""What tests read from the tables to compare it with the wire."""

from typing import Any, LiteralString

from psycopg.rows import dict_row

from alicia.storage.pool import Pool


async def rows(pool: Pool, sql: LiteralString, *values: object) -> list[tuple[object, ...]]:
    """All rows of a statement."""
    async with pool.connection() as conn:
        cursor = await conn.execute(sql, values)
        return await cursor.fetchall()


async def records(pool: Pool, sql: LiteralString, *values: object) -> list[dict[str, Any]]:
    """All rows of a statement, each by its columns' names."""
    async with pool.connection() as conn, conn.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(sql, values)
        return await cursor.fetchall()


async def journal(pool: Pool, conversation_id: str) -> list[bytes]:
    """The conversation's durable stanzas, oldest first."""
    found = await rows(
        pool,
        "SELECT envelope FROM alicia_stanzas WHERE conversation_id = %s ORDER BY stanza_id DESC",
        conversation_id,
    )
    return [data for (data,) in found if isinstance(data, bytes)]


async def message(pool: Pool, message_id: str) -> tuple[object, ...]:
    """A message's contents and completion status."""
    sql = "SELECT contents, completion_status FROM alicia_messages WHERE id = %s"
    return (await rows(pool, sql, message_id))[0]


async def unfinished(pool: Pool, conversation_id: str) -> list[tuple[object, ...]]:
    """Messages and sentences that are still streaming."""
    return await rows(
        pool,
        """
        SELECT id FROM alicia_messages WHERE conversation_id = %s AND completion_status = 'streaming'
         UNION ALL
        SELECT s.id
          FROM alicia_sentences s
          JOIN alicia_messages m ON m.id = s.message_id
         WHERE m.conversation_id = %s
           AND s.completion_status = 'streaming'
        """,
        conversation_id,
        conversation_id,
    )
