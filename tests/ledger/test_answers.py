"""An answer's life in the rows: streaming, growing, closing; and the branches that edits make."""

import pytest

from alicia import ids
from alicia.protocol.messages import (
    AnswerStatus,
    AssistantMessage,
    ControlVariation,
    StartAnswer,
    UserMessage,
)
from alicia.storage.messages import history
from alicia.storage.unfinished import unfinished
from support.talk import Talk


async def statuses(talk: Talk, message_id: str) -> tuple[str, str, list[str]]:
    message = await talk.row(
        "SELECT contents, completion_status FROM alicia_messages WHERE id = %s", message_id
    )
    sentences = await talk.rows(
        """
        SELECT completion_status FROM alicia_sentences WHERE message_id = %s ORDER BY sentence_sequence_number
        """,
        message_id,
    )
    return (
        message["contents"],
        message["completion_status"],
        [sentence["completion_status"] for sentence in sentences],
    )


async def test_an_answer_grows_sentence_by_sentence(talk: Talk) -> None:
    asked = talk.user_message()
    started = talk.start_answer(asked.id, answer_type="text")
    await talk.append(asked, started)
    assert await statuses(talk, started.id) == ("", "streaming", [])
    assert await talk.meta(started.id) == {"answerType": "text"}
    first = talk.sentence(started, 1, "I'd be happy to help you with your account.")
    await talk.append(first)
    assert await statuses(talk, started.id) == (first.text, "streaming", ["streaming"])
    last = talk.sentence(started, 2, " What is it?", final=True, status="completed")
    await talk.append(last)
    assert await statuses(talk, started.id) == (
        "I'd be happy to help you with your account. What is it?",
        "completed",
        ["completed", "completed"],
    )
    row = await talk.row("SELECT * FROM alicia_sentences WHERE id = %s", last.id)
    assert (row["message_id"], row["sentence_sequence_number"], row["text"]) == (
        started.id,
        2,
        " What is it?",
    )
    assert (await talk.meta(last.id))["isFinal"] == "true"


@pytest.mark.parametrize(
    "texts",
    [["One.", " Two.", ""], ["List:\n", "- a\n", "- b"], ["One.", "\n\nTwo."], ["你好。", "再见。"], [""]],
)
async def test_the_contents_are_exactly_the_sentences(talk: Talk, texts: list[str]) -> None:
    _, started = await talk.exchange("Go on.", *texts)
    assert await statuses(talk, started.id) == ("".join(texts), "completed", ["completed"] * len(texts))


@pytest.mark.parametrize(
    ("status", "stored", "meta"),
    [
        ("completed", "completed", {}),
        ("stopped", "completed", {"status": "stopped"}),
        ("failed", "failed", {}),
    ],
)
async def test_an_answer_closes_as_it_ended(
    talk: Talk, status: AnswerStatus, stored: str, meta: dict[str, str]
) -> None:
    asked = talk.user_message()
    streamed, whole = talk.start_answer(asked.id), talk.start_answer(asked.id)
    await talk.append(asked, streamed, talk.sentence(streamed, 1, "One."))
    await talk.append(talk.sentence(streamed, 2, "", final=True, status=status))
    assert await statuses(talk, streamed.id) == ("One.", stored, [stored, stored])
    assert await talk.meta(streamed.id) == meta
    closing = AssistantMessage(
        conversation_id=talk.id, id=whole.id, previous_id=asked.id, content="All.", status=status
    )
    await talk.append(whole)
    await talk.append(closing)
    assert await statuses(talk, whole.id) == ("All.", stored, [])
    assert await talk.meta(whole.id) == meta


async def test_messages_are_numbered_in_the_order_of_their_stanzas(talk: Talk) -> None:
    for number in range(5):
        await talk.exchange(f"Question {number}?", "Yes.")
    rows = await talk.rows(
        "SELECT sequence_number FROM alicia_messages WHERE conversation_id = %s ORDER BY sequence_number",
        talk.id,
    )
    assert [row["sequence_number"] for row in rows] == list(range(1, 11))


async def live(talk: Talk) -> list[str]:
    async with talk.pool.connection() as conn:
        page = await history(conn, talk.user, talk.id)
    assert page
    return [message.contents for message in page.messages]


async def test_an_edit_supersedes_all_that_came_after_its_target(talk: Talk) -> None:
    await talk.exchange("One?", "1.")
    second, _ = await talk.exchange("Two?", "2.")
    await talk.exchange("Three?", "3.")
    edit = ControlVariation(
        conversation_id=talk.id, id=ids.new(ids.MessageId), target_id=second.id, mode="edit", content="Zwei?"
    )
    new = talk.user_message("Zwei?", id=edit.id, supersedes=second.id)
    await talk.append(edit, new)
    assert await live(talk) == ["One?", "1.", "Zwei?"]
    rows = await talk.rows(
        "SELECT contents FROM alicia_messages WHERE superseded_by = %s ORDER BY sequence_number",
        edit.id,
    )
    assert [row["contents"] for row in rows] == ["Two?", "2.", "Three?", "3."]
    # Without a `previousId` it follows what the edited one followed.
    row = await talk.row("SELECT previous_id FROM alicia_messages WHERE id = %s", new.id)
    before = await talk.row(
        "SELECT id FROM alicia_messages WHERE conversation_id = %s AND contents = '1.'", talk.id
    )
    assert row["previous_id"] == before["id"]


async def test_a_regenerated_answer_takes_the_place_of_the_old_one_again_and_again(talk: Talk) -> None:
    asked, first = await talk.exchange("One?", "1.")
    answers = [first]
    for text in ("2.", "3."):
        new = talk.start_answer(asked.id, supersedes=answers[-1].id)
        await talk.append(new, talk.sentence(new, 1, text, final=True))
        answers.append(new)
    assert await live(talk) == ["One?", "3."]
    rows = await talk.rows(
        """
        SELECT superseded_by FROM alicia_messages WHERE previous_id = %s ORDER BY sequence_number
        """,
        asked.id,
    )
    assert [row["superseded_by"] for row in rows] == [answers[1].id, answers[2].id, None]


async def test_what_is_said_between_a_variation_and_its_answer_stays(talk: Talk) -> None:
    asked, first = await talk.exchange("One?", "1.")
    variation = ControlVariation(
        conversation_id=talk.id, id=ids.new(ids.MessageId), target_id=first.id, mode="regenerate"
    )
    await talk.append(variation)
    await talk.append(talk.user_message("Quickly!"))
    new = talk.start_answer(asked.id, id=variation.id, supersedes=first.id)
    await talk.append(new, talk.sentence(new, 1, "2.", final=True))
    assert await live(talk) == ["One?", "Quickly!", "2."]


async def test_both_branches_can_be_read(talk: Talk) -> None:
    asked, _ = await talk.exchange("One?", "1.")
    await talk.append(talk.user_message("Eins?", supersedes=asked.id))
    async with talk.pool.connection() as conn:
        page = await history(conn, talk.user, talk.id, superseded=True)
    assert page
    assert [message.contents for message in page.messages] == ["One?", "1.", "Eins?"]


def regenerate(talk: Talk, target_id: ids.MessageId) -> ControlVariation:
    return ControlVariation(
        conversation_id=talk.id, id=ids.new(ids.MessageId), target_id=target_id, mode="regenerate"
    )


async def test_of_two_answers_that_are_asked_for_at_once_the_later_one_holds(talk: Talk) -> None:
    asked, first = await talk.exchange("One?", "1.")
    earlier, later = regenerate(talk, first.id), regenerate(talk, first.id)
    await talk.append(earlier)
    await talk.append(later)
    late = talk.start_answer(asked.id, id=earlier.id, supersedes=first.id)
    await talk.append(late, talk.sentence(late, 1, "2.", final=True))
    assert await live(talk) == ["One?"]
    new = talk.start_answer(asked.id, id=later.id, supersedes=late.id)
    await talk.append(new, talk.sentence(new, 1, "3.", final=True))
    assert await live(talk) == ["One?", "3."]


async def test_an_answer_that_begins_when_its_question_was_edited_is_superseded_too(talk: Talk) -> None:
    asked = talk.user_message("One?")
    await talk.append(asked)
    await talk.append(talk.user_message("Eins?", supersedes=asked.id))
    late = talk.start_answer(asked.id)
    await talk.append(late, talk.sentence(late, 1, "1.", final=True))
    assert await live(talk) == ["Eins?"]


async def test_an_answer_takes_the_place_of_one_that_was_given_in_the_meantime(talk: Talk) -> None:
    asked, first = await talk.exchange("One?", "1.")
    earlier, later = regenerate(talk, first.id), regenerate(talk, first.id)
    await talk.append(earlier)
    quick = talk.start_answer(asked.id, id=earlier.id, supersedes=first.id)
    await talk.append(quick, talk.sentence(quick, 1, "2.", final=True))
    await talk.append(later)
    new = talk.start_answer(asked.id, id=later.id, supersedes=first.id)
    await talk.append(new, talk.sentence(new, 1, "3.", final=True))
    assert await live(talk) == ["One?", "3."]


async def two_at_once(talk: Talk) -> tuple[list[UserMessage], list[StartAnswer]]:
    """Two questions that were asked before the first one's answer began, answered."""
    questions = [talk.user_message("One?"), talk.user_message("Two?")]
    for question in questions:
        await talk.append(question)
    answers = [talk.start_answer(asked.id) for asked in questions]
    for answer, text in zip(answers, ("1.", "2."), strict=True):
        await talk.append(answer, talk.sentence(answer, 1, text, final=True))
    return questions, answers


async def test_what_was_asked_before_an_answer_began_is_left_with_it(talk: Talk) -> None:
    questions, answers = await two_at_once(talk)
    await talk.append(regenerate(talk, answers[0].id))
    assert await live(talk) == ["One?"]
    async with talk.pool.connection() as conn:
        assert [each.message_id for each in await unfinished(conn, talk.id)] == [questions[0].id]


async def test_an_answer_stays_when_what_was_asked_before_it_began_is_left(talk: Talk) -> None:
    questions, answers = await two_at_once(talk)
    await talk.append(regenerate(talk, answers[1].id))
    assert await live(talk) == ["One?", "Two?", "1."]
    async with talk.pool.connection() as conn:
        assert [each.message_id for each in await unfinished(conn, talk.id)] == [questions[1].id]
    await talk.append(talk.user_message("Three?", supersedes=questions[1].id))
    assert await live(talk) == ["One?", "1.", "Three?"]
