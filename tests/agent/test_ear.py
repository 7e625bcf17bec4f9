"""An ear by itself, at a real microphone: what it tells whom it hears for, and when."""

import asyncio
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from unittest.mock import Mock

import pytest
from livekit import rtc
from livekit.agents import Agent, AgentSession, LanguageCode, ModelSettings, llm, stt
from livekit.agents.job import _JobContextVar as job_context  # pyright: ignore[reportPrivateUsage]

from alicia.agent.ear import FAREWELL, Ear
from alicia.engine.talk import Utterance
from alicia.errors import ModelUnavailable
from alicia.speech.activity import Activity
from alicia.speech.listener import Listener
from alicia.speech.recogniser import Heard
from alicia.speech.segments import RATE, Samples
from support.rooms import participant
from support.servers import LiveKitServer
from support.speech import Person, age_of_wisdom

PATIENCE = 30.0


class Server:
    """A server for speech that answers when and what the test says."""

    model = "server"
    quick = False
    busy = False

    def __init__(self) -> None:
        self.answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def recognise(self, samples: Samples, language: str | None = None) -> Heard:
        return Heard(await asyncio.shield(self.answer))


class Halting(Server):
    """One that knows the first words at once."""

    def __init__(self, first: str) -> None:
        super().__init__()
        self._first: str | None = first

    def answer_with(self, last: str | ModelUnavailable) -> None:
        if isinstance(last, ModelUnavailable):
            self.answer.set_exception(last)
        else:
            self.answer.set_result(last)

    async def recognise(self, samples: Samples, language: str | None = None) -> Heard:
        first, self._first = self._first, None
        return await super().recognise(samples, language) if first is None else Heard(first)


class Fickle:
    """A model that hears words in the beginning of what is said first, and in all of it something else."""

    model = "fickle"
    quick = True
    busy = False

    def __init__(self, first: str | ModelUnavailable) -> None:
        self.first: str | ModelUnavailable | None = first

    async def recognise(self, samples: Samples, language: str | None = None) -> Heard:
        if self.first is None:
            return Heard("These are words.")
        if len(samples) < 1.2 * RATE:
            return Heard("It was")
        if isinstance(self.first, ModelUnavailable):
            raise self.first
        return Heard(self.first)


class Watched(Listener):
    """Notes that somebody has asked whether words may still come."""

    def __init__(self, server: Server) -> None:
        super().__init__(server, Activity)
        self.asked = asyncio.Event()

    @property
    def looking(self) -> bool:
        self.asked.set()
        return super().looking


class Notes:
    """A mind that only writes down what it is told."""

    def __init__(self) -> None:
        self.speaking = False
        self.told: list[str] = []
        self.recorded_ms = 0
        self._changed = asyncio.Condition()
        self._tasks: set[asyncio.Task[None]] = set()

    def _note(self, what: str) -> None:
        self.told.append(what)
        task = asyncio.create_task(self._notify())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def hears(self, what: str, times: int = 1) -> None:
        """Wait until it was told this so many times."""
        async with self._changed:
            told = self._changed.wait_for(lambda: self.told.count(what) >= times)
            await asyncio.wait_for(told, PATIENCE)

    def stir(self) -> None:
        self._note("stir")

    def pause(self) -> None:
        self._note("pause")

    def resume(self) -> None:
        self._note("resume")

    def guess(self, text: str, device: str | None) -> None:
        self._note(f"guess {text}")

    async def interrupt(self) -> None:
        self._note("interrupt")

    async def overhear(self, utterance: Utterance) -> None:
        self._note(f"overhear {utterance.text}")

    async def hear(self, utterance: Utterance, recording: bytes) -> None:
        self.recorded_ms = utterance.duration_ms
        self._note(f"hear {utterance.text}")

    async def deaf(self, error: ModelUnavailable) -> None:
        self._note("deaf")


class Attentive(Ear):
    """Tells when it has begun to listen."""

    def __init__(self, track: rtc.RemoteTrack, listener: Listener, mind: Notes) -> None:
        super().__init__(track, "ada:phone", listener, mind)
        self.attends = asyncio.Event()

    async def on_enter(self) -> None:
        self.attends.set()


@asynccontextmanager
async def listening(
    livekit: LiveKitServer, listener: Listener, mind: Notes
) -> AsyncGenerator[tuple[Ear, Person, asyncio.Task[bool]]]:
    """An ear at the microphone of somebody else in a room."""
    name = f"ear-{secrets.token_hex(4)}"
    async with (
        participant(livekit, name, "ada:phone") as phone,
        participant(livekit, name, "agent") as agent,
    ):
        arrived: asyncio.Future[rtc.RemoteTrack] = asyncio.get_running_loop().create_future()
        agent.room.on("track_subscribed", lambda track, *_: arrived.set_result(track))  # pyright: ignore
        person = await Person.with_microphone(phone)
        track = await asyncio.wait_for(arrived, PATIENCE)
        ear = Attentive(track, listener, mind)
        running = agent.start(ear.run())
        # What is said before that comes all at once, as nobody speaks.
        attending = agent.start(ear.attends.wait())
        await asyncio.wait([attending, running], timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
        yield ear, person, running


async def talk_into(mind: Notes, person: Person) -> None:
    """Speak until she waits: while the test is held up, nobody is seen to have spoken for long enough."""
    while "pause" not in mind.told:
        await person.say(age_of_wisdom())


async def test_what_is_not_sure_is_guessed_at_as_soon_as_only_the_fall_of_the_voice_follows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mind, listener = Notes(), Listener(Server(), Activity)
    overheard = [("It was.", False), ("It was the", True), ("It was the age.", True)]

    async def hear(*_: object) -> AsyncGenerator[stt.SpeechEvent]:
        for text, listener.faded in overheard:
            data = stt.SpeechData(language=LanguageCode("en"), text=text)
            yield stt.SpeechEvent(type=stt.SpeechEventType.INTERIM_TRANSCRIPT, alternatives=[data])

    monkeypatch.setattr(Agent.default, "stt_node", hear)
    monkeypatch.setattr(Ear, "session", Mock())
    ear = Ear(Mock(sid="TR_microphone"), "ada:phone", listener, mind)
    assert len([event async for event in ear.stt_node(Mock(), ModelSettings())]) == len(overheard)
    assert mind.told == ["guess It was the age."]


async def test_who_was_made_to_wait_goes_on_when_the_ear_breaks(livekit: LiveKitServer) -> None:
    mind = Notes()
    mind.speaking = True
    async with listening(livekit, Listener(Server(), Activity), mind) as (ear, person, running):
        await talk_into(mind, person)
        await ear.session.aclose()  # pyright: ignore[reportUnknownMemberType]
        assert await running is False
    assert mind.told[-1] == "resume"


@pytest.mark.parametrize("step", ["start", "aclose"])
async def test_an_ear_that_fails_to_begin_or_to_end_ends_nothing_but_itself(
    livekit: LiveKitServer, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    done = getattr(AgentSession, step)

    async def fail(*args: object, **named: object) -> None:
        await done(*args, **named)
        raise RuntimeError(step)

    mind = Notes()
    monkeypatch.setattr(AgentSession, step, fail)
    async with listening(livekit, Listener(Server(), Activity), mind) as (ear, _, running):
        if step == "aclose":
            ear.end()
        assert await running is (step == "aclose")
    assert mind.told[-1] == "resume"


async def test_a_job_keeps_nothing_of_a_microphone_that_is_gone(livekit: LiveKitServer) -> None:
    job = Mock(_primary_agent_session=None)
    mark = job_context.set(job)
    try:
        async with listening(livekit, Listener(Server(), Activity), Notes()) as (ear, _, running):
            ear.end()
            assert await running
    finally:
        job_context.reset(mark)
    job.init_recording.assert_called()
    job.add_shutdown_callback.assert_not_called()


async def test_she_waits_for_words_that_are_being_made_out(livekit: LiveKitServer) -> None:
    server, mind = Server(), Notes()
    listener = Watched(server)
    mind.speaking = True
    async with listening(livekit, listener, mind) as (_, person, _):
        await talk_into(mind, person)
        await asyncio.wait_for(listener.asked.wait(), PATIENCE)
        assert "resume" not in mind.told
        server.answer.set_result(" ")
        await mind.hears("resume")
    assert "interrupt" not in mind.told


async def test_the_last_turn_is_heard_however_long_its_words_take(livekit: LiveKitServer) -> None:
    server, mind = Server(), Notes()
    async with listening(livekit, Listener(server, Activity), mind) as (ear, person, running):
        await person.say(age_of_wisdom())
        await mind.hears("stir")
        ear.end()
        await asyncio.wait([running], timeout=FAREWELL + 1)
        assert not running.done()
        server.answer.set_result("It was the age of wisdom.")
        assert await running
    assert "hear It was the age of wisdom." in mind.told


@pytest.mark.parametrize("nothing", ["", ModelUnavailable("Gone.")], ids=["empty", "failed"])
async def test_words_that_come_to_nothing_leave_nothing(
    livekit: LiveKitServer, monkeypatch: pytest.MonkeyPatch, nothing: str | ModelUnavailable
) -> None:
    monkeypatch.setattr("alicia.agent.ear.WORDLESS", 2.0)
    model, mind = Fickle(nothing), Notes()
    async with listening(livekit, Listener(model, Activity), mind) as (_, person, _):
        while "overhear It was" not in mind.told:
            # A test that is held up meanwhile has heard nothing but the whole.
            resumed = mind.told.count("resume")
            await person.say(age_of_wisdom())
            # The tape is left when she is told so the second time.
            await mind.hears("resume", times=resumed + 2)
        await mind.hears("guess ")
        model.first = None
        await person.say(bytes(6 * RATE) + age_of_wisdom())
        await mind.hears("hear These are words.")
    assert mind.recorded_ms < 5_000


@pytest.mark.parametrize(
    "last", ["mother tomorrow.", "", ModelUnavailable("Gone.")], ids=["words", "nothing", "failed"]
)
async def test_a_turn_waits_for_its_last_words_however_long_they_take(
    livekit: LiveKitServer, monkeypatch: pytest.MonkeyPatch, last: str | ModelUnavailable
) -> None:
    ended, end = asyncio.Event(), Ear.on_user_turn_completed

    async def note_end(ear: Ear, turn_ctx: llm.ChatContext, new_message: llm.ChatMessage) -> None:
        ended.set()
        await end(ear, turn_ctx, new_message)

    monkeypatch.setattr(Ear, "on_user_turn_completed", note_end)
    server, mind = Halting("Remind me to call my"), Notes()
    async with listening(livekit, Listener(server, Activity), mind) as (_, person, _):
        await person.say(age_of_wisdom() + bytes(2 * RATE * 6 // 10) + age_of_wisdom())
        await asyncio.wait_for(ended.wait(), PATIENCE)
        server.answer_with(last)
        whole = f"Remind me to call my {'' if isinstance(last, ModelUnavailable) else last}".strip()
        await mind.hears(f"hear {whole}")
    assert [each for each in mind.told if each.startswith("hear")] == [f"hear {whole}"]
    assert mind.recorded_ms > 3_500
