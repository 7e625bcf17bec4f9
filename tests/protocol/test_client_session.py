"""The client's end of a conversation, case by case."""

import json
from typing import Any

import pytest

from alicia import ids
from alicia.errors import ErrorCode, LocalProtocolError, RemoteProtocolError
from alicia.protocol.client_session import ClientSession, Receipt
from alicia.protocol.envelope import Envelope
from alicia.protocol.messages import (
    INT32_MAX,
    Acknowledgement,
    AssistantSentence,
    AudioChunk,
    Body,
    Configuration,
    ControlStop,
    ErrorMessage,
    Tombstone,
    UserMessage,
    UserNote,
)

C = ids.ConversationId("ac_" + "c" * ids.LENGTH)
TARGET = ids.new(ids.MessageId)


def question() -> UserMessage:
    return UserMessage(conversation_id=C, id=ids.new(ids.MessageId), content="hello")


def note() -> UserNote:
    return UserNote(conversation_id=C, id=ids.new(ids.NoteId), content="well")


def from_agent(stanza_id: int, body: Body, previous: int | None = None) -> Envelope:
    return Envelope(
        type=body.CODE, stanza_id=stanza_id, previous_stanza_id=previous, conversation_id=C, body=body
    )


def durable(stanza_id: int, previous: int) -> Envelope:
    body = AssistantSentence(
        conversation_id=C,
        id=ids.new(ids.SentenceId),
        previous_id=TARGET,
        sequence=1,
        text="Yes.",
        is_final=False,
    )
    return from_agent(stanza_id, body, previous)


def acknowledgement(stanza_id: int, head: int, subject: str | None = None) -> Envelope:
    body = Acknowledgement(
        conversation_id=C, acknowledged_stanza_id=stanza_id, last_server_stanza_id=head, id=subject
    )
    return from_agent(-900, body)


def error(code: int, about: int, next_stanza_id: int | None = None) -> Envelope:
    body = ErrorMessage(
        conversation_id=C,
        code=code,
        message="no",
        severity="error",
        recoverable=True,
        originating_stanza_id=about,
        next_stanza_id=next_stanza_id,
    )
    return from_agent(-900, body)


def settings(**fields: Any) -> Envelope:
    return from_agent(-900, Configuration(conversation_id=C, **fields))


def joined(cursor: int | None = 0) -> ClientSession:
    client = ClientSession(C, cursor)
    client.configuration()
    client.receive(settings(resumed=True, last_client_stanza_id=0, last_server_stanza_id=cursor or 0))
    return client


def sends(client: ClientSession) -> Envelope:
    envelope = client.next_to_send()
    assert envelope is not None
    return envelope


def test_stanzas_are_accepted_in_order_once_and_without_gaps() -> None:
    client = joined()
    assert client.receive(durable(-2, 0)) is Receipt.ACCEPTED
    assert client.receive(durable(-2, 0)) is Receipt.DUPLICATE
    assert client.receive(durable(-9, -5)) is Receipt.GAP
    assert client.cursor == -2
    assert client.wants_configuration
    asking = client.configuration(device="phone")
    assert isinstance(asking.body, Configuration)
    assert (asking.body.last_sequence_seen, asking.body.device) == (-2, "phone")
    assert client.receive(durable(-5, -2)) is Receipt.ACCEPTED
    assert client.receive(durable(-9, -5)) is Receipt.ACCEPTED


def test_a_gap_is_asked_about_once_until_the_answer_comes() -> None:
    client = joined()
    assert client.receive(durable(-9, -5)) is Receipt.GAP
    client.configuration()
    assert client.receive(durable(-11, -9)) is Receipt.GAP
    assert not client.wants_configuration
    client.receive(settings(resumed=True, last_server_stanza_id=-11))
    assert client.receive(durable(-11, -9)) is Receipt.GAP
    assert client.wants_configuration


def test_the_stated_head_reveals_a_lost_tail_even_while_an_answer_is_awaited() -> None:
    client = joined(-4)
    assert client.receive(acknowledgement(0, -4)) is Receipt.TRANSIENT
    client.configuration()
    assert client.receive(acknowledgement(0, -6)) is Receipt.GAP
    assert client.wants_configuration


def test_transient_stanzas_never_move_the_cursor() -> None:
    client = joined(-4)
    assert client.receive(from_agent(-8, question())) is Receipt.TRANSIENT
    assert client.cursor == -4
    assert client.receive(durable(-6, -4)) is Receipt.ACCEPTED


def test_a_device_that_wants_nothing_old_starts_at_the_head() -> None:
    client = ClientSession(C)
    asking = client.configuration()
    assert isinstance(asking.body, Configuration)
    assert asking.body.last_sequence_seen is None
    assert client.receive(durable(-9, -7)) is Receipt.GAP
    client.receive(settings(resumed=True, last_server_stanza_id=-9, last_client_stanza_id=6))
    assert client.cursor == -9
    assert client.receive(durable(-10, -9)) is Receipt.ACCEPTED


def test_a_new_conversation_gets_its_id_from_the_agent() -> None:
    client = ClientSession()
    assert client.configuration().conversation_id == ""
    client.submit(question())
    assert client.next_to_send() is None
    client.receive(settings(resumed=False, last_server_stanza_id=0))
    assert (client.conversation_id, client.cursor) == (C, 0)
    assert client.next_to_send() is not None


def test_a_log_that_the_agent_does_not_know_is_begun_anew() -> None:
    client = joined(-40)
    client.configuration()
    assert client.receive(settings(resumed=False, last_server_stanza_id=-20)) is Receipt.RESTARTED
    assert client.receive(settings(resumed=False, last_server_stanza_id=-20)) is Receipt.TRANSIENT
    assert client.receive(durable(-2, 0)) is Receipt.ACCEPTED


def test_one_body_is_in_flight_and_the_rest_wait() -> None:
    client = joined()
    first, second = question(), note()
    client.submit(first)
    client.submit(second, {"source": "keyboard"})
    sent = sends(client)
    assert sent.body == first
    assert client.next_to_send() is None
    client.receive(acknowledgement(sent.stanza_id, 0, first.id))
    following = sends(client)
    assert (following.body, following.meta) == (second, {"source": "keyboard"})
    assert following.stanza_id > sent.stanza_id


def test_an_acknowledgement_of_something_else_changes_nothing() -> None:
    client = joined()
    body = question()
    client.submit(body)
    sent = sends(client)
    client.receive(acknowledgement(sent.stanza_id, 0, "am_of_another_device"))
    client.receive(acknowledgement(sent.stanza_id + 1, 0, body.id))
    assert client.outbox == (body,)


def test_a_wrong_number_makes_the_same_body_go_out_with_the_next_one() -> None:
    client = joined()
    client.submit(question())
    first = sends(client)
    client.receive(error(ErrorCode.STANZA, first.stanza_id, 2_000))
    second = sends(client)
    assert (second.body, second.stanza_id) == (first.body, 2_000)
    client.receive(error(ErrorCode.STANZA, first.stanza_id, 3_000))
    assert client.next_to_send() is None


def test_a_body_that_is_refused_for_good_makes_way_and_one_that_may_pass_later_waits() -> None:
    client = joined()
    first, second = question(), note()
    client.submit(first)
    client.submit(second)
    client.receive(error(ErrorCode.INVALID_FIELD, sends(client).stanza_id))
    sent = sends(client)
    assert sent.body == second
    client.receive(error(ErrorCode.UNAVAILABLE, sent.stanza_id))
    assert client.next_to_send() is None
    client.resend()
    assert client.next_to_send() == sent


def test_an_echo_clears_the_outbox_also_from_a_replay_under_another_id_or_erased() -> None:
    client = joined()
    first, second, third = question(), question(), question()
    stop = ControlStop(conversation_id=C, target_id=TARGET, stop_type="all")
    for body in (first, second, third, stop):
        client.submit(body)
    client.receive(from_agent(-2, first, 0))
    renamed = UserMessage(
        conversation_id=C, id=ids.new(ids.MessageId), content=second.content, local_id=second.id
    )
    client.receive(from_agent(-9, renamed, -7))
    assert client.outbox == (third, stop)
    client.receive(
        Envelope(type=2, stanza_id=-3, previous_stanza_id=-2, conversation_id=C, body=Tombstone(id=third.id))
    )
    assert client.outbox == (stop,)
    others = ControlStop(conversation_id=C, target_id=TARGET, stop_type="speech")
    client.receive(from_agent(-4, others, -3))
    assert client.outbox == (stop,)
    client.receive(from_agent(-5, stop, -4))
    assert client.outbox == ()


def test_after_a_reconnect_the_body_in_flight_goes_out_again_with_its_number() -> None:
    client = joined()
    client.submit(question())
    sent = sends(client)
    client.configuration()
    assert client.next_to_send() == sent


def test_what_was_saved_goes_on_after_a_restart() -> None:
    client = joined()
    clip = AudioChunk(
        conversation_id=C,
        id=ids.new(ids.AudioId),
        format="opus",
        duration_ms=1,
        sequence=0,
        data=b"\x00\xff",
    )
    deep: Any = "bottom"
    for _ in range(20):
        deep = [deep]
    noted = UserNote(conversation_id=C, id=ids.new(ids.NoteId), content="well", metadata={"deep": deep})
    client.submit(clip, {"source": "microphone"})
    client.submit(noted)
    sent = sends(client)
    again = ClientSession.load(json.loads(json.dumps(client.dump())))
    assert again.outbox == (clip, noted)
    assert again.wants_configuration
    assert again.configuration().stanza_id > sent.stanza_id
    assert again.next_to_send() == sent
    assert again.cursor == client.cursor


def test_a_client_obeys_only_the_agent_of_its_own_conversation() -> None:
    client = joined()
    with pytest.raises(RemoteProtocolError):
        client.receive(from_agent(5, question()))
    other = ids.new(ids.ConversationId)
    with pytest.raises(RemoteProtocolError):
        client.receive(
            Envelope(type=12, stanza_id=-5, conversation_id=other, body=Configuration(conversation_id=other))
        )


def test_an_unreadable_stanza_is_passed_over_in_its_place() -> None:
    client = joined(-4)
    unknown = RemoteProtocolError(ErrorCode.UNKNOWN_TYPE, "?", stanza_id=-6, previous_stanza_id=-4)
    assert client.skip(unknown) is Receipt.ACCEPTED
    assert client.skip(unknown) is Receipt.DUPLICATE
    assert client.cursor == -6
    assert client.skip(RemoteProtocolError(ErrorCode.MALFORMED, "?")) is Receipt.TRANSIENT


def test_used_up_numbers_are_an_error_and_not_a_wrap() -> None:
    client = joined(-INT32_MAX + 1)
    client.submit(question())
    with pytest.raises(LocalProtocolError):
        client.next_to_send()
