"""Answers that are begun while somebody still speaks, and have no use any more before they have finished."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from alicia.protocol.messages import UserMessage
from support.device import Device, device
from support.scripted import Gate, Request, Script
from support.speech import Person, age_of_wisdom, recorded
from support.stack import Stack

BREATH = bytes(2 * 16_000 * 6 // 10)
"""0.6 s: long enough to be a turn's end, and too short for one whose last word is "my"."""


@asynccontextmanager
async def guessed(stack: Stack, user: str) -> AsyncGenerator[tuple[Device, UserMessage, Request]]:
    """Somebody has written a message, says something, and talks on without an end while the model guesses."""
    later = Gate()
    stack.model.hear("Remind me to call my")
    stack.model.script("transcriptions", Script(later, "mother tomorrow."))
    stack.model.hold("Yes.", when="call my")
    async with device(stack, user) as phone:
        message = await phone.say("Hello.")
        await phone.answered(message)
        person = await Person.with_microphone(phone.room)
        await person.say(age_of_wisdom() + BREATH, recorded(19.0, 20.75) * 20)
        yield phone, message, await stack.model.arrived(when="call my")
        assert not [each for each in phone.all(UserMessage) if each.audio_id is not None]
        # What was said is heard in the end, and not in the midst of another test.
        later.open()
        await person.drop_microphone()
        await phone.answered(await phone.hears(UserMessage, lambda body: body.audio_id is not None))


async def test_a_guess_gives_way_to_a_message_that_is_written(scripted_stack: Stack, user: str) -> None:
    async with guessed(scripted_stack, user) as (phone, _, guess):
        assert "call my" in guess.user_text
        await phone.ask("Never mind.")
        assert await guess.ended() == "left"


async def test_a_guess_that_knows_what_is_erased_is_dropped(scripted_stack: Stack, user: str) -> None:
    async with guessed(scripted_stack, user) as (phone, message, guess):
        assert "Hello." in str(guess.messages)
        async with scripted_stack.caller(user) as api:
            gone = await api.delete(f"/conversations/{phone.id}/messages/{message.id}")
        assert gone.status_code == 204
        assert await guess.ended() == "left"
