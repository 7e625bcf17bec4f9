"""What is done after an answer, while nobody waits: lessons, a title, and never at a question's cost."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from alicia.protocol.messages import AssistantSentence, Configuration, MemoryTrace, StartAnswer
from alicia.storage.memories import memories, update_memory
from alicia.storage.pool import Pool
from alicia.storage.switch import switch_memory
from support.device import Device, device
from support.scripted import Gate, Script
from support.stack import Stack
from support.tables import journal, rows

pytestmark = pytest.mark.timeout(180)

LEARNING = "Statements:"
"""What only a request about what is worth keeping says."""
NAMING = "The title of this conversation"


def found(fact: str) -> dict[str, Any]:
    return {"statements": [{"kind": "about the user", "facts": [fact]}]}


def learning(words: str) -> Callable[[str], bool]:
    """Requests to learn from statements with these words; earlier tests may have left others."""
    return lambda text: words in text.partition(LEARNING)[2]


def naming(words: str) -> Callable[[str], bool]:
    """Requests for the title of a conversation with these words."""
    return lambda text: NAMING in text and words in text


PORTO, BRAGA = found("The user lives in Porto."), found("The user lives in Braga.")


async def known(pool: Pool, user: str) -> list[str]:
    async with pool.connection() as conn:
        return [one.content for one in await memories(conn, user)]


async def stored(each: Device) -> MemoryTrace:
    return await each.hears(MemoryTrace, lambda body: body.action != "retrieved")


async def learned_from(pool: Pool, answer_id: str) -> None:
    """Wait until the pause after an answer has dealt with the message that it answers."""
    sql = """
        SELECT 1
          FROM alicia_messages a
          JOIN alicia_messages q ON q.id = a.previous_id
          JOIN alicia_meta t ON t.ref = a.conversation_id AND t.key = 'learned'
         WHERE a.id = %s
           AND t.value::integer >= q.sequence_number
    """
    async with asyncio.timeout(30):
        while True:
            if await rows(pool, sql, answer_id):
                return
            await asyncio.sleep(0.02)


async def quiet(stack: Stack, each: Device, marker: str) -> None:
    """Wait until everything that is due in a pause was done: the message with the marker is learned from."""
    gate = Gate()
    nothing: dict[str, Any] = {"statements": [{"kind": "small talk", "facts": []}]}
    stack.model.script("json", Script(gate, json.dumps(nothing)), when=learning(marker))
    await each.ask(f"I like the word {marker}.")
    await gate.reached()
    gate.open()


async def test_what_the_user_tells_is_learned_after_the_answer_and_known_in_the_next_conversation(
    stack: Stack, user: str, pool: Pool
) -> None:
    stack.model.answer_json(PORTO, when=learning("in Porto"), always=True)
    async with device(stack, user) as first:
        asked = await first.say("I live in Porto.")
        await first.answered(asked)
        trace = await stored(first)
        assert (trace.action, trace.previous_id, trace.content) == (
            "stored",
            asked.id,
            "The user lives in Porto.",
        )
        assert isinstance(first.bodies[-2], AssistantSentence)
        assert first.bodies[-1] == trace
        assert first.log == await journal(pool, first.id)
    async with device(stack, user) as second:
        await second.ask("Which town do I live in?")
        (recalled,) = second.all(MemoryTrace)
        assert (recalled.action, recalled.memory_id) == ("retrieved", trace.memory_id)
        assert "The user lives in Porto." in stack.model.chats[-1].user_text


async def test_a_change_is_told_as_an_update_of_the_memory(stack: Stack, user: str, pool: Pool) -> None:
    stack.model.answer_json(PORTO, when=learning("in Porto"), always=True)
    async with device(stack, user) as alone:
        await alone.ask("I live in Porto.")
        first = await stored(alone)
        stack.model.answer_json(BRAGA, when=learning("in Braga"), always=True)
        await alone.ask("I live in Braga now.")
        again = await alone.hears(MemoryTrace, lambda body: body.action == "updated")
        assert (again.memory_id, again.content) == (first.memory_id, "The user lives in Braga.")
    assert await known(pool, user) == ["The user lives in Braga."]


async def test_a_question_drops_the_request_in_the_background_and_the_next_pause_goes_on_with_it(
    stack: Stack, user: str, pool: Pool
) -> None:
    gate = Gate()
    stack.model.script("json", Script(gate, json.dumps(PORTO)), when=learning("in Porto"))
    async with device(stack, user) as alone:
        asked = await alone.say("I live in Porto.")
        await alone.answered(asked)
        await gate.reached()
        (thinking,) = [each for each in stack.model.asked if learning("in Porto")(each.user_text)]
        stack.model.answer_json(PORTO, when=learning("in Porto"), always=True)
        await alone.ask("And who lives there?")
        assert await thinking.ended() == "left"
        assert (await stored(alone)).previous_id == asked.id
    assert await known(pool, user) == ["The user lives in Porto."]


async def test_a_question_in_another_conversation_gets_the_model_too(
    stack: Stack, user: str, pool: Pool
) -> None:
    gate = Gate()
    stack.model.script("json", Script(gate, json.dumps(PORTO)), when=learning("in Porto"))
    async with device(stack, user) as one, device(stack, f"{user}-2") as other:
        await one.ask("I live in Porto.")
        await gate.reached()
        (thinking,) = [each for each in stack.model.asked if learning("in Porto")(each.user_text)]
        stack.model.answer_json(PORTO, when=learning("in Porto"), always=True)
        await other.ask("What is the tallest mountain?")
        assert await thinking.ended() == "left"
        await stored(one)
    assert await known(pool, user) == ["The user lives in Porto."]


async def test_who_was_answered_while_the_model_was_wanted_elsewhere_keeps_nobody_waiting(
    stack: Stack, user: str
) -> None:
    stack.model.answer_json(PORTO, when=learning("in Porto"), always=True)
    stack.model.answer_json(BRAGA, when=learning("in Braga"), always=True)
    held = stack.model.hold("That takes a while.", when="the tallest")
    async with device(stack, f"{user}-slow") as slow:
        asked = await slow.say("What is the tallest mountain?")
        await slow.hears(StartAnswer)
        async with device(stack, user) as one, device(stack, f"{user}-2") as other:
            await one.ask("I live in Porto.")
            held.release_all()
            await slow.answered(asked)
            assert (await stored(one)).content == "The user lives in Porto."
            await other.ask("I live in Braga.")
            assert (await stored(other)).content == "The user lives in Braga."


async def test_an_agent_that_dies_before_it_has_learned_leaves_it_to_the_next_one(
    own_stack: Stack, user: str, pool: Pool
) -> None:
    gate, lessons = Gate(), learning("in Porto")
    own_stack.model.script(
        "json",
        Script(gate, json.dumps(PORTO)),
        when=lambda text: lessons(text) and "marzipan" not in text,
        always=True,
    )
    async with device(own_stack, user) as alone:
        asked = await alone.say("I live in Porto.")
        await alone.answered(asked)
        await gate.reached()
        own_stack.replace_agent()
        gate.open()
        await alone.until(lambda: alone.all(MemoryTrace), 90)
        await quiet(own_stack, alone, "marzipan")
        (trace,) = alone.all(MemoryTrace)
        assert trace.previous_id == asked.id
    assert await known(pool, user) == ["The user lives in Porto."]


async def test_what_was_said_against_a_pinned_memory_is_asked_about_in_the_next_answer(
    stack: Stack, user: str, pool: Pool
) -> None:
    stack.model.answer_json(PORTO, when=learning("in Porto"), always=True)
    async with device(stack, user) as alone:
        await alone.ask("I live in Porto.")
        memory_id = (await stored(alone)).memory_id
        async with pool.connection() as conn:
            await update_memory(conn, user, memory_id, pinned=True)
        stack.model.answer_json(BRAGA, when=learning("in Braga"), always=True)
        await learned_from(pool, await alone.ask("I live in Braga now."))
        await quiet(stack, alone, "marzipan")
        prompts = [request.user_text for request in stack.model.chats]
        (told,) = [each for each in prompts if "I live in Braga now" in each]
        (later,) = [each for each in prompts if "marzipan" in each]
        assert "Which one is right?" not in told
        assert "Which one is right?" in later
        assert await known(pool, user) == ["The user lives in Porto."]


@pytest.mark.parametrize("whose", ["conversation", "user"])
async def test_with_memory_off_nothing_is_read_and_nothing_learned(
    stack: Stack, user: str, pool: Pool, whose: str
) -> None:
    stack.model.answer_json(PORTO, when=learning("in Porto"), always=True)
    async with device(stack, user) as alone:
        await alone.ask("I live in Porto.")
        await stored(alone)
    async with stack.caller(user) as api, device(stack, user) as alone:
        if whose == "user":
            async with pool.connection() as conn:
                await switch_memory(conn, user, on=False)
        else:
            changed = await api.patch(f"/conversations/{alone.id}", json={"preferences": {"memory": False}})
            assert changed.status_code == 200
        before = len(stack.model.asked)
        await alone.ask("I moved, so which town do I live in now?")
        await learned_from(pool, await alone.ask("I live in Braga now."))
        assert "Porto" not in str(stack.model.chats[-1].json)
        assert [each for each in stack.model.asked[before:] if LEARNING in each.user_text] == []
        assert alone.all(MemoryTrace) == []
        # What was said meanwhile stays unlearned when memory is on again.
        async with pool.connection() as conn:
            await switch_memory(conn, user, on=True)
        await api.patch(f"/conversations/{alone.id}", json={"preferences": {}})
        await quiet(stack, alone, "marzipan")
        learned = [each.user_text for each in stack.model.asked[before:] if LEARNING in each.user_text]
        assert not any("1. I live in Braga" in text for text in learned)


async def test_a_conversation_gets_a_title_after_its_first_exchange(stack: Stack, user: str) -> None:
    stack.model.answer_json({"title": '"Walks in Porto"'}, when="walk in Porto")
    async with stack.caller(user) as api, device(stack, user) as alone:
        await alone.ask("Where can I walk in Porto?")
        told = await alone.hears(Configuration, lambda body: body.title)
        assert told.title == "Walks in Porto"
        shown = await api.get(f"/conversations/{alone.id}")
        assert shown.json()["title"] == "Walks in Porto"
        await quiet(stack, alone, "marzipan")
        assert len([each for each in stack.model.asked if naming("walk")(each.user_text)]) == 1


async def test_the_users_own_title_stays(stack: Stack, user: str) -> None:
    gate = Gate()
    stack.model.script("json", Script(gate, '{"title": "Something else"}'), when=naming("walk"))
    async with stack.caller(user) as api, device(stack, user) as alone:
        await alone.ask("Where can I walk in Porto?")
        await gate.reached()
        changed = await api.patch(f"/conversations/{alone.id}", json={"title": "My walks"})
        assert changed.status_code == 200
        gate.open()
        await quiet(stack, alone, "marzipan")
        shown = await api.get(f"/conversations/{alone.id}")
        assert shown.json()["title"] == "My walks"


async def test_a_model_that_cannot_name_a_conversation_leaves_its_first_words(
    stack: Stack, user: str
) -> None:
    stack.model.script("json", "no JSON at all", when=naming("walk"))
    async with device(stack, user) as alone:
        await alone.ask("Where can I walk in Porto?")
        told = await alone.hears(Configuration, lambda body: body.title)
        assert told.title == "Where can I walk in Porto?"


async def test_a_title_goes_with_an_erased_message_unless_its_user_gave_it(
    stack: Stack, user: str, pool: Pool
) -> None:
    stack.model.answer_json({"title": "Walks in Porto"}, when="walk in Porto")
    async with stack.caller(user) as api, device(stack, user) as alone:
        asked = await alone.say("Where can I walk in Porto?")
        await alone.answered(asked)
        await alone.hears(Configuration, lambda body: body.title)
        at = f"/conversations/{alone.id}"
        assert (await api.delete(f"{at}/messages/{asked.id}")).status_code == 204
        assert (await api.get(at)).json()["title"] == ""
        again = await alone.say("And in Braga?")
        await alone.answered(again)
        await api.patch(at, json={"title": "My walks"})
        assert (await api.delete(f"{at}/messages/{again.id}")).status_code == 204
        assert (await api.get(at)).json()["title"] == "My walks"
    assert (
        await rows(pool, "SELECT key FROM alicia_meta WHERE ref = %s AND key = 'titleGiven'", alone.id) == []
    )


async def test_a_memory_deleted_during_an_answer_is_neither_brought_back_nor_recalled_again(
    stack: Stack, user: str, pool: Pool
) -> None:
    stack.model.answer_json(PORTO, when="Porto")
    async with stack.caller(user) as api, device(stack, user) as alone:
        await alone.ask("I live in Porto.")
        memory_id = (await stored(alone)).memory_id
        held = stack.model.hold("You live in Porto.", when="Which town")
        asked = await alone.say("Which town do I live in?")
        await alone.hears(MemoryTrace, lambda body: body.action == "retrieved")
        assert (await api.delete(f"/memories/{memory_id}")).status_code == 204
        held.release_all()
        await alone.answered(asked)
        await alone.ask("So which town do I live in?")
        assert len([each for each in alone.all(MemoryTrace) if each.action == "retrieved"]) == 1
    assert await known(pool, user) == []
