"""When the outcome of a commit is unknown, the journal tells."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest

from alicia.errors import DatabaseUnavailable, StandDown
from alicia.ledger.ledger import Ledger, session_of
from alicia.protocol.messages import UserMessage
from alicia.storage.pool import Pool, make_pool
from support.proxy import Cut, Wire, wire_to
from support.talk import Talk


@pytest.fixture
async def wired(database_url: str, user: str) -> AsyncIterator[tuple[Wire, Talk]]:
    """A conversation whose agent reaches PostgreSQL over a wire that can be cut."""
    async with wire_to(database_url) as (wire, url), make_pool(url, max_size=2) as pool:
        talk = await Talk.open(pool, user)
        await talk.append(talk.user_message("First."))
        yield wire, talk


async def contents(pool: Pool, talk: Talk) -> list[str]:
    """What the rows say, and that the journal says the same."""
    look = Talk(pool, Ledger(pool), talk.session, talk.user)
    rows = await look.rows(
        "SELECT contents FROM alicia_messages WHERE conversation_id = %s ORDER BY sequence_number", talk.id
    )
    journaled = [data async for data in look.ledger.replay(talk.id)]
    assert journaled == talk.published
    assert (await look.ledger.load(talk.id)).last_server_stanza_id == talk.session.last_server_stanza_id
    return [row["contents"] for row in rows]


@pytest.mark.parametrize("how", Cut)
async def test_a_lost_connection_is_survived(wired: tuple[Wire, Talk], pool: Pool, how: Cut) -> None:
    wire, talk = wired
    wire.cut(b"Second.", how)
    await talk.append(talk.user_message("Second."))
    assert wire.pending == 0
    await talk.append(talk.user_message("Third."))
    assert await contents(pool, talk) == ["First.", "Second.", "Third."]


async def test_the_answer_lost_again_and_again_still_stores_once(
    wired: tuple[Wire, Talk], pool: Pool
) -> None:
    wire, talk = wired
    for how in (Cut.BEFORE, Cut.BEFORE, Cut.AFTER):
        wire.cut(b"Second.", how)
    await talk.append(talk.user_message("Second."))
    assert wire.pending == 0
    assert await contents(pool, talk) == ["First.", "Second."]


async def test_other_bytes_in_the_journal_mean_stand_down(wired: tuple[Wire, Talk], pool: Pool) -> None:
    wire, talk = wired
    rival = Talk(pool, Ledger(pool), session_of(await talk.ledger.load(talk.id)), talk.user)
    await rival.append(rival.user_message("Mine."))
    wire.cut(b"Second.", Cut.BEFORE)
    with pytest.raises(StandDown):
        await talk.append(talk.user_message("Second."))


@pytest.mark.parametrize("how", Cut)
async def test_an_append_that_gave_up_is_settled_by_the_next_one(
    wired: tuple[Wire, Talk], pool: Pool, how: Cut
) -> None:
    wire, talk = wired
    talk.ledger = Ledger(talk.pool, patience=0.2)
    second = talk.user_message("Second.")
    wire.cut(b"Second.", how, stay_down=True)
    with pytest.raises(DatabaseUnavailable):
        await talk.append(second)
    wire.down = False
    await keep_asking(talk, second)
    await keep_asking(talk, talk.user_message("Third."))
    assert await contents(pool, talk) == ["First.", "Second.", "Third."]


async def keep_asking(talk: Talk, body: UserMessage) -> None:
    """Append as an agent does whose database comes back in its own time."""
    while True:
        with suppress(DatabaseUnavailable):
            await talk.append(body)
            return


async def test_a_cancelled_append_is_settled_by_the_next_one(talk: Talk, pool: Pool) -> None:
    for number in range(30):
        task = asyncio.create_task(talk.append(talk.user_message(f"Cancelled {number}.")))
        for _ in range(number):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    before = talk.published.copy()
    await talk.append(talk.user_message("Last."))
    journaled = [data async for data in talk.ledger.replay(talk.id)]
    assert journaled[: len(before)] == before
    rows = await talk.rows("SELECT 1 FROM alicia_messages WHERE conversation_id = %s", talk.id)
    assert len(rows) == len(journaled) == len(talk.published)
    assert journaled == talk.published


async def test_a_database_that_is_away_is_said_to_be_away(talk: Talk, database_url: str) -> None:
    async with wire_to(database_url) as (wire, url):
        wire.down = True
        async with make_pool(url, max_size=2, timeout=0.3) as cut_off:
            talk.ledger = Ledger(cut_off, patience=0.3)
            with pytest.raises(DatabaseUnavailable):
                await talk.append(talk.user_message())
            with pytest.raises(DatabaseUnavailable):
                await talk.ledger.load(talk.id)
            with pytest.raises(DatabaseUnavailable):
                await talk.ledger.known(talk.id, talk.user_message())


async def test_statements_that_a_rollback_made_the_server_forget_are_prepared_again(
    database_url: str, user: str
) -> None:
    async with make_pool(database_url, max_size=1) as pool:
        talk = await Talk.open(pool, user)
        await talk.append(talk.user_message("First."))
        async with pool.connection() as conn:
            await conn.execute("DEALLOCATE ALL")
        await talk.append(talk.user_message("Second."))
        assert await contents(pool, talk) == ["First.", "Second."]
