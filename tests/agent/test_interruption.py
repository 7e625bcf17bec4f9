"""Talking into what Alicia says: who stops her, who does not, and what she remembers of it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from alicia import ids
from alicia.protocol.messages import (
    AssistantSentence,
    AudioChunk,
    ControlStop,
    Erasure,
    StartAnswer,
    Transcription,
    UserMessage,
)
from support.device import Device, device
from support.speech import Person, a_cough, age_of_wisdom, begun, recorded
from support.stack import Stack

VOICE = ("streaming", "voice")
MS_PER_CHARACTER = 50
"""Of the scripted voice."""
LONG = (
    "One is the first of all numbers. Two comes after it, and is even. Three is the number of wishes. "
    "Four is the number of seasons. Five is the number of fingers on a hand."
)
FIRST_MS = MS_PER_CHARACTER * len("One is the first of all numbers.")
SLOW = f"One is the first number, {'and one more makes another, ' * 9}and so on for ever. Two is even."
"""Its first sentence takes a quarter of a minute."""


@asynccontextmanager
async def speaking(
    stack: Stack, user: str, text: str = LONG
) -> AsyncGenerator[tuple[Device, Person, StartAnswer]]:
    """Alicia is in the middle of a long answer, and somebody with a microphone listens."""
    stack.model.say(text, when="Count for me")
    async with device(stack, user, features=VOICE) as phone:
        person = await Person.with_microphone(phone.room)
        await phone.say("Count for me, please.")
        start = await phone.hears(StartAnswer)
        await person.hears_her()
        yield phone, person, start


async def test_who_talks_into_an_answer_is_heard_and_what_was_not_said_is_forgotten(
    scripted_stack: Stack, user: str
) -> None:
    scripted_stack.model.hear("That is enough, tell me about apples.")
    scripted_stack.model.say("Apples are red.", when="apples")
    async with speaking(scripted_stack, user) as (phone, person, start):
        await person.say(age_of_wisdom())
        stop = await phone.hears(ControlStop)
        question = await phone.hears(UserMessage, lambda body: body.audio_id is not None)
        await phone.answered(question)
        await phone.hears(AudioChunk, lambda chunk: chunk.id == stop.sentence_id)

    said = [each for each in phone.all(AssistantSentence) if each.previous_id == start.id]
    spoken = {each.id for each in phone.all(AudioChunk)}
    broken = next(each for each in said if each.id == stop.sentence_id)
    assert (stop.target_id, stop.stop_type) == (start.id, "all")
    assert broken.id in spoken
    assert not {each.id for each in said if each.sequence > broken.sequence} & spoken
    assert stop.heard_characters is not None
    assert question.previous_id == start.id

    before = "".join(each.text for each in said if each.sequence < broken.sequence)
    heard = (before + broken.text[: stop.heard_characters]).strip()
    assert LONG.startswith(heard)
    asked = [each for each in scripted_stack.model.chats if each.user_text.endswith(question.content)]
    prompt = asked[0].json["messages"]
    remembered = next(each["content"] for each in reversed(prompt) if each["role"] == "assistant")
    assert remembered in (f"{heard}…", heard)
    assert "fingers" not in remembered


async def test_a_cough_and_an_mhm_do_not_stop_her(scripted_stack: Stack, user: str) -> None:
    scripted_stack.model.hear(" ")
    # However often it is asked: a machine that is held up may take one cough for two.
    scripted_stack.model.script("transcriptions", "Mhm.", always=True)
    async with speaking(scripted_stack, user) as (phone, person, start):
        await person.say(a_cough())
        await person.say(bytes(32_000) + a_cough())
        await phone.closed(start.id)
        last = phone.all(AssistantSentence)[-1]
        await phone.hears(AudioChunk, lambda chunk: chunk.id == last.id)
        await person.hears_silence()

    assert not phone.all(ControlStop)
    assert not phone.all(Transcription)
    assert len(phone.all(UserMessage)) == 1


async def test_after_a_false_alarm_she_goes_on_where_she_was(scripted_stack: Stack, user: str) -> None:
    scripted_stack.model.script("transcriptions", " ", always=True)
    async with speaking(scripted_stack, user) as (phone, person, start):
        await person.say(recorded(1.0, 2.6))
        await phone.closed(start.id)
        last = phone.all(AssistantSentence)[-1]
        await phone.hears(AudioChunk, lambda chunk: chunk.id == last.id)
        spoken = {each.id: each.duration_ms for each in phone.all(AudioChunk)}
        await person.hears_sound(sum(spoken.values()) - 500)
        await person.hears_silence()

    assert spoken.keys() == {each.id for each in phone.all(AssistantSentence) if each.text.strip()}
    assert not phone.all(ControlStop)
    assert abs(person.sounding - sum(spoken.values())) < 500


async def test_a_device_can_have_silence_while_the_text_goes_on(scripted_stack: Stack, user: str) -> None:
    answer = scripted_stack.model.hold(LONG, when="Count for me")
    async with device(scripted_stack, user, features=VOICE) as phone:
        person = Person(phone.room)
        start = await begun(phone, person, answer)
        await phone.submit(ControlStop(conversation_id=phone.id, target_id=start.id, stop_type="speech"))
        stop = await phone.hears(ControlStop)
        answer.release_all()
        closing = await phone.closed(start.id)
        await person.hears_silence()

    said = [each for each in phone.all(AssistantSentence) if each.previous_id == start.id]
    assert closing.status == "completed"
    assert "".join(each.text for each in said) == LONG
    assert {each.id for each in phone.all(AudioChunk)} <= {said[0].id}
    assert stop.sentence_id == said[0].id
    assert stop.heard_characters is not None
    assert stop.heard_characters <= len(said[0].text)


async def test_who_wants_no_more_written_hears_what_is_there(scripted_stack: Stack, user: str) -> None:
    answer = scripted_stack.model.hold(LONG, when="Count for me")
    async with device(scripted_stack, user, features=VOICE) as phone:
        person = Person(phone.room)
        start = await begun(phone, person, answer)
        await phone.submit(ControlStop(conversation_id=phone.id, target_id=start.id, stop_type="generation"))
        stop = await phone.hears(ControlStop)
        closing = await phone.closed(start.id)
        first = await phone.hears(AudioChunk)
        await person.hears_sound(0.9 * first.duration_ms)
        await person.hears_silence()

    said = [each for each in phone.all(AssistantSentence) if each.text.strip()]
    (chunk,) = phone.all(AudioChunk)
    assert closing.status == "stopped"
    assert [each.id for each in said] == [chunk.id]
    assert stop.sentence_id is None


async def test_who_wants_an_end_of_all_has_silence_and_no_more_text(scripted_stack: Stack, user: str) -> None:
    async with speaking(scripted_stack, user, SLOW) as (phone, person, start):
        await phone.submit(ControlStop(conversation_id=phone.id, target_id=start.id, stop_type="all"))
        stop = await phone.hears(ControlStop)
        await phone.hears(AudioChunk)
        await person.hears_silence()

    said = {each.id: each for each in phone.all(AssistantSentence) if each.previous_id == start.id}
    assert stop.sentence_id is not None
    assert stop.heard_characters is not None
    assert stop.heard_characters < len(said[stop.sentence_id].text)
    assert {each.id for each in phone.all(AudioChunk)} == {stop.sentence_id}
    assert abs(person.sounding - MS_PER_CHARACTER * stop.heard_characters) < 800


async def test_an_answer_that_is_erased_is_said_no_further(scripted_stack: Stack, user: str) -> None:
    async with speaking(scripted_stack, user) as (phone, person, start), scripted_stack.caller(user) as api:
        last = await phone.hears(AssistantSentence, lambda body: "fingers" in body.text)
        await phone.closed(start.id)
        gone = await api.delete(f"/conversations/{phone.id}/messages/{start.id}")
        assert gone.status_code == 204
        await phone.hears(Erasure)
        await person.hears_silence()

    assert last.id not in {each.id for each in phone.all(AudioChunk)}


async def test_the_next_sentence_is_made_while_the_last_one_is_heard(
    scripted_stack: Stack, user: str
) -> None:
    async with speaking(scripted_stack, user, SLOW) as (phone, _, start):
        request = await scripted_stack.model.arrived(2, route="speech")
        heard = {each.id for each in phone.all(AudioChunk)}
        await phone.until(lambda: len(phone.all(AssistantSentence)) > 1)

    said = [each for each in phone.all(AssistantSentence) if each.previous_id == start.id]
    assert request.json["input"] == said[1].text.strip()
    made = [each.json["input"] for each in scripted_stack.model.requests if each.route == "speech"]
    assert made.count(said[0].text.strip()) == 1
    assert said[1].id not in heard


async def test_what_was_heard_counts_though_she_waits_for_her_next_words(
    scripted_stack: Stack, user: str
) -> None:
    answer = scripted_stack.model.hold(LONG, when="Count for me")
    async with device(scripted_stack, user, features=VOICE) as phone:
        person = Person(phone.room)
        start = await begun(phone, person, answer)
        await person.hears_sound(0.9 * FIRST_MS)
        await person.hears_silence()
        await phone.submit(ControlStop(conversation_id=phone.id, target_id=start.id, stop_type="all"))
        stop = await phone.hears(ControlStop)
        await phone.closed(start.id)

    first = phone.all(AssistantSentence)[0]
    assert (stop.sentence_id, stop.heard_characters) == (first.id, len(first.text))


async def test_a_stop_of_an_old_answer_does_not_touch_the_one_that_is_said(
    scripted_stack: Stack, user: str
) -> None:
    scripted_stack.model.say("Good day.", when="Hello")
    async with device(scripted_stack, user, features=VOICE) as phone:
        person = Person(phone.room)
        old = ids.MessageId(await phone.ask("Hello."))
        await person.hears_sound(0.9 * MS_PER_CHARACTER * len("Good day."))
        await person.hears_silence()
        person.forget()
        scripted_stack.model.say(LONG, when="Count for me")
        await phone.say("Count for me, please.")
        await person.hears_her()
        await phone.submit(ControlStop(conversation_id=phone.id, target_id=old, stop_type="all"))
        stop = await phone.hears(ControlStop)
        last = await phone.hears(AssistantSentence, lambda body: "fingers" in body.text)
        await phone.hears(AudioChunk, lambda chunk: chunk.id == last.id)

    assert (stop.sentence_id, stop.heard_characters) == (None, None)


async def test_who_had_silence_and_read_on_has_read_what_is_there(scripted_stack: Stack, user: str) -> None:
    scripted_stack.model.hear("That is enough, tell me about apples.")
    scripted_stack.model.say("Apples are red.", when="apples")
    answer = scripted_stack.model.hold(LONG, when="Count for me")
    async with device(scripted_stack, user, features=VOICE) as phone:
        person = await Person.with_microphone(phone.room)
        start = await begun(phone, person, answer)
        await phone.submit(ControlStop(conversation_id=phone.id, target_id=start.id, stop_type="speech"))
        await phone.hears(ControlStop)
        await person.say(age_of_wisdom())
        stop = await phone.hears(ControlStop, lambda body: body.reason is not None)
        question = await phone.hears(UserMessage, lambda body: body.audio_id is not None)
        await phone.answered(question)

    first = phone.all(AssistantSentence)[0]
    asked = [each for each in scripted_stack.model.chats if each.user_text.endswith(question.content)]
    said = [each["content"] for each in asked[0].json["messages"] if each["role"] == "assistant"]
    assert (stop.target_id, stop.heard_characters) == (start.id, None)
    assert first.text.strip() in said[-1]
