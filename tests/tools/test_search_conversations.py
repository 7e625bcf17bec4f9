"""Looking up what was said before, over real rows."""

from typing import Any

import msgspec

from alicia import ids
from alicia.ids import MessageId
from alicia.llm.messages import ToolCall
from alicia.storage.pool import Pool
from alicia.tools.box import Toolbox
from alicia.tools.builtin.conversations import search_conversations
from alicia.tools.definition import Caller


async def talk(pool: Pool, user: str, *texts: str, title: str = "Talk", **columns: Any) -> list[MessageId]:
    """A conversation with these messages; columns apply to all of them."""
    conversation = ids.new(ids.ConversationId)
    made = [ids.new(ids.MessageId) for _ in texts]
    async with pool.connection() as conn, conn.transaction():
        await conn.execute(
            "INSERT INTO alicia_conversations (id, user_id, title) VALUES (%s, %s, %s)",
            (conversation, user, title),
        )
        for number, (message_id, text) in enumerate(zip(made, texts, strict=True)):
            await conn.execute(
                """
                INSERT INTO alicia_messages (id, conversation_id, sequence_number, message_role, contents,
                                             completion_status, superseded_by)
                VALUES (%s, %s, %s, %s, %s, %s, %s)
                """,
                (
                    message_id,
                    conversation,
                    number,
                    "assistant" if number % 2 else "user",
                    text,
                    columns.get("completion_status", "completed"),
                    columns.get("superseded_by"),
                ),
            )
    return made


async def search(pool: Pool, caller: Caller, **arguments: Any) -> list[dict[str, Any]]:
    async with Toolbox([search_conversations(pool)]).open() as box:
        call = ToolCall("1", "search_conversations", msgspec.json.encode(arguments).decode())
        outcome = await box.run(caller, call)
    assert outcome.success, outcome
    return outcome.result["messages"]


async def test_any_word_finds_a_message_and_more_words_rank_higher(pool: Pool, user: str) -> None:
    one, two = await talk(pool, user, "We planted tomatoes.", "Tomatoes and basil like the same garden bed.")
    found = await search(pool, Caller(user_id=user), query="tomato garden in the bed")
    assert [hit["messageId"] for hit in found] == [two, one]
    assert found[0]["title"] == "Talk"
    assert [hit["role"] for hit in found] == ["assistant", "user"]


async def test_only_the_users_own_messages_are_found(pool: Pool, user: str) -> None:
    await talk(pool, user, "My secret recipe is thyme.")
    assert await search(pool, Caller(user_id=f"{user}-other"), query="secret recipe") == []


async def test_unfinished_superseded_and_deleted_messages_are_left_out(pool: Pool, user: str) -> None:
    await talk(pool, user, "harbour one", completion_status="streaming")
    await talk(pool, user, "harbour two", superseded_by=ids.new(ids.MessageId))
    [gone] = await talk(pool, user, "harbour three")
    [deleted] = await talk(pool, user, "harbour four")
    async with pool.connection() as conn:
        await conn.execute("UPDATE alicia_messages SET deleted_at = now() WHERE id = %s", (gone,))
        await conn.execute(
            """
            UPDATE alicia_conversations
               SET deleted_at = now()
             WHERE id = (SELECT conversation_id FROM alicia_messages WHERE id = %s)
            """,
            (deleted,),
        )
    assert await search(pool, Caller(user_id=user), query="harbour") == []


async def test_the_question_that_led_to_the_search_is_not_its_own_answer(pool: Pool, user: str) -> None:
    told, asked = await talk(pool, user, "My ferry leaves at nine.", "When does my ferry leave?")
    found = await search(pool, Caller(user_id=user, message_id=asked), query="ferry leave")
    assert [hit["messageId"] for hit in found] == [told]


async def test_of_a_long_message_only_the_place_is_shown(pool: Pool, user: str) -> None:
    await talk(pool, user, "word " * 2_000 + "the lighthouse keeper sings " + "word " * 2_000)
    [hit] = await search(pool, Caller(user_id=user), query="lighthouse")
    assert "lighthouse keeper" in hit["text"]
    assert len(hit["text"]) < 2_000


async def test_no_query_breaks_the_search(pool: Pool, user: str) -> None:
    await talk(pool, user, "harmless")
    for query in (
        "the",
        "'; DROP TABLE x; --",
        "a & | ! ( <->",
        "\0nul",
        "http://a.b/c?d=e&f=g & x",
        "é" * 900,
    ):
        await search(pool, Caller(user_id=user), query=query)


async def test_the_search_reads_the_index_and_not_every_message(pool: Pool) -> None:
    async with pool.connection() as conn, conn.transaction():
        await conn.execute("SET LOCAL enable_seqscan = off")
        cursor = await conn.execute(
            """
            EXPLAIN SELECT id
                      FROM alicia_messages
                     WHERE to_tsvector('english', contents) @@ to_tsquery('english', 'harbour | ferry')
                       AND completion_status = 'completed'
                       AND deleted_at IS NULL
            """
        )
        plan = "\n".join(row[0] for row in await cursor.fetchall())
    assert "alicia_messages_text" in plan
