"""What a dead agent left in the tables is brought to its end by the next one, exactly once."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from alicia.ledger.entries import Begun, Entry
from alicia.protocol.envelope import decode
from alicia.protocol.messages import (
    AssistantSentence,
    ControlStop,
    StartAnswer,
    ToolUseResult,
    UserMessage,
)
from alicia.storage.pool import make_pool
from support.stack import Stack
from support.tables import records, unfinished
from support.talk import Talk


@pytest.fixture
async def talk(place: Stack, user: str) -> AsyncIterator[Talk]:
    place.model.reset()
    async with make_pool(place.database_url, max_size=2) as pool:
        yield await Talk.open(pool, user)


def running(talk: Talk, answer: StartAnswer) -> Entry:
    request = talk.tool_use(answer.id, 1, "search_conversations", parameters={"query": "tea"})
    return Entry(request, private=Begun(running=True))


def begun(talk: Talk, text: str) -> tuple[UserMessage, StartAnswer, Entry]:
    """A question whose answer stands in the middle of a tool's use; to be appended at once."""
    asked = talk.user_message(text)
    answer = talk.start_answer(asked.id)
    return asked, answer, running(talk, answer)


async def finished(talk: Talk) -> list[Any]:
    """Wait until nothing is open any more; the bodies that were added."""
    while True:
        # In this order: an answer that begins between the two looks is unfinished at the second.
        if not await _is_unanswered(talk) and not await unfinished(talk.pool, talk.id):
            break
        await asyncio.sleep(0.1)
    added = [
        decode(data).body async for data in talk.ledger.replay(talk.id, decode(talk.published[-1]).stanza_id)
    ]
    uses = await records(talk.pool, "SELECT status FROM alicia_tool_uses WHERE conversation_id = %s", talk.id)
    assert {use["status"] for use in uses} == {"cancelled"}
    results = [body for body in added if isinstance(body, ToolUseResult)]
    assert len(results) == len(uses)
    assert all("it may have done its work" in (result.error_message or "") for result in results)
    return added


async def _is_unanswered(talk: Talk) -> bool:
    newest = await records(
        talk.pool,
        """
        SELECT message_role
          FROM alicia_messages
         WHERE conversation_id = %s
           AND superseded_by IS NULL
         ORDER BY sequence_number DESC
         LIMIT 1
        """,
        talk.id,
    )
    return newest[0]["message_role"] == "user"


async def test_an_answer_in_mid_call_goes_on_with_the_call_cancelled(
    place: Stack, talk: Talk, user: str
) -> None:
    place.model.say("So I go on.", when=user)
    asked, answer, use = begun(talk, f"Look it up for {user}.")
    await talk.append(asked, answer, use)
    result, sentence = await finished(talk)
    assert isinstance(result, ToolUseResult)
    assert isinstance(sentence, AssistantSentence)
    assert (sentence.previous_id, sentence.text, sentence.status) == (answer.id, "So I go on.", "completed")


async def test_an_answer_that_was_stopped_in_mid_call_is_closed_as_stopped(
    place: Stack, talk: Talk, user: str
) -> None:
    asked, answer, use = begun(talk, f"Look it up for {user}.")
    stop = ControlStop(conversation_id=talk.id, target_id=answer.id, stop_type="all")
    await talk.append(asked, answer, use, stop)
    result, sentence = await finished(talk)
    assert isinstance(result, ToolUseResult)
    assert (sentence.previous_id, sentence.text, sentence.status) == (answer.id, "", "stopped")
    assert place.model.chats == []


async def test_an_answer_whose_branch_was_left_is_closed_and_the_new_question_answered(
    place: Stack, talk: Talk, user: str
) -> None:
    place.model.say("Tea it is.", when=f"{user}'s tea")
    asked, answer, use = begun(talk, f"Look it up for {user}.")
    edited = talk.user_message(f"What is {user}'s tea?", supersedes=asked.id)
    await talk.append(asked, answer, use, edited)
    added = await finished(talk)
    kinds = [type(body).__name__ for body in added]
    assert kinds == ["ToolUseResult", "AssistantSentence", "StartAnswer", "AssistantSentence"]
    assert (added[1].previous_id, added[1].status) == (answer.id, "stopped")
    assert (added[2].previous_id, added[3].text) == (edited.id, "Tea it is.")
    (row,) = await records(talk.pool, "SELECT superseded_by FROM alicia_messages WHERE id = %s", answer.id)
    assert row["superseded_by"] == edited.id
