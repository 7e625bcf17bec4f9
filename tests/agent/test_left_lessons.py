"""What a dead agent had not learned is learned by a living one, though nobody opens the conversation."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from alicia.storage.lessons import left_unlearned
from alicia.storage.memories import memories
from alicia.storage.pool import Pool, make_pool
from support.stack import Stack
from support.tables import records
from support.talk import Talk

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
async def left(place: Stack) -> AsyncIterator[Pool]:
    place.model.reset()
    async with make_pool(place.database_url, max_size=2) as opened:
        yield opened


async def said(pool: Pool, user: str, text: str, besides: str | None = None) -> Talk:
    """A conversation with an answer, whose agent has gone without learning; some time ago.

    `besides` is what else is changed, before anybody can find it.
    """
    talk = await Talk.open(pool, user)
    await talk.exchange(text, "I see.")
    if besides is not None:
        await change(pool, besides, talk)
    await change(pool, "UPDATE alicia_messages SET created_at = created_at - interval '5 min'", talk)
    return talk


async def change(pool: Pool, sql: str, talk: Talk) -> None:
    column = "conversation_id" if "alicia_messages" in sql else "id"
    async with pool.connection() as conn:
        await conn.execute(f"{sql} WHERE {column} = %s".encode(), (talk.id,))


async def learned(talk: Talk) -> bool:
    sql = "SELECT 1 AS found FROM alicia_meta WHERE ref = %s AND key = 'learned'"
    return bool(await records(talk.pool, sql, talk.id))


async def free(talk: Talk) -> bool:
    sql = "SELECT agent_id FROM alicia_conversations WHERE id = %s"
    return (await records(talk.pool, sql, talk.id))[0]["agent_id"] is None


async def until(true: Callable[[Talk], Awaitable[bool]], talk: Talk) -> None:
    async with asyncio.timeout(90):
        while True:
            if await true(talk):
                return
            await asyncio.sleep(0.1)


async def known(pool: Pool, user: str) -> list[str]:
    async with pool.connection() as conn:
        return [one.content for one in await memories(conn, user)]


async def test_what_was_left_is_learned_unless_memory_is_off_or_another_agent_has_it(
    place: Stack, left: Pool, user: str
) -> None:
    found = {"statements": [{"kind": "about the user", "facts": ["The user lives in Porto."]}]}
    place.model.answer_json(found, when="Statements:", always=True)
    served = await said(
        left,
        f"{user}-served",
        "I live in Porto.",
        "UPDATE alicia_conversations SET agent_id = 'x', agent_seen_at = timezone('utc', now()) + '1 hour'",
    )
    private = await said(
        left,
        f"{user}-private",
        "I live in Porto.",
        """UPDATE alicia_conversations SET preferences = '{"memory": false}'""",
    )
    talk = await said(left, user, "I live in Porto.")
    await until(learned, talk)
    await until(learned, private)
    assert await known(left, user) == ["The user lives in Porto."]
    assert await known(left, f"{user}-private") == []
    assert await known(left, f"{user}-served") == []
    assert not await learned(served)
    # It gives the conversation back, so that whoever opens it need not wait.
    await until(free, talk)


async def test_what_was_just_said_or_learned_from_or_given_up_is_not_left(
    place: Stack, left: Pool, user: str
) -> None:
    now = await Talk.open(left, user)
    await now.exchange("I live in Porto.", "I see.")
    before = await said(left, user, "I live in Graz.")
    other = await said(left, user, "I live in Rome.")
    async with left.connection() as conn:
        names = await left_unlearned(conn, limit=100, besides=[other.id])
    assert now.id not in names
    assert other.id not in names
    await until(learned, before)
    async with left.connection() as conn:
        assert before.id not in await left_unlearned(conn, limit=100)
