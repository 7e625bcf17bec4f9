"""A conversation in text, over real LiveKit and PostgreSQL, with a scripted model."""

import asyncio

from alicia import ids
from alicia.protocol.envelope import decode
from alicia.protocol.messages import (
    Acknowledgement,
    AssistantMessage,
    AssistantSentence,
    Configuration,
    ControlStop,
    ErrorMessage,
    ReasoningStep,
    StartAnswer,
    UserMessage,
    UserNote,
)
from alicia.storage.pool import Pool
from support.device import Device, device
from support.scripted import Cut, Fail, Reasoning, Script, Text
from support.stack import Stack
from support.tables import journal, message, rows


async def test_a_question_is_acknowledged_echoed_and_answered_sentence_by_sentence(
    stack: Stack, user: str, pool: Pool
) -> None:
    stack.model.chat(
        Script(Reasoning("First this.\n\nThen that."), Text("Hello there. How are you? I am well.")),
        when="Hi",
    )
    async with device(stack, user) as alone:
        answer_id = await alone.ask("Hi")
        assert [type(body) for body in alone.bodies] == [
            UserMessage,
            StartAnswer,
            ReasoningStep,
            ReasoningStep,
            AssistantSentence,
            AssistantSentence,
            AssistantSentence,
        ]
        assert [body.content for body in alone.all(ReasoningStep)] == ["First this.", "Then that."]
        sentences = alone.all(AssistantSentence)
        assert "".join(each.text for each in sentences) == "Hello there. How are you? I am well."
        assert [each.sequence for each in sentences] == [1, 2, 3]
        assert (sentences[-1].is_final, sentences[-1].status) == (True, "completed")
        assert await message(pool, answer_id) == ("Hello there. How are you? I am well.", "completed")
        assert alone.log == await journal(pool, alone.id)
        assert any(isinstance(each.body, Acknowledgement) and each.body.id for each in alone.heard)


async def test_questions_asked_during_an_answer_are_answered_in_their_order(stack: Stack, user: str) -> None:
    held = stack.model.hold("One two. Three.", when="first")
    stack.model.say("Second answer.", when="second")
    stack.model.say("Third answer.", when="third")
    async with device(stack, user) as alone:
        first = await alone.say("first")
        await alone.hears(StartAnswer)
        second, third = await alone.say("second"), await alone.say("third")
        await alone.until(lambda: len(alone.all(UserMessage)) == 3)
        assert len(alone.all(StartAnswer)) == 1
        held.release_all()
        for question in (first, second, third):
            await alone.answered(question)
        assert [each.previous_id for each in alone.all(StartAnswer)] == [first.id, second.id, third.id]
        # They follow on what was being said, and the model is told of it before them.
        running = alone.all(StartAnswer)[0].id
        assert [each.previous_id for each in alone.all(UserMessage)] == [None, running, second.id]
        said = [each["content"] for each in stack.model.newest("third").messages[1:-1]]
        assert said[1:] == ["One two. Three.", "second", "Second answer."]


async def test_a_stop_keeps_what_was_sent_and_says_so(stack: Stack, user: str, pool: Pool) -> None:
    held = stack.model.hold("Alpha beta gamma. Delta epsilon. Zeta eta theta.", when="Count")
    async with device(stack, user) as alone:
        await alone.say("Count")
        start = await alone.hears(StartAnswer)
        held.release(4)
        await alone.hears(AssistantSentence)
        await alone.submit(
            ControlStop(conversation_id=alone.id, target_id=start.id, stop_type="generation", reason="enough")
        )
        closing = await alone.closed(start.id)
        assert (closing.status, "".join(each.text for each in alone.all(AssistantSentence))) == (
            "stopped",
            "Alpha beta gamma.",
        )
        assert await message(pool, start.id) == ("Alpha beta gamma.", "completed")
        meta = await rows(pool, "SELECT value FROM alicia_meta WHERE ref = %s AND key = 'status'", start.id)
        assert meta == [("stopped",)]
        stack.model.say("Going on.", when="And now?")
        await alone.ask("And now?")


async def test_without_a_streaming_device_the_answer_is_one_message(
    stack: Stack, user: str, pool: Pool
) -> None:
    stack.model.say("One. Two. Three.", when="Hi")
    async with device(stack, user, features=()) as plain:
        answer_id = await plain.ask("Hi")
        whole = plain.all(AssistantMessage)
        assert [(each.id, each.content, each.status) for each in whole] == [
            (answer_id, "One. Two. Three.", "completed")
        ]
        assert plain.all(AssistantSentence) == []
        assert await message(pool, answer_id) == ("One. Two. Three.", "completed")


async def test_a_model_that_fails_in_mid_answer_leaves_what_was_said(
    stack: Stack, user: str, pool: Pool
) -> None:
    stack.model.chat(Script(Text("This much was said. And then "), Fail()), when="Hi")
    async with device(stack, user) as alone:
        answer_id = await alone.ask("Hi")
        error = await alone.hears(ErrorMessage)
        assert (error.code, error.recoverable, error.originating_id) == (503, True, answer_id)
        assert error.message.endswith("ask again in a moment.")
        await alone.closed(answer_id)
        assert await message(pool, answer_id) == ("This much was said.", "failed")
        stack.model.say("Back again.", when="Still there?")
        await alone.ask("Still there?")


async def test_a_model_that_is_killed_in_mid_answer_does_not_harm_the_next_one(
    stack: Stack, user: str
) -> None:
    stack.model.chat(Script(Text("Said before the cut. And"), Cut()), when="Hi")
    async with device(stack, user) as alone:
        answer_id = await alone.ask("Hi")
        assert (await alone.hears(ErrorMessage)).code == 503
        assert (await alone.closed(answer_id)).status == "failed"
        stack.model.say("Well again.", when="And now?")
        assert (await alone.closed(await alone.ask("And now?"))).status == "completed"


async def test_a_note_is_stored_acknowledged_and_shown_to_the_other_device(
    stack: Stack, user: str, pool: Pool
) -> None:
    stack.model.say("Hello.", when="Hi")
    async with device(stack, user) as first, device(stack, user, first.id) as second:
        answer_id = await first.ask("Hi")
        note = UserNote(
            conversation_id=first.id,
            id=ids.new(ids.NoteId),
            message_id=ids.MessageId(answer_id),
            content="Nice.",
            note_type="praise",
        )
        await first.submit(note)
        assert await second.hears(UserNote) == note
        await first.until(lambda: not first.session.outbox)
        stored = await rows(
            pool,
            "SELECT content, message_id, created_by FROM alicia_user_conversation_commentaries WHERE id = %s",
            note.id,
        )
        assert stored == [("Nice.", answer_id, user)]


async def test_two_devices_hold_the_same_log_whoever_speaks(stack: Stack, user: str, pool: Pool) -> None:
    async with device(stack, user) as first, device(stack, user, first.id) as second:
        await asyncio.gather(first.ask("from the first"), second.ask("from the second"))
        for each in (first, second):
            await each.until(
                lambda each=each: sum(body.is_final for body in each.all(AssistantSentence)) == 2
            )
        assert first.log == second.log == await journal(pool, first.id)


def closings(each: Device) -> list[AssistantSentence]:
    return [body for body in each.all(AssistantSentence) if body.is_final]


async def test_an_answer_goes_on_while_nobody_is_there(stack: Stack, user: str, pool: Pool) -> None:
    held = stack.model.hold("First sentence. Second sentence. Third sentence.", when="Tell me")
    async with device(stack, user) as leaving:
        await leaving.say("Tell me")
        start = await leaving.hears(StartAnswer)
    held.release_all()
    async with device(stack, user, leaving.id, log=leaving.log) as back:
        await back.closed(start.id)
        assert back.log == await journal(pool, back.id)
        assert (await message(pool, start.id))[1] == "completed"


async def test_the_head_is_stated_after_the_last_stanza(stack: Stack, user: str) -> None:
    stack.model.say("Hello.", when="Hi")
    async with device(stack, user) as alone:
        await alone.ask("Hi")
        head = decode(alone.log[-1]).stanza_id
        await alone.hears(
            Acknowledgement,
            lambda body: body.acknowledged_stanza_id == 0 and body.last_server_stanza_id == head,
        )


async def test_a_resumed_conversation_tells_what_was_missed(stack: Stack, user: str) -> None:
    stack.model.say("Hello. World.", when="Hi")
    async with device(stack, user) as first:
        await first.ask("Hi")
    async with device(stack, user, first.id) as everything:
        told = await everything.hears(Configuration)
        assert (told.resumed, told.missed, told.status) == (True, len(first.log), "active")
        await everything.until(lambda: everything.log == first.log)
    async with device(stack, user, first.id, log=first.log) as nothing:
        assert (await nothing.hears(Configuration)).missed == 0
        assert nothing.log == first.log
