"""Ids that PostgreSQL makes are like those that Python makes."""

from collections import Counter

import psycopg
import pytest

from alicia import ids
from alicia.storage.pool import Connection

TABLES = {
    "alicia_conversations": ids.ConversationId,
    "alicia_messages": ids.MessageId,
    "alicia_sentences": ids.SentenceId,
    "alicia_audio": ids.AudioId,
    "alicia_memory": ids.MemoryId,
    "alicia_memory_used": ids.MemoryUseId,
    "alicia_tools": ids.ToolId,
    "alicia_tool_uses": ids.ToolUseId,
    "alicia_reasoning_steps": ids.ReasoningStepId,
    "alicia_user_conversation_commentaries": ids.NoteId,
    "alicia_meta": ids.MetaId,
}


async def test_a_random_id_has_the_prefix_and_21_letters_of_the_alphabet(conn: Connection) -> None:
    cursor = await conn.execute("SELECT generate_random_id('am') FROM generate_series(1, 4096)")
    made = [row[0] for row in await cursor.fetchall()]
    assert len(set(made)) == len(made)
    for text in made:
        ids.parse(ids.MessageId, text)
    # Every letter at every place, and none much more often than the others: 64 are expected of each.
    for place in range(ids.LENGTH):
        counts = Counter(text[3 + place] for text in made)
        assert set(counts) == set(ids.ALPHABET)
        assert max(counts.values()) < 64 + 7 * 8


async def test_every_table_makes_ids_of_its_own_prefix(conn: Connection) -> None:
    for table, kind in TABLES.items():
        cursor = await conn.execute(
            """
            SELECT column_default
              FROM information_schema.columns
             WHERE table_name = %s
               AND column_name = 'id'
            """,
            (table,),
        )
        row = await cursor.fetchone()
        assert row == (f"generate_random_id('{ids.PREFIXES[kind]}'::text)",)


@pytest.mark.parametrize("table", TABLES)
async def test_an_id_of_another_prefix_is_refused(conn: Connection, table: str) -> None:
    columns = {
        "alicia_conversations": ("id", "%s"),
        "alicia_messages": ("id, conversation_id, sequence_number, message_role", "%s, 'ac_1', 1, 'user'"),
        "alicia_sentences": ("id, message_id, sentence_sequence_number", "%s, 'am_1', 1"),
        "alicia_audio": ("id", "%s"),
        "alicia_memory": ("id, content", "%s, ''"),
        "alicia_memory_used": ("id, conversation_id, message_id, memory_id", "%s, 'ac_1', 'am_1', 'amem_1'"),
        "alicia_tools": ("id, name", "%s, 'x'"),
        "alicia_tool_uses": ("id, message_id, tool_name", "%s, 'am_1', 'x'"),
        "alicia_reasoning_steps": ("id, message_id, sequence_number", "%s, 'am_1', 1"),
        "alicia_user_conversation_commentaries": ("id, conversation_id", "%s, 'ac_1'"),
        "alicia_meta": ("id, ref, key", "%s, 'am_1', 'x'"),
    }
    names, values = columns[table]
    statement = f"INSERT INTO {table} ({names}) VALUES ({values})"
    with pytest.raises(psycopg.errors.CheckViolation):
        await conn.execute(statement.encode(), ("xx_1",))


async def test_updated_at_follows_changes_and_ignores_heartbeats(conn: Connection) -> None:
    cursor = await conn.execute(
        """
        INSERT INTO alicia_conversations (updated_at) VALUES ('2020-01-01') RETURNING id
        """
    )
    row = await cursor.fetchone()
    assert row
    cursor = await conn.execute(
        "UPDATE alicia_conversations SET agent_seen_at = now() WHERE id = %s RETURNING updated_at", row
    )
    seen = await cursor.fetchone()
    assert seen
    assert seen[0].year == 2020
    cursor = await conn.execute(
        "UPDATE alicia_conversations SET title = 'x' WHERE id = %s RETURNING updated_at", row
    )
    renamed = await cursor.fetchone()
    assert renamed
    assert renamed[0].year > 2020


async def test_every_table_with_updated_at_keeps_it(conn: Connection) -> None:
    cursor = await conn.execute(
        """
        SELECT c.relname
          FROM pg_class c
          JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'updated_at'
         WHERE c.relkind = 'r'
           AND c.relnamespace = 'public'::regnamespace
           AND NOT EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgname = 'touch')
        """
    )
    assert await cursor.fetchall() == []
