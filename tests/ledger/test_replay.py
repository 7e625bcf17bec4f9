"""What was published is replayed byte for byte, at any age."""

from alicia import ids
from alicia.ledger import journal
from alicia.ledger.ledger import Ledger, session_of
from alicia.protocol.envelope import decode
from alicia.protocol.messages import UserMessage
from alicia.protocol.session import AgentSession
from alicia.storage.pool import Pool, make_pool
from support.talk import Talk


async def replayed(ledger: Ledger, conversation_id: ids.ConversationId, after: int = 0) -> list[bytes]:
    return [data async for data in ledger.replay(conversation_id, after)]


async def test_the_replay_equals_what_was_published(talk: Talk) -> None:
    for number in range(10):
        await talk.exchange(f"Question {number}?", "Yes.", "No.")
    assert await replayed(talk.ledger, talk.id) == talk.published
    for index in (0, 7, len(talk.published) - 1):
        after = decode(talk.published[index]).stanza_id
        assert await replayed(talk.ledger, talk.id, after) == talk.published[index + 1 :]
        assert await talk.ledger.missed(talk.id, after) == len(talk.published) - index - 1


async def test_a_replay_longer_than_a_batch_is_whole(talk: Talk) -> None:
    count = journal.REPLAY_BATCH
    entries = [talk.user_message(str(number)) for number in range(count)]
    await talk.append(*entries)
    assert await replayed(talk.ledger, talk.id) == talk.published
    await talk.append(talk.user_message())
    assert await replayed(talk.ledger, talk.id) == talk.published


async def test_a_restarted_agent_goes_on_where_the_row_says(talk: Talk, pool: Pool) -> None:
    await talk.exchange("One?", "1.")
    again = Talk(pool, Ledger(pool), session_of(await talk.ledger.load(talk.id)), talk.user)
    again.published = [*talk.published]
    await again.exchange("Two?", "2.")
    assert await replayed(again.ledger, talk.id) == again.published
    stored = [decode(data) for data in again.published]
    assert [envelope.previous_stanza_id for envelope in stored] == [0] + [e.stanza_id for e in stored[:-1]]


async def test_the_clients_number_is_kept_with_its_echo(talk: Talk) -> None:
    client = UserMessage(conversation_id=talk.id, id=ids.new(ids.MessageId), content="Hi.")
    accepted = AgentSession(talk.id).stamp(client)
    sent = type(accepted)(stanza_id=7, conversation_id=talk.id, type=client.CODE, body=client)
    await talk.ledger.append(talk.session, client, talk.start_answer(client.id), accepted=sent)
    row = await talk.ledger.load(talk.id)
    assert row.last_client_stanza_id == talk.session.last_client_stanza_id == 7
    rows = await talk.rows(
        "SELECT ref, type, client_stanza_id FROM alicia_stanzas WHERE conversation_id = %s AND type = 2",
        talk.id,
    )
    assert rows == [{"ref": client.id, "type": 2, "client_stanza_id": 7}]
    rows = await talk.rows(
        "SELECT client_stanza_id FROM alicia_stanzas WHERE conversation_id = %s AND type = 13", talk.id
    )
    assert rows == [{"client_stanza_id": None}]


async def test_the_journal_knows_its_stanzas(talk: Talk) -> None:
    (data,) = await talk.append(talk.user_message())
    assert await talk.ledger.journaled(talk.id, decode(data).stanza_id)
    assert await talk.ledger.journaled(talk.id, 0)
    assert not await talk.ledger.journaled(talk.id, -99)


async def test_behind_a_pooler_nothing_is_prepared(database_url: str, user: str) -> None:
    async with make_pool(database_url, max_size=1, pooler=True) as pool:
        talk = await Talk.open(pool, user)
        await talk.exchange("One?", "1.")
        assert await replayed(talk.ledger, talk.id) == talk.published
        assert await talk.rows("SELECT name FROM pg_prepared_statements") == []
