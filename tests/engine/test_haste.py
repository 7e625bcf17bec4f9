"""Who reacts to what was just seen finds an agent that knows of it, however slow that is."""

import asyncio
from typing import Any

import pytest
from psycopg import OperationalError

from alicia import ids
from alicia.engine import summary
from alicia.engine.history import History
from alicia.engine.talk import Utterance
from alicia.errors import DatabaseUnavailable, ErrorCode
from alicia.protocol.messages import (
    Acknowledgement,
    AssistantSentence,
    ControlStop,
    ControlVariation,
    Erasure,
    ErrorMessage,
    StartAnswer,
    UserMessage,
)
from alicia.protocol.values import Map
from alicia.storage.pool import Pool
from alicia.storage.summaries import Stage, keep_in_meta
from alicia.storage.switch import switch_memory
from alicia.storage.unfinished import unfinished
from support.parley import PATIENCE, Hold, parley, unopened
from support.tables import journal, records


async def test_what_is_asked_at_an_answers_last_sentence_follows_on_it(pool: Pool, user: str) -> None:
    async with parley(pool, user) as here:
        sending = Hold(lambda body: isinstance(body, AssistantSentence))
        here.sendings.append(sending)
        first = here.ask("one")
        answer = await here.answered(first)
        second = here.ask("two")
        await here.taken(second)
        sending.released.set()
        await here.answered(second)
        assert (await here.echo(second)).previous_id == answer.id
        assert await here.prompted("two") == ["one", "About one", "two"]


async def test_an_edit_right_after_an_answer_was_asked_for_again_keeps_what_was_said_before(
    pool: Pool, user: str
) -> None:
    async with parley(pool, user) as here:
        await here.answered(here.ask("zero"))
        here.model.holds["one"], linger = asyncio.Event(), asyncio.Event()
        here.model.lingers["one"] = linger
        question = here.ask("one")
        answer = await here.started(question.id)
        await here.prompted("one")
        await here.stored(here.vary(answer.id))
        await here.stored(here.vary(question.id, "two"))
        linger.set()
        assert await here.prompted("two") == ["zero", "About zero", "two"]


async def test_what_is_asked_right_after_an_answer_was_asked_for_again_follows_on_the_question(
    pool: Pool, user: str
) -> None:
    async with parley(pool, user) as here:
        here.model.holds["one"], linger = asyncio.Event(), asyncio.Event()
        here.model.lingers["one"] = linger
        question = here.ask("one")
        answer = await here.started(question.id)
        await here.prompted("one")
        await here.stored(here.vary(answer.id))
        next_one = here.ask("two")
        assert (await here.echo(next_one)).previous_id == question.id
        here.model.holds["one"].set()
        linger.set()
        assert await here.prompted("two") == ["one", "About one", "two"]


async def test_what_is_asked_as_soon_as_an_answer_begins_follows_on_it(pool: Pool, user: str) -> None:
    async with parley(pool, user) as here:
        sending = Hold(lambda body: isinstance(body, StartAnswer))
        here.sendings.append(sending)
        answer = await here.started(here.ask("one").id)
        second = here.ask("two")
        await here.taken(second)
        sending.released.set()
        assert (await here.echo(second)).previous_id == answer.id


async def test_what_is_said_while_something_typed_is_being_stored_follows_on_that(
    pool: Pool, user: str
) -> None:
    async with parley(pool, user) as here:
        storing = Hold(lambda body: isinstance(body, UserMessage))
        here.ledger.holds.append(storing)
        typed = here.ask("typed")
        await storing.reached.wait()
        said = asyncio.create_task(here.conversation.talk.hear(utterance("said"), b""))
        await asyncio.sleep(0)
        storing.released.set()
        await said
        spoken = await here.hears(UserMessage, lambda body: body.content == "said")
        assert spoken.previous_id in (typed.id, (await here.started(typed.id)).id)


async def test_what_is_said_while_an_edit_is_being_stored_follows_on_that(pool: Pool, user: str) -> None:
    async with parley(pool, user) as here:
        question = here.ask("one")
        await here.answered(question)
        storing = Hold(lambda body: isinstance(body, ControlVariation))
        here.ledger.holds.append(storing)
        edited = here.vary(question.id, "two")
        await storing.reached.wait()
        said = asyncio.create_task(here.conversation.talk.hear(utterance("said"), b""))
        await asyncio.sleep(0)
        storing.released.set()
        await said
        spoken = await here.hears(UserMessage, lambda body: body.content == "said")
        assert spoken.previous_id in (edited.id, (await here.started(edited.id)).id)
        await here.answered(spoken)
        assert await here.prompt_for("three") == ["two", "About two", "said", "About said", "three"]


async def test_who_goes_on_in_a_branch_that_another_device_has_just_left_is_refused(
    pool: Pool, user: str
) -> None:
    async with parley(pool, user) as here:
        question = here.ask("one")
        answer = await here.answered(question)
        here.vary(question.id, "two")
        late = here.ask("three", previous_id=answer.id)
        error = await here.hears(ErrorMessage)
        assert (error.originating_id, error.code) == (late.id, ErrorCode.WRONG_STATE)
        await here.answered(here.ask("four"))
        assert await here.prompt_for("five") == ["two", "About two", "four", "About four", "five"]


async def test_a_message_that_replaces_another_follows_on_what_that_one_followed(
    pool: Pool, user: str
) -> None:
    async with parley(pool, user) as here:
        before = await here.answered(here.ask("zero"))
        question = here.ask("one")
        await here.answered(question)
        other = here.ask("two", supersedes=question.id)
        assert (await here.echo(other)).previous_id == before.id
        await here.answered(other)
        assert await here.prompt_for("three") == ["zero", "About zero", "two", "About two", "three"]


async def test_a_question_that_is_stopped_while_it_waits_is_not_answered(pool: Pool, user: str) -> None:
    async with parley(pool, user) as here:
        here.model.holds["one"] = asyncio.Event()
        here.ask("one")
        await here.prompted("one")
        waiting = here.ask("two")
        stop = here.submit(ControlStop(conversation_id=here.id, target_id=waiting.id, stop_type="all"))
        await here.hears(ControlStop, lambda body: body.target_id == stop.target_id)
        here.model.holds["one"].set()
        end = await here.closed((await here.started(waiting.id)).id)
        assert (end.text, end.status) == ("", "stopped")
        here.ask("three")
        await here.prompted("three")
        assert [prompt[-1] for prompt in here.model.prompts] == ["one", "three"]


async def test_an_answer_that_is_asked_for_again_can_be_stopped_before_it_begins(
    pool: Pool, user: str
) -> None:
    async with parley(pool, user) as here:
        question = here.ask("one")
        answer = await here.answered(question)
        here.model.holds["two"] = here.model.lingers["two"] = asyncio.Event()
        here.ask("two")
        await here.prompted("two")
        again = here.vary(answer.id)
        here.submit(ControlStop(conversation_id=here.id, target_id=again.id, stop_type="all"))
        await here.hears(ControlStop)
        here.model.lingers["two"].set()
        assert (await here.closed(again.id)).status == "stopped"
        assert [prompt[-1] for prompt in here.model.prompts] == ["one", "two"]


async def test_what_was_asked_before_an_answer_began_is_left_with_it_everywhere(
    pool: Pool, user: str
) -> None:
    async with parley(pool, user) as here:
        here.model.remembered.clear()
        first, second = here.ask("one"), here.ask("two")
        await here.stored(second)
        here.model.remembered.set()
        await here.answered(second)
        again = here.vary((await here.started(first.id)).id)
        await here.closed(again.id)
        await here.answered(here.ask("three"))
        assert await here.prompted("three") == ["one", "About one", "three"]
        async with pool.connection() as conn:
            assert await unfinished(conn, here.id) == []


async def test_what_was_being_stored_when_its_answer_was_erased_is_erased_too(pool: Pool, user: str) -> None:
    async with parley(pool, user) as here:
        here.model.talkative.add("one")
        storing = Hold(lambda body: isinstance(body, AssistantSentence))
        here.ledger.holds.append(storing)
        answer = await here.started(here.ask("one").id)
        await storing.reached.wait()
        await here.ledger.erase_message(user, answer.id)
        here.conversation.notice()
        await here.model.left.wait()
        storing.released.set()
        await here.hears(Erasure)
        await here.closed(answer.id)
        said = await records(
            pool,
            """
            SELECT m.contents, s.text
              FROM alicia_messages m
              JOIN alicia_sentences s ON s.message_id = m.id
             WHERE m.id = %s
            """,
            answer.id,
        )
        assert {text for row in said for text in row.values()} == {""}
        assert b"About one" not in b"".join(await journal(pool, here.id))


async def test_an_answer_whose_question_was_erased_cannot_be_given_again(pool: Pool, user: str) -> None:
    async with parley(pool, user) as here:
        question = here.ask("one")
        answer = await here.answered(question)
        await here.ledger.erase_message(user, question.id)
        here.conversation.notice()
        await here.hears(Erasure)
        again = here.vary(answer.id)
        error = await here.hears(ErrorMessage)
        assert (error.originating_id, error.code) == (again.id, ErrorCode.WRONG_STATE)
        assert await here.prompt_for("two") == ["About one", "two"]


async def test_an_answer_that_was_begun_on_what_is_erased_is_begun_anew(
    pool: Pool, user: str, forgotten: asyncio.Event
) -> None:
    async with parley(pool, user) as here:
        question = here.ask("zero")
        await here.answered(question)
        for _ in range(50):
            # Until the agent knows that the answer has ended, too.
            await asyncio.sleep(0)
        here.conversation.talk.guess("one", here.device)
        assert await here.prompted("one") == ["zero", "About zero", "one"]
        storing = Hold(lambda body: isinstance(body, UserMessage))
        here.ledger.holds.append(storing)
        saying = asyncio.create_task(here.conversation.talk.hear(utterance("one"), b""))
        await storing.reached.wait()
        await here.ledger.erase_message(user, question.id)
        here.conversation.notice()
        await forgotten.wait()
        storing.released.set()
        await saying
        said = await here.hears(UserMessage, lambda body: body.content == "one")
        await here.answered(said)
        assert await here.prompted("one") == ["About zero", "one"]


async def test_a_question_that_is_erased_while_it_is_to_be_answered_again_ends_nothing(
    pool: Pool, user: str, forgotten: asyncio.Event
) -> None:
    async with parley(pool, user) as here:
        question = here.ask("one")
        answer = await here.answered(question)
        storing = Hold(lambda body: isinstance(body, ControlVariation))
        here.ledger.holds.append(storing)
        here.vary(answer.id)
        await storing.reached.wait()
        await here.ledger.erase_message(user, question.id)
        here.conversation.notice()
        await forgotten.wait()
        storing.released.set()
        await here.hears(Erasure)
        await here.answered(here.ask("two"))


async def test_a_summary_that_was_just_stored_is_in_the_prompt_of_what_is_asked_then(
    pool: Pool, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored, released, folded = asyncio.Event(), asyncio.Event(), asyncio.Event()
    fold = History.fold

    async def keep(*given: Any) -> None:
        await keep_in_meta(*given)
        stored.set()
        await released.wait()

    def note(history: History, stage: Stage) -> None:
        fold(history, stage)
        folded.set()

    monkeypatch.setattr(summary, "keep_in_meta", keep)
    monkeypatch.setattr(History, "fold", note)
    async with parley(pool, user) as here:
        async with pool.connection() as conn:
            await switch_memory(conn, user, on=False)
        here.model.minutes = ["They filled the window."]
        await here.answered(here.ask("long " * 2_000))
        await here.answered(here.ask("one"))
        async with asyncio.timeout(PATIENCE):
            await stored.wait()
            here.model.remembered.clear()
            await here.stored(here.ask("two"))
            released.set()
            await folded.wait()
        here.model.remembered.set()
        assert await here.prompted("two") == ["one", "About one", "two"]


async def test_a_database_that_goes_away_while_a_branch_is_sought_ends_nothing(
    pool: Pool, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object) -> None:
        raise OperationalError("Away.")

    async with parley(pool, user) as here:
        answer = await here.answered(here.ask("one"))
        with monkeypatch.context() as patched:
            patched.setattr("alicia.engine.hearing.message", away)
            here.vary(answer.id)
            assert (await here.hears(ErrorMessage)).code == ErrorCode.UNAVAILABLE
        await here.answered(here.ask("two"))


async def test_who_opens_a_conversation_again_after_the_database_was_away_finds_all_of_it_known(
    pool: Pool, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(_: object) -> Map:
        raise DatabaseUnavailable("Away.")

    async with unopened(pool, user) as here:
        with monkeypatch.context() as patched:
            patched.setattr(here.ledger, "preferences", away)
            here.open(preferences={"recording": False})
            assert (await here.hears(ErrorMessage)).code == ErrorCode.UNAVAILABLE
        here.open()
        await here.hears(Acknowledgement)
        assert here.conversation.talk.owner == user
        assert not here.conversation.talk.wishes.recording


def utterance(text: str) -> Utterance:
    return Utterance(audio_id=ids.new(ids.AudioId), text=text)
