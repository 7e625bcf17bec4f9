"""Asking, and following what comes of it, against the real agent."""

import pytest

from alicia import ids
from alicia.client import AnswerFailed, InvalidMessage, Refused, Superseded
from alicia.protocol.envelope import encode
from alicia.protocol.messages import (
    AssistantMessage,
    AssistantSentence,
    ReasoningStep,
    StartAnswer,
    UserMessage,
)
from alicia.storage.pool import Pool
from support.scripted import Cut, Reasoning, Script, Text
from support.stack import Stack

from .conftest import Connect, Journal


async def test_an_answer_streams_from_its_start_to_its_closing_sentence(
    stack: Stack, connect: Connect
) -> None:
    stack.model.chat(
        Script(Reasoning("Assam, surely."), Text("It is green. It grows in Assam.")), when="tea?"
    )
    async with connect() as conversation:
        answer = conversation.ask("What is tea?")
        events = [event async for event in answer]
    assert [type(event) for event in events] == [
        StartAnswer,
        ReasoningStep,
        AssistantSentence,
        AssistantSentence,
    ]
    sentences = [event for event in events if isinstance(event, AssistantSentence)]
    assert "".join(sentence.text for sentence in sentences) == "It is green. It grows in Assam."
    assert [sentence.status for sentence in sentences] == [None, "completed"]
    assert (answer.id, answer.status) == (sentences[0].previous_id, "completed")


async def test_an_answer_can_be_awaited_as_text(stack: Stack, connect: Connect) -> None:
    stack.model.say("It is green. It grows in Assam.", when="tea?")
    async with connect() as conversation:
        assert await conversation.ask("What is tea?") == "It is green. It grows in Assam."


async def test_a_device_that_does_not_stream_gets_one_message(stack: Stack, connect: Connect) -> None:
    stack.model.say("It is green. It grows in Assam.", when="tea?")
    async with connect(features=[]) as conversation:
        closing = [event async for event in conversation.ask("What is tea?")][-1]
    assert isinstance(closing, AssistantMessage)
    assert closing.content == "It is green. It grows in Assam."


async def test_messages_that_queue_up_get_each_their_own_answer(stack: Stack, connect: Connect) -> None:
    held = stack.model.hold("The first.", when="Number one")
    async with connect() as conversation:
        answers = [conversation.ask(text) for text in ("Number one", "two", "three")]
        held.release_all()
        assert (await answers[2]).endswith("three")
        assert await answers[0] == "The first."
        assert (await answers[1]).endswith("two")


async def test_a_stopped_answer_keeps_what_was_said(stack: Stack, connect: Connect) -> None:
    held = stack.model.hold("This was said. This was not. Nor this.", when="Talk!")
    async with connect() as conversation:
        answer = conversation.ask("Talk!")
        said: list[str] = []
        held.release(4)
        async for event in answer:
            if isinstance(event, AssistantSentence):
                said.append(event.text)
                if not event.is_final:
                    assert conversation.answering == answer.id
                    await answer.stop()
        assert (said, answer.status) == (["This was said.", ""], "stopped")
        assert conversation.answering is None
        assert not await conversation.stop()


async def test_an_answer_that_breaks_off_fails_and_the_next_one_works(stack: Stack, connect: Connect) -> None:
    stack.model.chat(Script("This much. And then ", Cut()), when="Break off")
    async with connect() as conversation:
        answer = conversation.ask("Break off")
        with pytest.raises(AnswerFailed) as failed:
            await answer
        assert (failed.value.text, answer.status) == ("This much.", "failed")
        assert str(failed.value).startswith("The connection to the model at ")
        assert (await conversation.ask("Again?")).endswith("Again?")


async def test_a_question_can_be_edited_and_an_answer_given_again(stack: Stack, connect: Connect) -> None:
    async with connect(history=True) as conversation:
        first = conversation.ask("Tee?")
        await first
        assert first.question_id is not None
        edited = conversation.edit(first.question_id, "Tea?")
        assert (await edited).endswith("Tea?")
        assert edited.id is not None
        stack.model.say("Something else.", when="Tea?")
        again = conversation.regenerate(edited.id)
        assert await again == "Something else."
        assert again.question_id == edited.question_id
        bodies = [envelope.body for envelope in conversation.log]
        supersedes = [each.supersedes for each in bodies if isinstance(each, UserMessage | StartAnswer)]
        assert supersedes == [None, None, first.question_id, None, edited.id]


async def test_a_queued_question_that_another_branch_leaves_behind_ends(
    stack: Stack, connect: Connect
) -> None:
    async with connect() as conversation:
        first = conversation.ask("one")
        await first
        assert first.question_id is not None
        held = stack.model.hold("Slowly.", when="Number two")
        conversation.ask("Number two")
        queued = conversation.ask("three")
        edited = conversation.edit(first.question_id, "another one")
        with pytest.raises(Superseded):
            await queued
        held.release_all()
        assert (await edited).endswith("another one")


async def test_what_the_agent_refuses_is_raised_with_its_words(connect: Connect) -> None:
    async with connect() as conversation:
        with pytest.raises(Refused) as refused:
            await conversation.regenerate(ids.new(ids.MessageId))
        assert refused.value.error.code < 429
        assert str(refused.value) == refused.value.error.message
        assert (await conversation.ask("Still there?")).endswith("Still there?")


@pytest.mark.parametrize("text", ["x" * (2**20 + 1), "a\0b", "\ud800"])
async def test_what_no_agent_would_take_is_not_even_sent(connect: Connect, text: str) -> None:
    async with connect() as conversation:
        with pytest.raises(InvalidMessage):
            conversation.ask(text)
        assert conversation.outbox == ()


async def test_a_message_larger_than_a_packet_goes_and_comes_whole(
    connect: Connect, journal: Journal
) -> None:
    text = "long " * 30_000
    async with connect(history=True) as conversation:
        await conversation.ask(text)
        echo = conversation.log[0].body
        assert isinstance(echo, UserMessage)
        assert echo.content == text
        assert [encode(envelope) for envelope in conversation.log] == await journal(conversation)


async def test_meta_and_notes_are_kept(connect: Connect, pool: Pool) -> None:
    async with connect() as conversation:
        answer = conversation.ask("Hello", meta={"mood": "good"})
        await answer
        note = await conversation.note("Kind.", message_id=answer.id, note_type="praise")
        await conversation.flush()
    async with pool.connection() as connection:
        cursor = await connection.execute(
            "SELECT value FROM alicia_meta WHERE ref = %s AND key = 'mood'", (answer.question_id,)
        )
        assert await cursor.fetchone() == ("good",)
        cursor = await connection.execute(
            "SELECT content FROM alicia_user_conversation_commentaries WHERE id = %s", (note,)
        )
        assert await cursor.fetchone() == ("Kind.",)
