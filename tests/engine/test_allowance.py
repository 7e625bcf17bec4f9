"""Somebody who sends too much is told to wait, and loses nothing."""

import pytest

from alicia import ids
from alicia.engine.allowance import BURST, RATE, Allowance
from alicia.errors import ErrorCode, RemoteProtocolError
from alicia.protocol.client_session import ClientSession
from alicia.protocol.messages import UserNote
from alicia.protocol.session import AgentSession, Verdict


def test_one_message_too_many_is_refused_and_taken_when_it_comes_again() -> None:
    conversation_id = ids.new(ids.ConversationId)
    agent, client, allowance = AgentSession(conversation_id), ClientSession(conversation_id, 0), Allowance()
    for _ in range(BURST):
        note = UserNote(conversation_id=conversation_id, id=ids.new(ids.NoteId), content="x")
        envelope = client.stamp(note)
        assert agent.accept(envelope, known=False) is Verdict.NEW
        allowance.count("maria", agent, envelope, 0.0)
        agent.committed(agent.stamp_durable([(note, None)]), envelope)

    client.submit(UserNote(conversation_id=conversation_id, id=ids.new(ids.NoteId), content="one more"))
    sent = client.next_to_send()
    assert sent
    assert agent.accept(sent, known=False) is Verdict.NEW
    with pytest.raises(RemoteProtocolError, match="send it again in 1 s") as refused:
        allowance.count("maria", agent, sent, 0.0)
    assert refused.value.code == ErrorCode.TOO_MANY
    refused.value.stanza_id = sent.stanza_id
    client.receive(agent.refuse(refused.value, sent))

    # It is still in the outbox, and its number is free.
    client.resend()
    assert client.next_to_send() == sent
    assert agent.accept(sent, known=False) is Verdict.NEW
    allowance.count("maria", agent, sent, 1.5 / RATE)


def test_others_need_not_wait_for_somebody_who_sends_too_much() -> None:
    conversation_id = ids.new(ids.ConversationId)
    agent, client, allowance = AgentSession(conversation_id), ClientSession(conversation_id, 0), Allowance()
    envelope = client.stamp(UserNote(conversation_id=conversation_id, id=ids.new(ids.NoteId), content="x"))
    for _ in range(BURST):
        allowance.count("maria", agent, envelope, 0.0)
    allowance.count("jon", agent, envelope, 0.0)
    with pytest.raises(RemoteProtocolError):
        allowance.count("maria", agent, envelope, 0.0)
