"""The branches of a log, as the SDK tells them."""

from itertools import count

from alicia import ids
from alicia.client.branches import Branch, branches
from alicia.protocol.envelope import Envelope
from alicia.protocol.messages import (
    AssistantSentence,
    Body,
    ControlVariation,
    Erasure,
    StartAnswer,
    UserMessage,
)

CONVERSATION = ids.new(ids.ConversationId)


class Log:
    def __init__(self) -> None:
        self.envelopes: list[Envelope] = []
        self._numbers = count(1)

    def add(self, body: Body) -> None:
        number = next(self._numbers)
        self.envelopes.append(
            Envelope(
                type=body.CODE,
                stanza_id=-number,
                previous_stanza_id=1 - number,
                conversation_id=CONVERSATION,
                body=body,
            )
        )

    def ask(
        self, text: str, previous: ids.MessageId | None = None, supersedes: ids.MessageId | None = None
    ) -> ids.MessageId:
        message_id = ids.new(ids.MessageId)
        self.add(
            UserMessage(
                conversation_id=CONVERSATION,
                id=message_id,
                content=text,
                previous_id=previous,
                supersedes=supersedes,
            )
        )
        return message_id

    def answer(
        self, text: str, question: ids.MessageId, supersedes: ids.MessageId | None = None
    ) -> ids.MessageId:
        answer_id = self.start(question, supersedes)
        self.say(answer_id, text)
        return answer_id

    def start(self, question: ids.MessageId, supersedes: ids.MessageId | None = None) -> ids.MessageId:
        answer_id = ids.new(ids.MessageId)
        self.add(
            StartAnswer(
                conversation_id=CONVERSATION, id=answer_id, previous_id=question, supersedes=supersedes
            )
        )
        return answer_id

    def say(self, answer_id: ids.MessageId, text: str) -> None:
        self.add(
            AssistantSentence(
                conversation_id=CONVERSATION,
                id=ids.new(ids.SentenceId),
                previous_id=answer_id,
                sequence=1,
                text=text,
                is_final=True,
                status="completed",
            )
        )

    def vary(self, target: ids.MessageId) -> None:
        self.add(
            ControlVariation(
                conversation_id=CONVERSATION, id=ids.new(ids.MessageId), target_id=target, mode="regenerate"
            )
        )

    @property
    def told(self) -> list[tuple[str, bool]]:
        return [(" ".join(each.text for each in branch.messages), branch.live) for branch in self.branches]

    @property
    def branches(self) -> list[Branch]:
        return branches(self.envelopes)


def test_an_empty_log_has_no_branches() -> None:
    assert branches([]) == []


def test_what_is_asked_during_an_answer_follows_that_answer() -> None:
    log = Log()
    first = log.ask("1?")
    answer = log.start(first)
    second = log.ask("2?", first)
    third = log.ask("3?", second)
    log.say(answer, "1!")
    log.answer("2!", second)
    log.answer("3!", third)
    assert log.told == [("1? 1! 2? 2! 3? 3!", True)]


def test_what_is_said_between_a_variation_and_its_answer_stays() -> None:
    log = Log()
    asked = log.ask("1?")
    first = log.answer("1!", asked)
    log.vary(first)
    quick = log.ask("Quickly!", asked)
    log.answer("One!", asked, first)
    log.answer("Yes.", quick)
    assert log.told == [("1? 1!", False), ("1? One! Quickly! Yes.", True)]


def test_what_was_asked_before_an_answer_began_is_left_with_it() -> None:
    log = Log()
    first = log.ask("1?")
    second = log.ask("2?", first)
    answer = log.answer("1!", first)
    log.answer("2!", second)
    log.vary(answer)
    assert log.told == [("1?", True), ("1? 1! 2? 2!", False)]


def test_an_answer_stays_when_what_was_asked_before_it_began_is_left() -> None:
    log = Log()
    first = log.ask("1?")
    second = log.ask("2?", first)
    log.answer("1!", first)
    log.vary(log.answer("2!", second))
    assert log.told == [("1? 1! 2?", True), ("1? 1! 2? 2!", False)]


def test_an_answer_that_is_asked_for_and_not_begun_leaves_its_question_live() -> None:
    log = Log()
    asked = log.ask("1?")
    log.vary(log.answer("1!", asked))
    assert log.told == [("1?", True), ("1? 1!", False)]


def test_an_answer_to_a_question_that_was_edited_meanwhile_is_no_branch_that_holds() -> None:
    log = Log()
    asked = log.ask("1?")
    edited = log.ask("One?", supersedes=asked)
    log.answer("Too late.", asked)
    log.answer("One!", edited)
    assert log.told == [("1? Too late.", False), ("One? One!", True)]


def test_erased_messages_keep_their_place_without_their_text() -> None:
    log = Log()
    asked = log.ask("Secret?")
    log.answer("Yes.", asked)
    log.add(Erasure(conversation_id=CONVERSATION, ids=[asked]))
    assert log.told == [(" Yes.", True)]
