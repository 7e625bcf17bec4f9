"""One writer: of two agents on one conversation exactly one wins each stanza."""

import asyncio
from datetime import timedelta

import pytest

from alicia import ids
from alicia.errors import LocalProtocolError, NotFound, StandDown
from alicia.ledger.ledger import Ledger, session_of
from alicia.protocol.envelope import decode
from alicia.storage.pool import Pool
from support.talk import Talk

NOW = timedelta(0)


@pytest.fixture
async def rival(pool: Pool, talk: Talk) -> Talk:
    """Another agent on the same conversation."""
    row = await talk.ledger.load(talk.id)
    return Talk(pool, Ledger(pool), session_of(row), talk.user)


async def try_to_say(talk: Talk, text: str) -> bool:
    try:
        await talk.append(talk.user_message(text))
    except StandDown:
        return False
    return True


async def test_of_two_agents_exactly_one_wins_each_stanza(talk: Talk, rival: Talk) -> None:
    for number in range(50):
        before = talk.session.last_server_stanza_id
        won = await asyncio.gather(try_to_say(talk, f"a{number}"), try_to_say(rival, f"b{number}"))
        assert sorted(won) == [False, True]
        row = await talk.ledger.load(talk.id)
        stored = [decode(data) async for data in talk.ledger.replay(talk.id, before)]
        assert [envelope.previous_stanza_id for envelope in stored] == [before]
        assert row.last_server_stanza_id == stored[0].stanza_id
        # Whoever lost takes over from the row, as an agent does that is dispatched again.
        talk.session, rival.session = session_of(row), session_of(row)
    rows = await talk.rows("SELECT contents FROM alicia_messages WHERE conversation_id = %s", talk.id)
    assert len(rows) == 50


async def test_fifty_at_once_leave_one_message(talk: Talk) -> None:
    row = await talk.ledger.load(talk.id)
    rivals = [Talk(talk.pool, Ledger(talk.pool), session_of(row), talk.user) for _ in range(50)]
    won = await asyncio.gather(*(try_to_say(rival, str(number)) for number, rival in enumerate(rivals)))
    assert won.count(True) == 1
    rows = await talk.rows("SELECT contents FROM alicia_messages WHERE conversation_id = %s", talk.id)
    assert [message["contents"] for message in rows] == [str(won.index(True))]
    assert len([data async for data in talk.ledger.replay(talk.id)]) == 1


async def test_an_agent_that_lost_stays_down(talk: Talk, rival: Talk) -> None:
    await talk.append(talk.user_message())
    for _ in range(3):
        with pytest.raises(StandDown):
            await rival.append(rival.user_message())


async def test_appends_of_one_agent_take_turns(talk: Talk) -> None:
    await asyncio.gather(*(talk.append(talk.user_message(str(number))) for number in range(20)))
    stored = [decode(data) async for data in talk.ledger.replay(talk.id)]
    assert [envelope.stanza_id for envelope in stored] == [-number for number in range(1, 21)]
    rows = await talk.rows(
        "SELECT contents FROM alicia_messages WHERE conversation_id = %s ORDER BY sequence_number", talk.id
    )
    assert [row["contents"] for row in rows] == [str(number) for number in range(20)]


async def test_the_session_moves_only_after_the_commit(talk: Talk) -> None:
    await talk.append(talk.user_message())
    head = talk.session.last_server_stanza_id
    with pytest.raises(LocalProtocolError):
        await talk.append(talk.start_answer(ids.new(ids.MessageId)))
    assert talk.session.last_server_stanza_id == head
    (data,) = await talk.append(talk.user_message())
    assert decode(data).previous_stanza_id == head


async def test_a_conversation_that_is_not_there_is_not_found(talk: Talk, pool: Pool, user: str) -> None:
    await talk.append(talk.user_message())
    with pytest.raises(NotFound):
        await Ledger(pool).load(ids.new(ids.ConversationId))
    with pytest.raises(NotFound):
        await Ledger(pool).load(talk.id, f"not {user}")
    with pytest.raises(NotFound):
        await Ledger(pool).create(talk.id, f"not {user}")
    assert (await Ledger(pool).create(talk.id, user)).id == talk.id
    talk.session.conversation_id = ids.new(ids.ConversationId)
    with pytest.raises(NotFound):
        await talk.append(talk.user_message())


async def test_a_lease_is_taken_renewed_and_given_up(talk: Talk, pool: Pool) -> None:
    first, second = Ledger(pool, "first"), Ledger(pool, "second")
    assert await first.claim(talk.id)
    assert await first.claim(talk.id)
    assert not await second.claim(talk.id)
    await first.heartbeat(talk.id)
    with pytest.raises(StandDown):
        await second.heartbeat(talk.id)
    await second.release(talk.id)
    assert (await talk.ledger.load(talk.id)).agent_id == "first"
    await first.release(talk.id)
    row = await talk.ledger.load(talk.id)
    assert (row.agent_id, row.agent_seen_at) == (None, None)
    assert await second.claim(talk.id)


async def test_a_quiet_owner_loses_its_lease_and_can_write_no_more(pool: Pool, user: str) -> None:
    owner = await Talk.open(pool, user, "owner")
    await owner.append(owner.user_message())
    assert (await owner.ledger.load(owner.id)).agent_id == "owner"
    heir = Ledger(pool, "heir")
    assert not await heir.claim(owner.id)
    assert await heir.claim(owner.id, quiet=NOW)
    # The counter has not moved yet; the lease alone keeps the old owner out.
    with pytest.raises(StandDown):
        await owner.append(owner.user_message())
    heirs = Talk(pool, heir, session_of(await heir.load(owner.id)), user)
    await heirs.append(heirs.user_message())
    with pytest.raises(StandDown):
        await owner.ledger.heartbeat(owner.id)


async def test_what_a_lost_owner_left_unfinished_is_found(pool: Pool, user: str) -> None:
    streaming, unanswered, answered, alive = [
        await Talk.open(pool, user, agent) for agent in ("streaming", "unanswered", "answered", "alive")
    ]
    asked = streaming.user_message()
    await streaming.append(asked, streaming.start_answer(asked.id))
    await unanswered.append(unanswered.user_message())
    await answered.exchange("One?", "1.")
    await alive.append(alive.user_message())
    for talk in (streaming, unanswered, answered):
        await talk.rows(
            """
            UPDATE alicia_conversations SET agent_seen_at = agent_seen_at - interval '1 minute'
             WHERE id = %s RETURNING 1
            """,
            talk.id,
        )
    found = set(await Ledger(pool).abandoned(limit=10_000))
    assert found & {streaming.id, unanswered.id, answered.id, alive.id} == {streaming.id, unanswered.id}


async def test_without_an_agent_id_there_is_no_lease(talk: Talk) -> None:
    with pytest.raises(LocalProtocolError, match="no agent id"):
        await talk.ledger.claim(talk.id)
