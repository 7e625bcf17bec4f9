"""From the end of speech to the first sound of the answer: Alicia beside a plain AgentSession.

Same speech models, same language model, same machine, same recordings, in one run; the plain session
(bench/plain_voice.py) stores nothing, has its preemptive generation on and ends a turn by LiveKit's own
settings. The two take turns in blocks, so that whatever else the machine does falls on both. Recordings come
from ../shared/data/speech where that exists, else from the speech model's wheel.

    python bench/voice_turn.py [TURNS] [small|large|scripted]

Both use the same language model: a local one whose words are made even (bench/even_model.py), or a
scripted one that takes 0.35 s for its first word and 0.06 s for each that follows, for machines on which a
real one would drown everything else.

After each block the turns so far stand in bench/out and the tables and the picture in bench/results, so a run
that is cut short was not in vain. A run begins anew; what was measured with another model stays.
"""

import asyncio
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
import wave
from collections.abc import AsyncGenerator, Generator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import httpx2
import numpy as np
from livekit import api, rtc

from alicia import ids
from alicia.local import ports
from alicia.local.weights import QWEN, SMOLLM2
from alicia.protocol.messages import (
    AssistantSentence,
    AudioChunk,
    ControlStop,
    StartAnswer,
    UserMessage,
)
from even_model import EvenModel
from support import ground
from support.device import Device, device
from support.rooms import Participant, participant
from support.scripted import Pause, Script, Text
from support.servers import LiveKitServer
from support.speech import Person, recorded
from support.stack import Stack
from voice_parts import Turn, turn
from voice_report import report

ROOT = Path(__file__).parents[1]
RECORDINGS = ROOT.parent / "shared" / "data" / "speech"
OUT = ROOT / "bench" / "out"
SIZES = ("scripted", "small", "large")
BLOCK = 10
MOST_LOST = 3
"""So many blocks in which a turn got no answer end a run."""
ANSWER = "That is a good question. There is more than one answer to it. Let me think about it for a while."
PATIENCE = 30.0
LOUD = 300


class Utterance(NamedTuple):
    """A piece of human speech, and what its microphone picked up after the last word."""

    words: bytes
    rest: bytes


def utterances() -> list[Utterance]:
    """Short sentences. The fall of the voice at their end is left whole: it tells that they are over."""
    found = [recorded(4.7, 6.65)]
    for name in ("goforward", "austen-0880", "austen-0930"):
        path = RECORDINGS / f"{name}.wav"
        if path.exists():
            with wave.open(str(path)) as file:
                found.append(file.readframes(file.getnframes()))
    if len(found) == 1:
        print("no ../shared/data/speech: measuring with the recording in the speech model's wheel")
        found += [recorded(24.4, 26.6), recorded(15.1, 17.4)]
    return [_parted(pcm) for pcm in found]


def _parted(pcm: bytes) -> Utterance:
    samples = np.frombuffer(pcm, np.int16)
    level = np.abs(samples[: len(samples) // 160 * 160].reshape(-1, 160)).max(axis=1)
    voiced = np.flatnonzero(level > level.max() * 0.08)
    end = 2 * 160 * int(voiced[-1] + 1)
    return Utterance(pcm[:end], pcm[end:])


class Ears:
    """When the first sound came, and when there was none."""

    def __init__(self, someone: Participant) -> None:
        self.first: asyncio.Future[float] | None = None
        self.last = 0.0
        self._someone = someone
        someone.room.on("track_subscribed", self._subscribed)  # pyright: ignore
        for other in someone.room.remote_participants.values():
            for publication in other.track_publications.values():
                if publication.track is not None:
                    self._subscribed(publication.track)

    def _subscribed(self, track: rtc.Track, *_: object) -> None:
        if track.kind == rtc.TrackKind.KIND_AUDIO:
            self._someone.start(self._listen(track))

    async def _listen(self, track: rtc.Track) -> None:
        async for event in rtc.AudioStream.from_track(track=track, sample_rate=24_000, num_channels=1):
            if np.abs(np.frombuffer(event.frame.data, np.int16)).max(initial=0) > LOUD:
                self.last = time.time()
                if self.first is not None and not self.first.done():
                    self.first.set_result(self.last)

    async def silence(self, seconds: float = 0.6) -> None:
        left = seconds
        while left > 0:
            await asyncio.sleep(left)
            left = self.last + seconds - time.time()


async def _hear_answer(person: Person, ears: Ears, said: Utterance) -> tuple[float, float]:
    """Speak; when the last word was out, and when the answer began to sound."""
    ears.first = asyncio.get_running_loop().create_future()
    await person.say(said.words, said.rest)
    ended = time.time()
    return ended, await asyncio.wait_for(ears.first, PATIENCE)


async def alicia_turn(stack: Stack, each: Device, person: Person, ears: Ears, said: Utterance) -> Turn:
    ended, first = await _hear_answer(person, ears, said)
    # On a machine that cannot keep up a turn may end in the middle; what was said last is answered.
    question = each.all(UserMessage)[-1]
    start = await each.hears(StartAnswer, lambda body: body.previous_id == question.id)
    sentence = await each.hears(AssistantSentence, lambda body: body.previous_id == start.id)
    began = time.time()
    await each.submit(ControlStop(conversation_id=each.id, target_id=start.id, stop_type="all"))
    await each.closed(start.id)
    await each.hears(AudioChunk, lambda chunk: chunk.id == sentence.id)
    await ears.silence()
    hushed = max(0.0, ears.last - began)
    traces = [await _trace(stack, each, of) for of in (question.id, start.id)]
    cut = len(each.all(UserMessage)) - 1
    each.heard.clear()
    each.log[:-1] = []
    return turn(ended, first, hushed, cut, *traces)


async def _trace(stack: Stack, each: Device, message_id: str) -> Any:
    """All that is stored of a message."""
    user = each.room.identity.rpartition(":")[0]
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {stack.token(user)}"}) as http:
        answer = await http.get(f"{stack.url}/api/v1/messages/{message_id}/trace")
    assert answer.status_code == 200, answer.text
    return answer.json()


@asynccontextmanager
async def alicia(stack: Stack) -> AsyncGenerator[tuple[Device, Person, Ears]]:
    async with device(stack, f"bench-{secrets.token_hex(3)}", features=("streaming", "voice")) as each:
        ears, person = Ears(each.room), Person(each.room)
        await person.take_microphone()
        await asyncio.sleep(3)
        yield each, person, ears


@asynccontextmanager
async def plain(livekit: LiveKitServer, name: str) -> AsyncGenerator[tuple[Participant, Person, Ears]]:
    room = ids.new(ids.ConversationId)
    async with api.LiveKitAPI(livekit.url, livekit.api_key, livekit.api_secret) as livekit_api:
        dispatch = api.RoomAgentDispatch(agent_name=name)
        await livekit_api.room.create_room(api.CreateRoomRequest(name=room, agents=[dispatch]))
    async with participant(livekit, room, "someone") as someone:
        await someone.sees_an_agent(60)
        ears, person = Ears(someone), Person(someone)
        await person.take_microphone()
        await asyncio.sleep(5)
        yield someone, person, ears


class Results:
    """The turns of a run, kept after each block."""

    def __init__(self, size: str) -> None:
        self.path = OUT / f"voice_turn_{size}.json"
        self.held: dict[str, list[Any]] = {"alicia": [], "plain": [], "lost": []}

    def keep(self, block: dict[str, list[Any]]) -> bool:
        """Write tables and picture of all that is there; whether the limits are met."""
        for name, values in block.items():
            self.held[name] += values
        self.path.write_text(json.dumps(self.held))
        return report({each: OUT / f"voice_turn_{each}.json" for each in SIZES})


async def measure(stack: Stack, livekit: LiveKitServer, name: str, turns: int, model: "Model") -> bool:
    results = Results(model.size)
    met, began, done = True, time.monotonic(), 0
    while done < turns and len(results.held["lost"]) < MOST_LOST:
        numbers = range(done, min(done + BLOCK, turns))
        try:
            ours = [each.as_map() async for each in alicia_turns(stack, numbers)]
            if model.even is not None:
                # After an answer Alicia learns from what was said, with the one model that both have.
                await model.even.idle()
            theirs = [each async for each in plain_turns(livekit, name, numbers)]
            met = results.keep({"alicia": ours, "plain": theirs})
            done = numbers.stop
        except (TimeoutError, AssertionError) as error:
            results.held["lost"].append(repr(error))
            print(f"a block is lost: {error!r}", flush=True)
        minutes = (time.monotonic() - began) / 60
        print(f"{done} of {turns} turns each, {minutes:.1f} minutes", flush=True)
    return met and done == turns


async def alicia_turns(stack: Stack, numbers: range) -> AsyncGenerator[Turn]:
    speech = utterances()
    async with alicia(stack) as (each, person, ears):
        for number in numbers:
            yield await alicia_turn(stack, each, person, ears, speech[number % len(speech)])


async def plain_turns(livekit: LiveKitServer, name: str, numbers: range) -> AsyncGenerator[float]:
    speech = utterances()
    async with plain(livekit, name) as (someone, person, ears):
        for number in numbers:
            ended, first = await _hear_answer(person, ears, speech[number % len(speech)])
            yield first - ended
            await someone.send(b"hush")
            await ears.silence()


@contextmanager
def program(*command: str, env: dict[str, str] | None = None, ready: str, log: Path) -> Generator[None]:
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, *command], stdout=output, stderr=output, env={**os.environ, **(env or {})}
        )
    try:
        deadline = time.monotonic() + 120
        while ready not in log.read_text():
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.2)
        yield
    finally:
        process.kill()
        process.wait()


class Model(NamedTuple):
    """The language model that both use."""

    size: str
    settings: dict[str, str]
    even: EvenModel | None = None


def run(turns: int, size: str) -> bool:
    opened = ground.Ground(durable=True)
    opened.open()
    try:
        livekit = ground.livekit()
        database = ground.postgres().create("bench", template=ground.ask("template")["name"])
        with tempfile.TemporaryDirectory() as folder, ExitStack() as parts:
            home, name = Path(folder), f"plain-{secrets.token_hex(3)}"
            model = Model(size, {}) if size == "scripted" else _language_model(size, home, parts)
            stack = parts.enter_context(Stack(home, database, livekit, settings=model.settings))
            stack.model.chat(Script(Pause(0.35), Text(ANSWER, 0.06)), always=True)
            asked = [stack.model.url, stack.model.model, "none"]
            if model.settings:
                asked = [model.settings[f"ALICIA_LLM_{each}"] for each in ("URL", "MODEL", "API_KEY")]
            bot = str(ROOT / "bench" / "plain_voice.py")
            key = (livekit.url, livekit.api_key, livekit.api_secret)
            parts.enter_context(program(bot, *key, *asked, name, ready="registered", log=home / "plain.log"))
            return asyncio.run(measure(stack, livekit, name, turns, model))
    finally:
        opened.close()


def _language_model(size: str, home: Path, parts: ExitStack) -> Model:
    weights = QWEN if size == "large" else SMOLLM2
    llm = {
        "ALICIA_LLM_URL": f"http://127.0.0.1:{ports.choose()}/v1",
        "ALICIA_LLM_MODEL": weights.name,
        "ALICIA_LLM_API_KEY": secrets.token_hex(8),
        "ALICIA_LLM_TOOLS": "decide",
    }
    command = ("-m", "alicia.local.llm", str(weights.path), "1")
    parts.enter_context(program(*command, env=llm, ready="warm", log=home / "llm.log"))
    even = parts.enter_context(EvenModel(llm["ALICIA_LLM_URL"], ports.choose()))
    return Model(size, {**llm, "ALICIA_LLM_URL": even.url}, even)


def main() -> None:
    turns, size = int(sys.argv[1]) if len(sys.argv) > 1 else 100, (sys.argv[2:] or ["small"])[0]
    assert size in SIZES, __doc__
    OUT.mkdir(exist_ok=True)
    sys.exit(0 if run(turns, size) else 1)


if __name__ == "__main__":
    main()
