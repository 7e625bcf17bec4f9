"""How many people can speak with Alicia at once before the slowest twentieth waits twice as long.

Speech models are the local ones, the language model is scripted; everybody speaks, hears the beginning of
the answer, and speaks again. The wait is told by what it is for: the models (hearing, the language model
until its first sentence is stored, the voice) or the rest (recall, the network). Beside it stands the agent's
work in each turn, and what the speech models alone need for the same words. People, LiveKit, PostgreSQL and
the agent share the machine.

    python bench/voice_crowd.py [MINUTES]

No larger crowd is begun after so many minutes (7). The table goes to bench/results/voice_crowd.md.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numpy as np
import psutil
from livekit import local_inference, rtc

from alicia.speech.activity import Activity
from alicia.speech.hibari import Hibari
from alicia.speech.listener import Listener
from alicia.speech.moonshine import Moonshine
from alicia.speech.segments import RATE, WINDOW
from alicia.speech.synthesiser import Manner
from machine import keep, mebibytes
from support import ground
from support.scripted import Pause, Script, Text
from support.stack import Stack
from voice_parts import PARTS, Turn
from voice_report import p50, p95
from voice_turn import ANSWER, Utterance, alicia, alicia_turn, utterances

TALKERS = (1, 2, 3, 4, 6, 8, 10, 12)
ROUNDS, FEW = 5, 12
"""Turns of each talker, and how many a crowd has at least."""
MINUTES = 7.0
MODELS = ("end-of-turn wait", "speech to text", "first token", "first sentence", "voice")
FRAME = RATE // 50
RESULTS = Path(__file__).parent / "results" / "voice_crowd.md"


async def crowd(stack: Stack, talkers: int) -> list[Turn]:
    speech = utterances()
    async with AsyncExitStack() as opened:
        people = await asyncio.gather(*(opened.enter_async_context(alicia(stack)) for _ in range(talkers)))

        async def talk(number: int) -> list[Turn]:
            await asyncio.sleep(number * 1.7 % 5)
            return [
                await alicia_turn(stack, *people[number], speech[(turn + number) % len(speech)])
                for turn in range(max(ROUNDS, FEW // talkers))
            ]

        talks = await asyncio.gather(*(talk(number) for number in range(talkers)))
    return [turn for turns in talks for turn in turns]


async def models_alone(speech: list[Utterance]) -> float:
    """Seconds of CPU that hearing an utterance and saying a sentence take the models by themselves."""
    moonshine, hibari, eot = Moonshine(), Hibari(), local_inference.EOT()
    await asyncio.gather(moonshine.warm(), hibari.warm())
    began = time.process_time()
    for said in speech:
        stream = Listener(moonshine, Activity).stream()
        data = said.words + said.rest
        for start in range(0, len(data), 2 * FRAME):
            piece = data[start : start + 2 * FRAME].ljust(2 * FRAME, b"\0")
            stream.push_frame(rtc.AudioFrame(piece, RATE, 1, FRAME))
            await asyncio.sleep(0.005)
        stream.end_input()
        async for _ in stream:
            pass
        await stream.aclose()
        # The session has a detector of its own for voices, and one for the end of a turn.
        samples, detector = np.frombuffer(data, np.int16), Activity()
        for start in range(0, len(samples) - WINDOW, WINDOW):
            detector(samples[start : start + WINDOW])
        eot.predict(samples[-local_inference.EOT_MAX_SAMPLES :])
        async for _ in hibari.speak(ANSWER.partition(". ")[0], Manner()):
            pass
    used = time.process_time() - began
    await asyncio.gather(moonshine.aclose(), hibari.aclose())
    return used / len(speech)


def row(talkers: int, turns: list[Turn], cpu: float) -> str:
    waits = [turn.total for turn in turns]
    means = {
        name: statistics.fmean(values)
        for name, values in zip(PARTS, zip(*(turn.parts for turn in turns), strict=True), strict=True)
    }
    models = sum(means[name] for name in MODELS)
    figures = (p50(waits), p95(waits), models, sum(means.values()) - models)
    told = " | ".join(f"{figure * 1e3:.0f}" for figure in figures)
    return f"| {talkers} | {len(turns)} | {told} | {cpu / len(turns):.2f} |"


class Memory:
    """The agent's, as it grows."""

    def __init__(self, agent: int) -> None:
        self._agent = agent
        self._seen: list[tuple[str, float]] = []

    def look(self, when: str) -> None:
        self._seen = [each for each in self._seen if each[0] != when] + [(when, mebibytes(self._agent))]

    def __str__(self) -> str:
        return ", ".join(f"{size:.0f} MiB {when}" for when, size in self._seen)


async def measure(stack: Stack, minutes: float) -> None:
    memory = Memory(stack.agent.pid)
    memory.look("before anybody spoke")
    alone = await models_alone(utterances())
    lines = [
        "| talkers | turns | p50, ms | p95, ms | mean for models, ms | for us, ms | agent's CPU, s a turn |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    process, first, most, began = psutil.Process(stack.agent.pid), 0.0, 0, time.monotonic()
    verdict = f"More than {TALKERS[-1]} were not tried."
    for talkers in TALKERS:
        if time.monotonic() - began > minutes * 60:
            verdict = f"After {minutes:g} minutes larger crowds were not tried."
            break
        used = sum(process.cpu_times()[:2])
        try:
            turns = await crowd(stack, talkers)
        except (TimeoutError, AssertionError) as error:
            verdict = f"With {talkers} at once a turn got no answer ({type(error).__name__})."
            break
        lines.append(row(talkers, turns, sum(process.cpu_times()[:2]) - used))
        slow = p95([turn.total for turn in turns])
        first = first or slow
        if slow > 2 * first:
            verdict = f"With {talkers} the p95 is more than twice that of one."
            break
        most = talkers
        memory.look("with one" if talkers == 1 else "with the largest crowd")
        _write(lines, f"So far {most} at once.", alone, memory)
    _write(lines, f"**{most} at once** before p95 doubles. {verdict}", alone, memory)


def _write(lines: list[str], verdict: str, alone: float, memory: Memory) -> None:
    text = "\n".join(lines)
    apart = (
        f"The speech models by themselves take {alone:.2f} s of CPU for such a turn. The scripted language "
        "model takes none of it; its share of the wait is counted with the models. The agent's memory, with "
        f"the speech models: {memory}."
    )
    print(f"{text}\n\n{verdict}\n", flush=True)
    print(memory, flush=True)
    keep(RESULTS, f"# Many who speak at once\n\n`bench/voice_crowd.py`\n\n{text}\n\n{verdict}\n\n{apart}\n")


def main() -> None:
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else MINUTES
    opened = ground.Ground()
    opened.open()
    try:
        database = ground.postgres().create("bench", template=ground.ask("template")["name"])
        with tempfile.TemporaryDirectory() as home, Stack(Path(home), database, ground.livekit()) as stack:
            stack.model.chat(Script(Pause(0.35), Text(ANSWER, 0.06)), always=True)
            asyncio.run(measure(stack, minutes))
    finally:
        opened.close()


if __name__ == "__main__":
    main()
