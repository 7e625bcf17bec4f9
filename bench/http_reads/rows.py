"""Rows to read: conversations short and long, memories, tools."""

from dataclasses import dataclass

from alicia import ids
from alicia.storage.pool import Pool

OWNER = "local"


@dataclass(frozen=True)
class Things:
    """Ids of what there is to read."""

    conversation: str
    message: str
    memory: str


async def fill(pool: Pool) -> Things:
    """Two hundred conversations of fifty messages, a thousand memories, and ten tools."""
    first = ids.new(ids.ConversationId)
    async with pool.connection() as conn:
        await conn.execute(
            """
            INSERT INTO alicia_conversations (id, title, status)
            SELECT generate_random_id('ac'), 'Talk ' || n, (ARRAY['active', 'archived'])[1 + n %% 2]
              FROM generate_series(1, 199) n
             UNION ALL VALUES (%s, 'First', 'active')
            """,
            (first,),
        )
        await conn.execute(_MESSAGES, {"length": 50, "id": None})
        await conn.execute(
            """
            INSERT INTO alicia_sentences (message_id, sentence_sequence_number, text)
            SELECT m.id, n, 'A sentence of some length, number ' || n
              FROM alicia_messages m
             CROSS JOIN generate_series(1, 3) n
             WHERE m.conversation_id = %s
            """,
            (first,),
        )
        await conn.execute(
            "INSERT INTO alicia_memory (content) SELECT 'Memory ' || n FROM generate_series(1, 1000) n"
        )
        await conn.execute(
            "INSERT INTO alicia_tools (name) SELECT 'tool ' || n FROM generate_series(1, 10) n"
        )
        await conn.execute("VACUUM ANALYZE")
        row = await (
            await conn.execute(
                """
                SELECT (SELECT id FROM alicia_messages WHERE conversation_id = %s ORDER BY id LIMIT 1),
                       (SELECT id FROM alicia_memory ORDER BY id LIMIT 1)
                """,
                (first,),
            )
        ).fetchone()
    assert row
    return Things(first, row[0], row[1])


async def add_conversation(pool: Pool, length: int) -> str:
    """One more, with so many messages; its id."""
    conversation_id = ids.new(ids.ConversationId)
    async with pool.connection() as conn:
        await conn.execute(
            "INSERT INTO alicia_conversations (id, title, status) VALUES (%s, %s, 'archived')",
            (conversation_id, f"{length} messages"),
        )
        await conn.execute(_MESSAGES, {"length": length, "id": conversation_id})
        await conn.execute("VACUUM ANALYZE")
    return conversation_id


_MESSAGES = """
    INSERT INTO alicia_messages (conversation_id, sequence_number, message_role, contents)
    SELECT c.id, n, (ARRAY['user', 'assistant'])[1 + n %% 2]::message_role,
           'What was said about ' || (ARRAY['a mountain', 'the sea', 'rice', 'music'])[1 + n %% 4]
           || ', at some length, number ' || n
      FROM alicia_conversations c
     CROSS JOIN generate_series(1, %(length)s) n
     WHERE %(id)s::text IS NULL OR c.id = %(id)s
"""
