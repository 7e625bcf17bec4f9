"""The agent's end of a conversation, case by case."""

import pytest

from alicia import ids
from alicia.errors import ErrorCode, LocalProtocolError, RemoteProtocolError
from alicia.protocol.envelope import Envelope, decode, encode
from alicia.protocol.messages import (
    INT32_MAX,
    Acknowledgement,
    AssistantSentence,
    Body,
    Configuration,
    ControlStop,
    ErrorMessage,
    StartAnswer,
    UserMessage,
)
from alicia.protocol.session import WINDOW, AgentSession, Resume, Verdict

C = ids.ConversationId("ac_" + "c" * ids.LENGTH)
ANSWER = ids.new(ids.MessageId)


def question(content: str = "hello") -> UserMessage:
    return UserMessage(conversation_id=C, id=ids.new(ids.MessageId), content=content)


def sentence(text: str = "Yes.", sequence: int = 1) -> AssistantSentence:
    return AssistantSentence(
        conversation_id=C,
        id=ids.new(ids.SentenceId),
        previous_id=ANSWER,
        sequence=sequence,
        text=text,
        is_final=False,
    )


def sent(stanza_id: int, body: Body) -> Envelope:
    return Envelope(type=body.CODE, stanza_id=stanza_id, conversation_id=body.conversation_id, body=body)


def refused(session: AgentSession, envelope: Envelope) -> RemoteProtocolError:
    with pytest.raises(RemoteProtocolError) as caught:
        session.accept(envelope, known=False)
    return caught.value


def store(session: AgentSession, *bodies: Body, accepted: Envelope | None = None) -> list[Envelope]:
    envelopes = session.stamp_durable([(body, None) for body in bodies])
    session.committed(envelopes, accepted)
    return envelopes


def test_a_strict_dialogue_counts_one_two_three_four() -> None:
    agent = AgentSession(C)
    assert agent.accept(sent(1, question()), known=False) is Verdict.NEW
    assert agent.stamp(sentence()).stanza_id == -2
    assert agent.accept(sent(3, question()), known=False) is Verdict.NEW
    assert agent.stamp(sentence()).stanza_id == -4


def test_durable_stanzas_name_the_durable_stanza_before_them() -> None:
    agent = AgentSession(C, -7, 5)
    first = store(agent, sentence(), sentence())
    agent.stamp(sentence())
    second = store(agent, sentence())
    assert [(e.stanza_id, e.previous_stanza_id) for e in first + second] == [(-8, -7), (-9, -8), (-11, -9)]


def test_the_head_moves_only_with_the_commit() -> None:
    agent = AgentSession(C)
    lost = agent.stamp_durable([(sentence(), None)])
    kept = agent.stamp_durable([(sentence(), None)])
    assert agent.last_server_stanza_id == 0
    assert kept[0].previous_stanza_id == 0
    assert kept[0].stanza_id == lost[0].stanza_id - 1
    agent.committed(kept)
    assert agent.last_server_stanza_id == kept[0].stanza_id
    with pytest.raises(LocalProtocolError):
        agent.committed(lost)


def test_a_restarted_agent_goes_on_where_the_commits_ended() -> None:
    agent = AgentSession(C)
    store(agent, sentence(), sentence())
    agent.stamp(sentence())
    again = AgentSession(C, agent.last_server_stanza_id, agent.last_client_stanza_id)
    assert [(e.stanza_id, e.previous_stanza_id) for e in store(again, sentence())] == [(-3, -2)]


def test_a_durable_body_that_no_client_could_read_is_our_own_fault() -> None:
    agent = AgentSession(C)
    for bad in (sentence("a\0b"), sentence(sequence=-1), sentence("\ud800"), sentence("x" * 2**20)):
        with pytest.raises(LocalProtocolError):
            agent.stamp_durable([(bad, None)])
    with pytest.raises(LocalProtocolError):
        agent.stamp_durable([(sentence(), {"score": float("nan")})])
    assert len(agent.stamp_durable([(sentence(), {"score": 1.5})])) == 1


def test_a_known_body_is_a_redelivery_whatever_its_number() -> None:
    agent = AgentSession(C, -6, 5)
    for number in (1, 5, 9, INT32_MAX):
        assert agent.accept(sent(number, question()), known=True) is Verdict.REDELIVERY
    assert agent.clock == 9


def test_a_number_that_is_used_up_is_refused_with_the_next_one() -> None:
    agent = AgentSession(C, -8, 5)
    error = refused(agent, sent(5, question()))
    assert (error.code, error.stanza_id, error.next_stanza_id) == (ErrorCode.STANZA, 5, 9)
    assert agent.accept(sent(6, question()), known=False) is Verdict.NEW


def test_a_number_that_another_device_took_is_refused_before_its_commit_too() -> None:
    agent = AgentSession(C)
    first = sent(1, question())
    assert agent.accept(first, known=False) is Verdict.NEW
    assert refused(agent, sent(1, question())).code == ErrorCode.STANZA
    agent.release(first)
    assert agent.accept(sent(1, question()), known=False) is Verdict.NEW


def test_a_body_that_comes_again_while_it_is_being_stored_waits_for_its_acknowledgement() -> None:
    agent = AgentSession(C)
    for body in (question(), ControlStop(conversation_id=C, target_id=ANSWER, stop_type="all")):
        first = sent(agent.clock + 1, body)
        assert agent.accept(first, known=False) is Verdict.NEW
        assert agent.accept(sent(first.stanza_id + 1, body), known=False) is Verdict.PENDING
        store(agent, body, accepted=first)
    assert agent.last_client_stanza_id == first.stanza_id


def test_the_last_client_stanza_moves_only_with_the_commit() -> None:
    agent = AgentSession(C)
    later, earlier = sent(7, question()), sent(3, question())
    assert agent.accept(later, known=False) is Verdict.NEW
    assert agent.accept(earlier, known=False) is Verdict.NEW
    assert agent.last_client_stanza_id == 0
    store(agent, question(), accepted=later)
    store(agent, question(), accepted=earlier)
    assert agent.last_client_stanza_id == 7


def test_a_number_far_ahead_is_refused_and_burns_nothing() -> None:
    agent = AgentSession(C, -10)
    assert agent.accept(sent(10 + WINDOW, question()), known=False) is Verdict.NEW
    agent = AgentSession(C, -10)
    assert refused(agent, sent(11 + WINDOW, question())).next_stanza_id == 11
    assert agent.accept(sent(INT32_MAX, Configuration(conversation_id=C)), known=False) is Verdict.NEW
    assert agent.clock == 10


def test_a_configuration_may_have_any_number_and_no_conversation() -> None:
    agent = AgentSession(C, -10, 9)
    assert agent.accept(sent(1, Configuration()), known=False) is Verdict.NEW
    assert agent.accept(sent(1, Configuration(conversation_id=C)), known=False) is Verdict.NEW


def test_only_a_clients_own_types_in_this_conversation_are_obeyed() -> None:
    agent = AgentSession(C)
    start = StartAnswer(conversation_id=C, id=ANSWER, previous_id=ids.new(ids.MessageId))
    assert refused(agent, sent(1, start)).code == ErrorCode.INVALID_FIELD
    assert refused(agent, sent(-1, question())).code == ErrorCode.STANZA
    elsewhere = UserMessage(conversation_id=ids.new(ids.ConversationId), id=ANSWER, content="hello")
    assert refused(agent, sent(1, elsewhere)).code == ErrorCode.NOT_FOUND


@pytest.mark.parametrize(
    ("seen", "known", "resume"),
    [
        (None, True, Resume(True, -20)),
        (0, True, Resume(True, 0)),
        (-12, True, Resume(True, -12)),
        (-20, True, Resume(True, -20)),
        (-21, True, Resume(False, 0)),
        (-11, False, Resume(False, 0)),
        (5, True, Resume(False, 0)),
    ],
)
def test_a_client_resumes_where_it_stopped(seen: int | None, known: bool, resume: Resume) -> None:
    assert AgentSession(C, -20, 19).resume(seen, known) == resume


def test_acknowledgements_and_refusals_say_what_they_are_about() -> None:
    agent = AgentSession(C, -4, 3)
    envelope = sent(5, question())
    body = decode(encode(agent.acknowledge(envelope, sync_status="synced"))).body
    assert isinstance(body, Acknowledgement)
    assert isinstance(envelope.body, UserMessage)
    assert (body.acknowledged_stanza_id, body.last_server_stanza_id, body.id) == (5, -4, envelope.body.id)
    error = refused(agent, sent(2, question()))
    answer = decode(encode(agent.refuse(error, envelope))).body
    assert isinstance(answer, ErrorMessage)
    assert (answer.code, answer.originating_stanza_id, answer.recoverable) == (103, 2, True)
    assert answer.originating_id == envelope.body.id


def test_used_up_numbers_are_an_error_and_not_a_wrap() -> None:
    agent = AgentSession(C, -(INT32_MAX - 1))
    assert agent.stamp(sentence()).stanza_id == -INT32_MAX
    with pytest.raises(LocalProtocolError, match="new one"):
        agent.stamp(sentence())
