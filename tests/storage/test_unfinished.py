"""What an agent that takes a conversation over finds to be finished, and how."""

import pytest

from alicia import ids
from alicia.ledger.entries import Begun, Entry
from alicia.protocol.messages import ControlStop, ControlVariation, StartAnswer, ToolUseRequest, ToolUseResult
from alicia.storage.pool import Pool
from alicia.storage.tools import use_notes
from alicia.storage.unfinished import Unfinished, unfinished, uses_of_answers
from support.talk import Talk


@pytest.fixture
async def talk(pool: Pool, user: str) -> Talk:
    return await Talk.open(pool, user)


async def found(talk: Talk) -> list[Unfinished]:
    async with talk.pool.connection() as conn:
        return await unfinished(conn, talk.id)


def vary(talk: Talk, target: ids.MessageId) -> ControlVariation:
    return ControlVariation(
        conversation_id=talk.id, id=ids.new(ids.MessageId), target_id=target, mode="regenerate"
    )


async def test_a_closed_answer_wants_nothing(talk: Talk) -> None:
    await talk.exchange("One?", "1.")
    assert await found(talk) == []


async def test_a_question_without_an_answer_is_to_be_answered(talk: Talk) -> None:
    asked = talk.user_message("One?")
    await talk.append(asked)
    (left,) = await found(talk)
    assert (left.message_id, left.answer_id, left.begun, left.stopped) == (asked.id, None, False, False)


async def test_an_answer_that_was_begun_is_to_be_gone_on_with(talk: Talk) -> None:
    asked = talk.user_message("One?")
    answer = talk.start_answer(asked.id)
    await talk.append(asked, answer, talk.sentence(answer, 1, "Well."), use(talk, answer, 3))
    (left,) = await found(talk)
    assert (left.answer_id, left.begun, left.stopped) == (answer.id, True, False)
    assert (left.said, left.steps) == (["Well."], 3)


@pytest.mark.parametrize("which", ["answer", "question"])
async def test_an_answer_that_was_stopped_only_wants_its_end(talk: Talk, which: str) -> None:
    asked = talk.user_message("One?")
    answer = talk.start_answer(asked.id)
    await talk.append(asked)
    await talk.append(answer)
    target = answer.id if which == "answer" else asked.id
    await talk.append(ControlStop(conversation_id=talk.id, target_id=target, stop_type="generation"))
    (left,) = await found(talk)
    assert (left.begun, left.stopped, left.superseded) == (True, True, False)


async def test_a_stop_of_an_earlier_answer_does_not_stop_the_next_one(talk: Talk) -> None:
    asked, first = await talk.exchange("One?", "1.")
    await talk.append(ControlStop(conversation_id=talk.id, target_id=asked.id, stop_type="all"))
    again = vary(talk, first.id)
    await talk.append(again)
    await talk.append(talk.start_answer(asked.id, id=again.id, supersedes=first.id))
    (left,) = await found(talk)
    assert (left.answer_id, left.stopped) == (again.id, False)


async def test_a_question_that_was_stopped_before_its_turn_only_wants_its_end(talk: Talk) -> None:
    asked = talk.user_message("One?")
    await talk.append(asked)
    await talk.append(ControlStop(conversation_id=talk.id, target_id=asked.id, stop_type="all"))
    (left,) = await found(talk)
    assert (left.message_id, left.begun, left.stopped) == (asked.id, False, True)


async def test_an_answer_that_was_asked_for_again_may_be_stopped_before_its_turn(talk: Talk) -> None:
    asked, first = await talk.exchange("One?", "1.")
    await talk.append(ControlStop(conversation_id=talk.id, target_id=asked.id, stop_type="all"))
    again = vary(talk, first.id)
    await talk.append(again)
    assert [left.stopped for left in await found(talk)] == [False]
    stop = ControlStop(conversation_id=talk.id, target_id=again.id, stop_type="all")
    assert (await talk.ledger.known(talk.id, stop)).kind == "free"
    await talk.append(stop)
    assert [(left.answer_id, left.stopped) for left in await found(talk)] == [(again.id, True)]


async def test_an_answer_whose_question_was_edited_wants_its_end_and_the_edit_its_answer(talk: Talk) -> None:
    asked = talk.user_message("One?")
    answer = talk.start_answer(asked.id)
    await talk.append(asked, answer)
    edited = talk.user_message("Eins?", supersedes=asked.id)
    await talk.append(edited)
    closing, asking = await found(talk)
    assert (closing.answer_id, closing.stopped, closing.superseded) == (answer.id, True, True)
    assert (asking.message_id, asking.begun) == (edited.id, False)


async def test_an_answer_that_was_asked_for_again_keeps_the_id_it_was_asked_under(talk: Talk) -> None:
    asked, first = await talk.exchange("One?", "1.")
    early, late = vary(talk, first.id), vary(talk, first.id)
    await talk.append(early)
    await talk.append(late)
    (left,) = await found(talk)
    assert (left.message_id, left.answer_id) == (asked.id, late.id)
    assert (left.begun, left.supersedes) == (False, first.id)


def use(talk: Talk, answer: StartAnswer, sequence: int = 1) -> Entry:
    request = talk.tool_use(answer.id, sequence, "search", parameters={"q": "tea"})
    return Entry(request, private=Begun(running=True))


async def test_the_tool_uses_of_an_answer_are_read_with_how_they_ended(talk: Talk) -> None:
    asked = talk.user_message("One?")
    answer = talk.start_answer(asked.id)
    first, second = use(talk, answer, 1), use(talk, answer, 2)
    await talk.append(asked, answer, first, second)
    assert isinstance(first.body, ToolUseRequest)
    await talk.append(
        ToolUseResult(
            conversation_id=talk.id, request_id=first.body.id, success=True, result={"found": "x" * 1000}
        )
    )
    async with talk.pool.connection() as conn:
        uses = await uses_of_answers(conn, [answer.id])
        notes = await use_notes(conn, [answer.id], longest=20, most=1)
    assert [each.status for each in uses] == ["success", "running"]
    assert [(note.tool_name, note.arguments, note.result) for note in notes] == [
        ("search", '{"q": "tea"}', '{"found": "xxxxxxxxx')
    ]
