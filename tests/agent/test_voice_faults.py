"""Speech when something is missing: consent, a model, a microphone, or the right to be heard."""

import asyncio
import secrets
import signal
from typing import Any

import pytest

from alicia import ids
from alicia.protocol.messages import (
    AssistantSentence,
    AudioChunk,
    Configuration,
    ControlStop,
    ErrorMessage,
    StartAnswer,
    Transcription,
    UserMessage,
)
from alicia.storage.pool import Pool
from support.device import Device, device
from support.rooms import participant
from support.scripted import Cut, Fail, Script
from support.scripted.senses import form
from support.speech import Person, age_of_wisdom, recorded
from support.stack import Stack
from support.tables import records

VOICE = ("streaming", "voice")


async def prefer(stack: Stack, user: str, phone: Device, **preferences: Any) -> None:
    """Set the conversation's preferences, and wait until its agent has told of them, perhaps again."""
    before = len(phone.heard)
    async with stack.caller(user) as api:
        answer = await api.patch(f"/conversations/{phone.id}", json={"preferences": preferences})
    assert answer.status_code == 200, answer.text

    def told() -> bool:
        bodies = [each.body for each in phone.heard[before:]]
        return any(isinstance(body, Configuration) and body.preferences == preferences for body in bodies)

    await phone.until(told)


async def choose(stack: Stack, user: str, phone: Device, **settings: Any) -> None:
    """Change the user's settings, and wait until the conversation's agent has taken note of them."""

    def told() -> int:
        return sum(isinstance(each.body, Configuration) for each in phone.heard)

    # Whatever was sent to open the conversation, perhaps more than once, is answered before this is refused.
    nothing = ids.new(ids.MessageId)
    await phone.submit(ControlStop(conversation_id=phone.id, target_id=nothing, stop_type="generation"))
    await phone.hears(ErrorMessage, lambda body: body.originating_id == nothing)
    before = told()
    async with stack.caller(user) as api:
        answer = await api.patch("/settings", json=settings)
    assert answer.status_code == 200, answer.text
    await phone.until(lambda: told() > before)


def wanted(stack: Stack, words: str) -> list[dict[str, Any]]:
    """What the voice was asked to say with these words; what others say is of earlier tests."""
    asked = [each.json for each in stack.model.requests if each.route == "speech"]
    return [each for each in asked if words in each["input"]]


async def test_to_those_who_only_read_nothing_is_said(scripted_stack: Stack, user: str) -> None:
    async with device(scripted_stack, user) as phone:
        await phone.ask("Are you there?")

    assert not wanted(scripted_stack, "Are you there")
    assert not phone.all(AudioChunk)


async def test_voice_speed_and_silence_are_preferences_that_hold_at_once(
    scripted_stack: Stack, user: str
) -> None:
    async with device(scripted_stack, user, features=VOICE) as phone:
        person = Person(phone.room)
        await prefer(scripted_stack, user, phone, voice="nova", speed=1.5)
        await phone.ask("One.")
        await person.hears_her()
        await prefer(scripted_stack, user, phone, mute=True)
        await person.hears_silence()
        await phone.hears(AudioChunk)
        spoken = len(phone.all(AudioChunk))
        await phone.ask("Two.")
        await prefer(scripted_stack, user, phone)
        person.forget()
        await phone.ask("Three.")
        await person.hears_her()

    first = wanted(scripted_stack, "One")[0]
    assert (first["voice"], first["speed"]) == ("nova", 1.5)
    assert spoken == 1
    assert not wanted(scripted_stack, "Two")


async def test_the_language_is_a_preference_that_holds_for_what_is_heard_and_said_next(
    scripted_stack: Stack, user: str
) -> None:
    scripted_stack.model.say("It is 5 km from here.", always=True)
    async with device(scripted_stack, user, features=VOICE) as phone:
        person = await Person.with_microphone(phone.room)
        for count, language in enumerate(("en", "de", "fr"), 1):
            await prefer(scripted_stack, user, phone, language=language)
            person.forget()
            await person.say(age_of_wisdom())
            await phone.until(lambda count=count: len(phone.all(UserMessage)) == count)
            await person.hears_her()
            await person.hears_silence()

    asked = [each for each in scripted_stack.model.requests if each.route == "transcriptions"]
    said = [each["input"] for each in wanted(scripted_stack, "It is 5")]
    assert [form(each.headers["content-type"], each.body)["language"] for each in asked] == ["en", "de", "fr"]
    assert [each.language for each in phone.all(Transcription)] == ["en", "de", "fr"]
    assert said == ["It is 5 kilometres from here.", "It is 5 km from here.", "It is 5 km from here."]


async def test_settings_hold_in_conversations_that_were_opened_without_preferences(
    scripted_stack: Stack, user: str
) -> None:
    async with device(scripted_stack, user, features=VOICE) as phone:
        person = Person(phone.room)
        await choose(scripted_stack, user, phone, voice="nova", speed=1.5)
        await phone.ask("One.")
        await person.hears_her()
    async with device(scripted_stack, user, features=VOICE) as tablet:
        person = Person(tablet.room)
        await prefer(scripted_stack, user, tablet, voice="fable")
        await tablet.ask("Two.")
        await person.hears_her()

    for words, voice in (("One", "nova"), ("Two", "fable")):
        said = wanted(scripted_stack, words)
        assert {(each["voice"], each["speed"]) for each in said} == {(voice, 1.5)}


async def test_what_is_said_is_not_recorded_where_that_is_not_wanted(
    scripted_stack: Stack, user: str, pool: Pool
) -> None:
    scripted_stack.model.hear("Keep this to yourself.")
    async with device(scripted_stack, user) as phone:
        await prefer(scripted_stack, user, phone, recording=False)
        person = await Person.with_microphone(phone.room)
        await person.say(age_of_wisdom())
        message = await phone.hears(UserMessage)

    (row,) = await records(pool, "SELECT * FROM alicia_audio WHERE message_id = %s", message.id)
    assert (row["transcription"], row["audio_data"]) == ("Keep this to yourself.", None)
    assert not phone.all(AudioChunk)


async def test_without_a_voice_the_answer_goes_on_in_writing_and_the_next_is_heard(
    scripted_stack: Stack, user: str
) -> None:
    scripted_stack.model.fail("speech", times=2)
    scripted_stack.model.say("This is lost. This is too.", when="First")
    async with device(scripted_stack, user, features=VOICE) as phone:
        person = Person(phone.room)
        answer_id = await phone.ask("First.")
        error = await phone.hears(ErrorMessage)
        await phone.ask("Second.")
        await person.hears_her()

    said = [each for each in phone.all(AssistantSentence) if each.previous_id == answer_id]
    assert (error.code, error.originating_id, error.recoverable) == (503, answer_id, True)
    assert "".join(each.text for each in said) == "This is lost. This is too."
    assert not {each.id for each in said} & {each.id for each in phone.all(AudioChunk)}


async def test_a_voice_that_breaks_off_in_mid_sound_leaves_the_answer_in_writing(
    scripted_stack: Stack, user: str
) -> None:
    scripted_stack.model.script("speech", Script("This", Cut()))
    scripted_stack.model.say("This is half heard. This is not.", when="First")
    async with device(scripted_stack, user, features=VOICE) as phone:
        person = Person(phone.room)
        answer_id = await phone.ask("First.")
        error = await phone.hears(ErrorMessage)
        await phone.ask("Second.")
        await phone.hears(AudioChunk, lambda chunk: chunk.id == phone.all(AssistantSentence)[-1].id)
        await person.hears_her()

    said = [each for each in phone.all(AssistantSentence) if each.previous_id == answer_id]
    assert (error.code, error.originating_id, error.recoverable) == (503, answer_id, True)
    assert "".join(each.text for each in said) == "This is half heard. This is not."


@pytest.mark.parametrize(("step", "times"), [(Fail(), 2), (Fail(200), 1)], ids=["error", "nonsense"])
async def test_what_could_not_be_made_out_is_asked_for_again(
    scripted_stack: Stack, user: str, step: Fail, times: int
) -> None:
    scripted_stack.model.fail("transcriptions", times=times, step=step)
    scripted_stack.model.hear("Once more.")
    async with device(scripted_stack, user) as phone:
        person = await Person.with_microphone(phone.room)
        await person.say(age_of_wisdom())
        error = await phone.hears(ErrorMessage)
        await person.say(age_of_wisdom())
        message = await phone.hears(UserMessage)

    assert error.code == 503
    assert message.content == "Once more."
    assert len(phone.all(UserMessage)) == 1


async def test_speech_without_words_is_no_message(scripted_stack: Stack, user: str) -> None:
    # A busy machine may take either for more than one piece of speech.
    heard: list[str] = []
    scripted_stack.model.script("transcriptions", " ", when=lambda _: not heard, always=True)
    scripted_stack.model.script("transcriptions", "These are words.", always=True)
    async with device(scripted_stack, user) as phone:
        person = await Person.with_microphone(phone.room)
        await person.say(age_of_wisdom())
        request = await scripted_stack.model.arrived(1, route="transcriptions")
        heard.append(await request.ended())
        await person.say(bytes(64_000) + age_of_wisdom())
        message = await phone.hears(UserMessage)

    assert message.content == "These are words."
    assert {each.text for each in phone.all(Transcription)} == {"These are words."}


async def test_a_microphone_may_go_and_come_back(scripted_stack: Stack, user: str) -> None:
    scripted_stack.model.hear("The first.")
    scripted_stack.model.hear("The second.")
    async with device(scripted_stack, user) as phone:
        person = await Person.with_microphone(phone.room)
        await person.say(age_of_wisdom())
        # Gone before the turn could be over.
        await person.drop_microphone()
        first = await phone.hears(UserMessage)
        await person.take_microphone()
        await person.say(age_of_wisdom())
        second = await phone.hears(UserMessage, lambda body: body.id != first.id)

    tracks = {each.track_sid for each in phone.all(Transcription)}
    assert (first.content, second.content) == ("The first.", "The second.")
    assert len(tracks) == 2


async def test_who_is_muted_in_mid_sentence_is_heard_as_far_as_they_came(
    scripted_stack: Stack, user: str
) -> None:
    scripted_stack.model.hear("The first half.")
    scripted_stack.model.hear("The second half.")
    async with device(scripted_stack, user) as phone:
        person = await Person.with_microphone(phone.room)
        await person.say(recorded(0.9, 2.2))
        person.mute()
        first = await phone.hears(UserMessage)
        person.mute(False)
        await person.say(age_of_wisdom())
        second = await phone.hears(UserMessage, lambda body: body.id != first.id)

    assert (first.content, second.content) == ("The first half.", "The second half.")


async def test_nobody_but_the_owner_is_heard(scripted_stack: Stack, user: str) -> None:
    async with device(scripted_stack, user, features=VOICE) as phone:
        stranger = f"stranger-{secrets.token_hex(3)}:phone"
        async with participant(scripted_stack.livekit, phone.id, stranger) as other:
            intruder = Person(other)
            await intruder.take_microphone(heard=False)
            await intruder.say(age_of_wisdom() + bytes(32_000))
        await phone.ask("Did you hear anything?")
        start = await phone.hears(StartAnswer)

    assert len(phone.all(UserMessage)) == 1
    assert start.previous_id == phone.all(UserMessage)[0].id
    assert not [each for each in scripted_stack.model.requests if each.route == "transcriptions"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGQUIT])
async def test_an_agent_that_is_sent_away_while_it_speaks_leaves_in_order(
    own_stack: Stack, user: str, number: int
) -> None:
    own_stack.model.say("This is a sentence. " * 20)
    async with device(own_stack, user, features=VOICE) as phone:
        person = await Person.with_microphone(phone.room)
        await phone.say("Speak.")
        await person.hears_her()
        code = await asyncio.to_thread(own_stack.agent.end, number)

    assert code == 0
    assert "panicked" not in own_stack.agent.log.read_text()
