"""Editing and answering again: the old branch is kept, one branch holds, and everybody sees the same."""

import asyncio
import re

import pytest

from alicia import ids
from alicia.client import Answer, Branch, Conversation, Refused, Superseded
from alicia.protocol.envelope import encode
from alicia.protocol.messages import AssistantSentence, StartAnswer, ToolUseRequest
from alicia.storage.pool import Pool
from support.programs import program
from support.scripted import Script, ToolCall
from support.stack import Stack
from support.tables import journal, records, unfinished

pytestmark = pytest.mark.timeout(120)


def texts(branch: Branch) -> list[str]:
    return [message.text for message in branch.messages]


def live(conversation: Conversation) -> Branch:
    (branch,) = [branch for branch in conversation.branches() if branch.live]
    return branch


async def check(pool: Pool, *devices: Conversation) -> list[str]:
    """Every device has the journal, and its branch that holds is the rows'; what is said in it."""
    first = devices[0]
    stored = await journal(pool, str(first.id))
    for each in devices:
        while len(each.log) < len(stored):
            await anext(each.events())
        assert [encode(envelope) for envelope in each.log] == stored
    found = await records(
        pool,
        """
        SELECT id, previous_id, contents
          FROM alicia_messages
         WHERE conversation_id = %s
           AND superseded_by IS NULL
         ORDER BY sequence_number
        """,
        first.id,
    )
    # One chain: nothing that holds hangs on something that does not.
    assert [row["previous_id"] for row in found] == [None, *(row["id"] for row in found[:-1])]
    assert [message.id for message in live(first).messages] == [row["id"] for row in found]
    assert await unfinished(pool, str(first.id)) == []
    return [row["contents"] for row in found]


def prompt_for(stack: Stack, question: str) -> list[str]:
    """What the model was told of the talk in the newest prompt for a question, without the time."""
    said = [message["content"] for message in stack.model.newest(question).messages[1:]]
    return [re.sub(r"^\[It is .*\]\n\n", "", text) for text in said]


async def test_an_answer_is_given_again_three_times_and_all_four_can_be_read(
    stack: Stack, user: str, pool: Pool
) -> None:
    for text in ("One.", "Two.", "Three.", "Four."):
        stack.model.say(text, when="Count")
    async with program(stack, user) as alone:
        answers = [alone.ask("Count")]
        await answers[0]
        for _ in range(3):
            previous = answers[-1].id
            assert previous is not None
            answers.append(alone.regenerate(previous))
            await answers[-1]
            # No prompt knows of the answers before.
            assert prompt_for(stack, "Count") == ["Count"]
        branches = alone.branches()
        assert [texts(branch) for branch in branches] == [
            ["Count", "One."],
            ["Count", "Two."],
            ["Count", "Three."],
            ["Count", "Four."],
        ]
        assert [branch.live for branch in branches] == [False, False, False, True]
        assert await check(pool, alone) == ["Count", "Four."]
        chain = await records(
            pool,
            """
            SELECT id, superseded_by
              FROM alicia_messages
             WHERE conversation_id = %s
               AND message_role = 'assistant'
             ORDER BY sequence_number
            """,
            alone.id,
        )
        assert [row["superseded_by"] for row in chain] == [*(row["id"] for row in chain[1:]), None]
        await alone.ask("And then?")
        assert prompt_for(stack, "And then?") == ["Count", "Four.", "And then?"]


async def test_an_edit_of_ten_turns_ago_leaves_all_that_followed(stack: Stack, user: str, pool: Pool) -> None:
    async with program(stack, user) as alone:
        for number in range(12):
            stack.model.say(f"Answer {number}.", when=f"Question {number}.")
            await alone.ask(f"Question {number}.")
        old = alone.branches()[0]
        edited = old.messages[2]
        assert edited.text == "Question 1."
        stack.model.say("Another answer.", when="Another question.")
        await alone.edit(edited.id, "Another question.")
        assert prompt_for(stack, "Another question.") == ["Question 0.", "Answer 0.", "Another question."]
        assert await check(pool, alone) == [
            "Question 0.",
            "Answer 0.",
            "Another question.",
            "Another answer.",
        ]
        before, now = alone.branches()
        assert (len(before.messages), before.live, now.live) == (24, False, True)
        assert texts(before) == texts(old)
        await alone.ask("Going on.")
        assert prompt_for(stack, "Going on.")[-2:] == ["Another answer.", "Going on."]
        async with program(stack, user, alone.id, device="other") as other:
            assert other.branches() == alone.branches()


async def test_an_edit_during_an_answer_stops_it(stack: Stack, user: str, pool: Pool) -> None:
    held = stack.model.hold("This was said. This is not heard any more.", when="First")
    stack.model.say("Better.", when="Second")
    async with program(stack, user) as alone:
        first = alone.ask("First")
        held.release(4)
        async for event in first:
            if isinstance(event, AssistantSentence):
                break
        assert first.question_id is not None
        assert await alone.edit(first.question_id, "Second") == "Better."
        (held_request,) = (chat for chat in stack.model.chats if chat.user_text.endswith("First"))
        assert await held_request.ended() == "left"
        assert await check(pool, alone) == ["Second", "Better."]
        before, _ = alone.branches()
        assert texts(before) == ["First", "This was said."]
        assert before.messages[-1].status == "stopped"


async def test_an_edit_in_mid_call_cancels_the_tool(stack: Stack, user: str, pool: Pool) -> None:
    begun = asyncio.Event()

    async def wait() -> None:
        """Wait for ever."""
        begun.set()
        await asyncio.get_running_loop().create_future()

    stack.model.chat(Script(ToolCall("wait")), when="Wait")
    async with program(stack, user, tools=[wait]) as alone:
        first = alone.ask("Wait")
        await begun.wait()
        assert first.question_id is not None
        await alone.edit(first.question_id, "Never mind")
        (request,) = [one.body for one in alone.log if isinstance(one.body, ToolUseRequest)]
        use = await records(pool, "SELECT status FROM alicia_tool_uses WHERE id = %s", request.id)
        assert use == [{"status": "cancelled"}]
        await check(pool, alone)


async def test_an_answer_that_is_asked_for_again_keeps_its_id_when_the_agent_is_killed(
    own_stack: Stack, user: str, pool: Pool
) -> None:
    own_stack.model.say("An answer.", always=True)
    async with program(own_stack, user) as alone:
        answer = alone.ask("A question")
        await answer
        assert answer.id is not None
        own_stack.model.reset()
        own_stack.model.hold("Never said.")
        own_stack.model.say("Said by another.", always=True)
        again = alone.regenerate(answer.id)
        await own_stack.model.arrived()
        own_stack.replace_agent()
        assert await again == "Said by another."
        assert again.id == alone.branches()[-1].messages[-1].id
        await check(pool, alone)


async def settled(answer: Answer) -> str:
    """How it ended: what is done by two at once may be refused, or left behind."""
    try:
        return await answer
    except (Refused, Superseded) as error:
        return type(error).__name__


@pytest.mark.parametrize("what", ["edit", "regenerate", "both", "far apart"])
async def test_two_devices_that_begin_a_branch_at_once_end_in_the_same_one(
    stack: Stack, user: str, pool: Pool, what: str
) -> None:
    async with (
        program(stack, user, device="one") as one,
        program(stack, user, one.id, device="two") as two,
    ):
        for number in range(3):
            await one.ask(f"Question {number}")
        await check(pool, one, two)
        said = live(one).messages
        question, answer = said[4].id, said[5].id
        deeds: list[tuple[Conversation, str, ids.MessageId]] = {
            "edit": [(one, "edit", question), (two, "edit", question)],
            "regenerate": [(one, "again", answer), (two, "again", answer)],
            "both": [(one, "edit", question), (two, "again", answer)],
            "far apart": [(one, "edit", said[0].id), (two, "again", answer)],
        }[what]
        answers = [
            device.edit(target, f"By {number}") if deed == "edit" else device.regenerate(target)
            for number, (device, deed, target) in enumerate(deeds)
        ]
        await asyncio.gather(*map(settled, answers))
        await one.ask("Still here?")
        await two.ask("So am I")
        contents = await check(pool, one, two)
        assert one.branches() == two.branches()
        assert set(contents) >= {"Still here?", "So am I"}
        # The model was told the branch that holds, and nothing else.
        told = prompt_for(stack, "So am I")
        assert told[:-1] == contents[: len(told) - 1]


async def test_a_branch_that_was_left_cannot_be_gone_on_with_by_mistake(
    stack: Stack, user: str, pool: Pool
) -> None:
    async with program(stack, user) as alone:
        first, second = alone.ask("First"), alone.ask("Second")
        await first
        await second
        assert first.question_id is not None
        assert second.id is not None
        await alone.edit(first.question_id, "Other")
        with pytest.raises(Refused, match="a branch that was left"):
            await alone.regenerate(second.id)
        assert (await check(pool, alone))[0] == "Other"


async def test_a_question_that_waits_behind_an_answer_is_left_with_it(
    stack: Stack, user: str, pool: Pool
) -> None:
    held = stack.model.hold("One two three.", when="First")
    async with program(stack, user) as alone:
        first, waiting = alone.ask("First"), alone.ask("Waiting")
        async for event in first:
            if isinstance(event, StartAnswer):
                break
        await alone.flush()
        assert first.question_id is not None
        edited = alone.edit(first.question_id, "Instead")
        with pytest.raises(Superseded):
            await waiting
        held.release_all()
        await edited
        assert (await check(pool, alone))[0] == "Instead"
