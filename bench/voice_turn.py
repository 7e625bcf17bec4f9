"""From the end of speech to the first sound of the answer: Alicia beside a plain AgentSession.

Same models, same machine, same recordings, in one run; the plain session (bench/plain_voice.py) stores
nothing and has its preemptive generation on. The two take turns in blocks, so that whatever else the machine
does falls on both. Recordings come from ../shared/data/speech where that exists, else from the speech model's
wheel.

    python bench/voice_turn.py [TURNS] [small|large|scripted]

Both use the same language model: a local one, or a scripted one that takes 0.35 s for its first word and
0.06 s for each that follows, for machines on which a real one would drown everything else.

Several runs add up: each appends to bench/out/voice_turn.json, and the table and the picture in bench/results
are of all turns in it. Remove the file to begin anew.
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
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numpy as np
from livekit import api, rtc

from alicia import ids
from alicia.local import ports
from alicia.local.weights import QWEN, SMOLLM2
from alicia.protocol.messages import (
    AssistantSentence,
    ControlStop,
    Transcription,
    UserMessage,
)
from support import ground
from support.device import Device, device
from support.rooms import Participant, participant
from support.scripted import Pause, Script, Text
from support.servers import LiveKitServer
from support.speech import Person, recorded
from support.stack import Stack
from voice_report import Turn, report

ROOT = Path(__file__).parents[1]
RECORDINGS = ROOT.parent / "shared" / "data" / "speech"
OUT = ROOT / "bench" / "out" / "voice_turn.json"
BLOCK = 10
ANSWER = "That is a good question. There is more than one answer to it. Let me think about it for a while."
PATIENCE = 30.0
LOUD = 300


def utterances() -> dict[str, bytes]:
    """Short pieces of human speech, cut right after the last word."""
    found: dict[str, bytes] = {}
    for name in ("goforward", "austen-0880", "austen-0890", "austen-0930"):
        path = RECORDINGS / f"{name}.wav"
        if path.exists():
            with wave.open(str(path)) as file:
                found[name] = file.readframes(file.getnframes())
    if not found:
        print("no ../shared/data/speech: measuring with the recording in the speech model's wheel")
        found = {"best": recorded(0.9, 4.75), "wisdom": recorded(4.75, 6.45), "season": recorded(13.2, 14.9)}
    return {name: _trimmed(pcm) for name, pcm in found.items()}


def _trimmed(pcm: bytes) -> bytes:
    samples = np.frombuffer(pcm, np.int16)
    level = np.abs(samples[: len(samples) // 160 * 160].reshape(-1, 160)).max(axis=1)
    voiced = np.flatnonzero(level > level.max() * 0.08)
    return samples[: (voiced[-1] + 1) * 160].tobytes()


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
                self.last = time.perf_counter()
                if self.first is not None and not self.first.done():
                    self.first.set_result(self.last)

    async def silence(self, seconds: float = 0.6) -> None:
        left = seconds
        while left > 0:
            await asyncio.sleep(left)
            left = self.last + seconds - time.perf_counter()


async def _hear_answer(person: Person, ears: Ears, pcm: bytes) -> tuple[float, float]:
    """Speak; when the last word was out, and when the answer began to sound."""
    ears.first = asyncio.get_running_loop().create_future()
    await person.say(pcm)
    ended = time.perf_counter()
    return ended, await asyncio.wait_for(ears.first, PATIENCE)


async def alicia_turn(each: Device, person: Person, ears: Ears, pcm: bytes) -> Turn:
    arrivals: dict[str, float] = {}

    async def watch() -> None:
        for kind in (UserMessage, AssistantSentence):
            await each.hears(kind)
            arrivals[kind.__name__] = time.perf_counter()

    watching = asyncio.create_task(watch())
    ended, first = await _hear_answer(person, ears, pcm)
    await watching
    sentence = (await each.hears(AssistantSentence)).previous_id
    began = time.perf_counter()
    await each.submit(ControlStop(conversation_id=each.id, target_id=sentence, stop_type="all"))
    await each.closed(sentence)
    await ears.silence()
    turn = Turn(
        total=first - ended,
        sure=arrivals["UserMessage"] - ended,
        sentence=arrivals["AssistantSentence"] - ended,
        hushed=max(0.0, ears.last - began),
        interims=sum(isinstance(body.body, Transcription) for body in each.heard),
    )
    each.heard.clear()
    each.log[:-1] = []
    return turn


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


def kept() -> dict[str, list[Any]]:
    """The turns of earlier runs."""
    return json.loads(OUT.read_text()) if OUT.exists() else {"alicia": [], "plain": []}


def keep(block: dict[str, list[Any]]) -> None:
    """Add a block of turns, so that a run which is cut short was not in vain."""
    held = kept()
    OUT.write_text(json.dumps({name: held[name] + values for name, values in block.items()}))


async def measure(stack: Stack, livekit: LiveKitServer, name: str, turns: int) -> None:
    speech = list(utterances().values())
    for start in range(0, turns, BLOCK):
        results: dict[str, list[Any]] = {"alicia": [], "plain": []}
        async with alicia(stack) as (each, person, ears):
            for number in range(start, min(start + BLOCK, turns)):
                pcm = speech[number % len(speech)]
                results["alicia"].append((await alicia_turn(each, person, ears, pcm)).as_map())
        async with plain(livekit, name) as (someone, person, ears):
            for number in range(start, min(start + BLOCK, turns)):
                ended, first = await _hear_answer(person, ears, speech[number % len(speech)])
                results["plain"].append(first - ended)
                await someone.send(b"hush")
                await ears.silence()
        keep(results)
        print(f"{start + len(results['plain'])} of {turns} turns", flush=True)


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


def run(turns: int, size: str) -> None:
    opened = ground.Ground(durable=True)
    opened.open()
    try:
        livekit = ground.livekit()
        database = ground.postgres().create("bench", template=ground.ask("template")["name"])
        with tempfile.TemporaryDirectory() as folder, ExitStack() as parts:
            home, name = Path(folder), f"plain-{secrets.token_hex(3)}"
            llm = {} if size == "scripted" else _language_model(size, home, parts)
            stack = parts.enter_context(Stack(home, database, livekit, settings=llm))
            stack.model.chat(Script(Pause(0.35), Text(ANSWER, 0.06)), always=True)
            model = [stack.model.url, stack.model.model, "none"]
            if llm:
                model = [llm[f"ALICIA_LLM_{each}"] for each in ("URL", "MODEL", "API_KEY")]
            bot = str(ROOT / "bench" / "plain_voice.py")
            key = (livekit.url, livekit.api_key, livekit.api_secret)
            parts.enter_context(program(bot, *key, *model, name, ready="registered", log=home / "plain.log"))
            asyncio.run(measure(stack, livekit, name, turns))
    finally:
        opened.close()


def _language_model(size: str, home: Path, parts: ExitStack) -> dict[str, str]:
    weights = QWEN if size == "large" else SMOLLM2
    llm = {
        "ALICIA_LLM_URL": f"http://127.0.0.1:{ports.choose()}/v1",
        "ALICIA_LLM_MODEL": weights.name,
        "ALICIA_LLM_API_KEY": secrets.token_hex(8),
        "ALICIA_LLM_TOOLS": "decide",
    }
    command = ("-m", "alicia.local.llm", str(weights.path), "1")
    parts.enter_context(program(*command, env=llm, ready="warm", log=home / "llm.log"))
    return llm


def main() -> None:
    turns, size = int(sys.argv[1]) if len(sys.argv) > 1 else 100, (sys.argv[2:] or ["small"])[0]
    OUT.parent.mkdir(exist_ok=True)
    run(turns, size)
    sys.exit(0 if report(kept()) else 1)


if __name__ == "__main__":
    main()
