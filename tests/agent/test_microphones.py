"""Microphones as people use them: with pauses, on several devices, changed and taken away in mid-sentence."""

import asyncio

from livekit import rtc

from alicia.protocol.messages import (
    AssistantSentence,
    AudioChunk,
    ControlStop,
    Transcription,
    UserMessage,
)
from alicia.speech.moonshine import Moonshine
from alicia.speech.sound import decode
from alicia.storage.pool import Pool
from support.device import MENDING, device
from support.speech import Person, age_of_wisdom, begun, recorded
from support.stack import Stack
from support.tables import records

VOICE = ("streaming", "voice")
BREATH = bytes(2 * 16_000 * 6 // 10)
"""0.6 s: twice the silence that ends a turn whose words may be all."""


async def test_a_pause_inside_a_sentence_does_not_end_the_turn(scripted_stack: Stack, user: str) -> None:
    scripted_stack.model.hear("Remind me to call my")
    scripted_stack.model.hear("mother tomorrow.")
    async with device(scripted_stack, user) as phone:
        person = await Person.with_microphone(phone.room)
        await person.say(age_of_wisdom() + BREATH + age_of_wisdom())
        message = await phone.hears(UserMessage)

    assert message.content == "Remind me to call my mother tomorrow."
    assert len(phone.all(Transcription)) == 1


async def test_two_devices_of_one_user_are_heard_each_by_itself(
    scripted_stack: Stack, user: str, pool: Pool
) -> None:
    for text in ("One of them.", "The other one."):
        scripted_stack.model.hear(text)
    async with (
        device(scripted_stack, user) as phone,
        device(scripted_stack, user, phone.id) as laptop,
    ):
        long, short = Person(phone.room), Person(laptop.room)
        await long.take_microphone()
        await short.take_microphone()
        # Both at once, and the second has stopped long before the first, which is said without a pause.
        first, second = await asyncio.gather(
            long.be_heard(phone, 3 * recorded(19.0, 20.4)), short.be_heard(laptop, age_of_wisdom())
        )
        await phone.hears(Transcription, lambda each: each.final and each.id == second.id)
        await laptop.hears(Transcription, lambda each: each.final and each.id == first.id)

    seconds: list[float] = []
    for each in (first, second):
        (kept,) = await records(pool, "SELECT * FROM alicia_audio WHERE id = %s", each.id)
        seconds.append(len(decode(kept["audio_data"])) / 16_000)
    assert {first.text, second.text} == {"One of them.", "The other one."}
    assert first.track_sid != second.track_sid
    assert seconds[0] > 3.4 > seconds[1]
    assert all(one == other for one, other in zip(phone.log, laptop.log, strict=False))


async def test_a_microphone_is_heard_again_when_its_link_was_lost(scripted_stack: Stack, user: str) -> None:
    scripted_stack.model.hear("Before it.")
    scripted_stack.model.hear("After it.")
    async with device(scripted_stack, user) as phone:
        person = await Person.with_microphone(phone.room)
        before = await person.be_heard(phone, age_of_wisdom())
        await phone.room.room.simulate_scenario(rtc.SimulateScenarioKind.SIMULATE_FULL_RECONNECT)
        await phone.until(lambda: phone.losses and not phone.cut_off, MENDING)
        after = await person.be_heard(phone, age_of_wisdom())

    assert (before.text, after.text) == ("Before it.", "After it.")
    assert before.track_sid != after.track_sid


async def test_a_device_may_be_changed_for_another_while_it_is_on(scripted_stack: Stack, user: str) -> None:
    scripted_stack.model.hear("With the old one.")
    scripted_stack.model.hear("With the new one.")
    async with device(scripted_stack, user) as phone:
        old = await Person.with_microphone(phone.room)
        await old.say(age_of_wisdom())
        first = await phone.hears(UserMessage)
        former = list(phone.room.room.local_participant.track_publications)
        # As browsers do it: the new one is there before the old one goes.
        new = await Person.with_microphone(phone.room)
        for sid in former:
            await phone.room.room.local_participant.unpublish_track(sid)
        await new.say(age_of_wisdom())
        second = await phone.hears(UserMessage, lambda body: body.id != first.id)

    assert (first.content, second.content) == ("With the old one.", "With the new one.")
    assert [each.track_sid in former for each in phone.all(Transcription)] == [True, False]


async def test_who_reloads_in_mid_sentence_is_heard_as_far_as_they_came(
    scripted_stack: Stack, user: str
) -> None:
    scripted_stack.model.hear("This is half of")
    scripted_stack.model.hear("This is the whole.")
    async with device(scripted_stack, user) as phone:
        person = await Person.with_microphone(phone.room)
        await person.say(recorded(0.9, 2.2))
    async with device(scripted_stack, user, phone.id, log=phone.log) as again:
        first = await again.hears(UserMessage)
        person = await Person.with_microphone(again.room)
        await person.say(age_of_wisdom())
        second = await again.hears(UserMessage, lambda body: body.id != first.id)
        await again.until(lambda: len(again.all(AudioChunk)) == 2)

    assert (first.content, second.content) == ("This is half of", "This is the whole.")


async def test_who_reloads_while_alicia_speaks_hears_the_rest_and_is_heard(
    scripted_stack: Stack, user: str
) -> None:
    told = "One is the first of all numbers. Two comes after it. Three is the number of wishes."
    answer = scripted_stack.model.hold(told, when="Count for me")
    scripted_stack.model.hear("What about four?")
    scripted_stack.model.say("Four is even.", when="four")
    async with device(scripted_stack, user, features=VOICE) as phone:
        person = Person(phone.room)
        start = await begun(phone, person, answer)
    async with device(scripted_stack, user, phone.id, log=phone.log, features=VOICE) as again:
        person = Person(again.room)
        await person.listens()
        answer.release_all()
        await again.closed(start.id)
        rest = {each.id for each in again.all(AssistantSentence) if each.sequence > 1 and each.text}
        await again.until(lambda: rest <= {each.id for each in again.all(AudioChunk)})
        await person.hears_her()
        await person.hears_silence()
        await person.take_microphone()
        await person.say(age_of_wisdom())
        question = await again.hears(UserMessage, lambda body: body.audio_id is not None)
        await again.answered(question)

    said = [each.text for each in again.all(AssistantSentence) if each.previous_id == start.id]
    assert "".join(said) == told
    assert (question.content, question.previous_id) == ("What about four?", start.id)
    assert not again.all(ControlStop)


async def test_two_users_who_speak_at_the_same_time_are_never_mixed(
    stack: Stack, user: str, pool: Pool
) -> None:
    stack.model.say("So wise.", when="wisdom", always=True)
    stack.model.say("So sad.", when="despair", always=True)
    async with device(stack, user) as phone, device(stack, f"{user}-other") as tablet:
        wise, sad = Person(phone.room), Person(tablet.room)
        await asyncio.gather(wise.take_microphone(), sad.take_microphone())
        await asyncio.gather(wise.say(age_of_wisdom()), sad.say(recorded(19.0, 20.75)))
        for each in (phone, tablet):
            await each.answered(await each.hears(UserMessage))

    recogniser = Moonshine()
    for each, others in ((phone, "despair"), (tablet, "wisdom")):
        assert others.encode() not in b"".join(each.log)
        # A busy machine may swallow a word, or hear two turns in one, but never gives anybody another's.
        for message in each.all(UserMessage):
            (kept,) = await records(pool, "SELECT * FROM alicia_audio WHERE message_id = %s", message.id)
            again = await recogniser.recognise(decode(kept["audio_data"]))
            assert (kept["id"], kept["transcription"]) == (message.audio_id, message.content)
            assert others not in again.text
    await recogniser.aclose()
    answers = [each.all(AssistantSentence)[0].text for each in (phone, tablet)]
    assert answers[0] != "So sad."
    assert answers[1] != "So wise."
