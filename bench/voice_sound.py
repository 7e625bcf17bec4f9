"""What the ear mishears, how quickly Alicia falls silent, and whether there are gaps in what she says.

The word error rate is that of the local model on whole recordings, read as a stream; ../shared/data/speech
has them, and without it there is only what the model's own wheel brings. Gaps are measured with a scripted
voice that is one tone throughout, so that any silence at the client is ours. The table goes to
bench/results/voice_sound.md.
"""

import asyncio
import statistics
import sys
import tempfile
import time
import wave
from datetime import datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numpy as np
from livekit import rtc
from livekit.agents import stt

from alicia.protocol.messages import AssistantSentence, AudioChunk, ControlStop, StartAnswer
from alicia.speech.activity import Activity
from alicia.speech.listener import Listener
from alicia.speech.moonshine import Moonshine
from alicia.speech.segments import RATE, Samples
from alicia.speech.sound import Recorder, decode
from machine import keep
from support import ground
from support.device import Device, device
from support.speech import AGE_OF_WISDOM, Person, age_of_wisdom
from support.stack import Stack

ROOT = Path(__file__).parents[1]
RECORDINGS = ROOT.parent / "shared" / "data" / "speech"
RESULTS = ROOT / "bench" / "results" / "voice_sound.md"
LONG = "This is a sentence of a long answer. " * 8
BARGES, ANSWERS = 20, 5
BEFORE_WORD = 0.32
"""Seconds before the first word in the recording."""
STEP = 120
"""Samples at the client that are judged at once: 5 ms."""
MOST_GAP, MOST_SILENCE = 30.0, 300.0


def recordings() -> dict[str, tuple[str, Samples]]:
    found = {"age-of-wisdom": (AGE_OF_WISDOM, np.frombuffer(age_of_wisdom(), np.int16))}
    if not RECORDINGS.exists():
        print("no ../shared/data/speech: only the wheel's own recording is measured")
        return found
    for line in (RECORDINGS / "transcripts.tsv").read_text().splitlines():
        name, text = line.split("\t")
        with wave.open(str(RECORDINGS / name)) as file:
            found[name] = text, np.frombuffer(file.readframes(file.getnframes()), np.int16)
    return found


def words(text: str) -> list[str]:
    plain = text.lower().replace("-", " ").replace("mr.", "mister").replace("10", "ten")
    return "".join(each for each in plain if each.isalpha() or each in " '").split()


def errors(expected: list[str], heard: list[str]) -> int:
    row = list(range(len(heard) + 1))
    for i, word in enumerate(expected, 1):
        before, row[0] = row[:], i
        for j, other in enumerate(heard, 1):
            row[j] = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (word != other))
    return row[-1]


async def heard(model: Moonshine, samples: Samples) -> str:
    stream = Listener(model, Activity).stream()
    data = np.concatenate([np.zeros(RATE // 2, np.int16), samples, np.zeros(RATE, np.int16)]).tobytes()
    for start in range(0, len(data), 640):
        stream.push_frame(rtc.AudioFrame(data[start : start + 640].ljust(640, b"\0"), RATE, 1, 320))
        await asyncio.sleep(0)
    stream.end_input()
    texts = [
        event.alternatives[0].text
        async for event in stream
        if event.type == stt.SpeechEventType.FINAL_TRANSCRIPT
    ]
    await stream.aclose()
    return " ".join(texts)


async def word_error_rates() -> tuple[float, float]:
    """Of the recordings, and of what is kept of them compared with what was heard at first."""
    model, wrong, total, changed, kept = Moonshine(), 0, 0, 0, 0
    for name, (text, samples) in recordings().items():
        first = words(await heard(model, samples))
        recorder = Recorder(RATE)
        recorder.write(samples.tobytes())
        again = words(await heard(model, decode(recorder.close())))
        expected = words(text)
        wrong, total = wrong + errors(expected, first), total + len(expected)
        changed, kept = changed + errors(first, again), kept + len(first)
        print(f"{name}: {' '.join(first)}", flush=True)
    await model.aclose()
    return wrong / total, changed / kept


def gaps(samples: Samples) -> list[float]:
    """The silences inside what was heard, in milliseconds."""
    loud = np.abs(samples[: len(samples) // STEP * STEP].reshape(-1, STEP)).max(axis=1) > 300
    edges = np.flatnonzero(loud)
    if not len(edges):
        return []
    inside = loud[edges[0] : edges[-1] + 1]
    found, length = list[float](), 0
    for each in inside:
        if each and length:
            found.append(length * STEP / 24)
        length = 0 if each else length + 1
    return found


async def gaps_between_sentences(stack: Stack) -> list[float]:
    """One value for each place where a sentence follows another; nothing but a tone is to be heard."""
    values: list[float] = []
    stack.model.say(LONG, always=True)
    async with device(stack, "bench-gaps", features=("streaming", "voice")) as each:
        person = Person(each.room)
        for _ in range(ANSWERS):
            person.forget()
            await each.ask("Speak.")
            last = [body for body in each.all(AssistantSentence) if body.text.strip()][-1]
            await each.hears(AudioChunk, lambda chunk, last=last: chunk.id == last.id)
            await person.hears_silence()
            found = gaps(person.heard)
            places = len({body.id for body in each.all(AssistantSentence) if body.text.strip()}) - 1
            values += sorted(found)[-places:] + [0.0] * max(0, places - len(found))
            each.heard.clear()
            each.log[:-1] = []
    return values


async def barge_ins(stack: Stack) -> tuple[list[float], list[float]]:
    """From the moment when the agent notices that somebody talks into what she says to her last sound at the
    client, and from the first word to that.
    """
    values: list[float] = []
    onsets: list[float] = []
    stack.model.reset()
    stack.model.say(LONG, always=True)
    async with device(stack, "bench-barge", features=("streaming", "voice")) as each:
        person = await Person.with_microphone(each.room)
        for number in range(BARGES):
            stack.model.hear("That is enough, thank you, stop here.")
            person.forget()
            await each.say("Speak.")
            await each.hears(StartAnswer)
            await person.hears_her()
            began = time.perf_counter() + BEFORE_WORD
            saying = asyncio.create_task(person.say(age_of_wisdom()))
            await each.hears(ControlStop)
            await saying
            await person.hears_silence(0.5)
            values.append(max(0.0, person.last_loud - noticed(each)) * 1e3)
            onsets.append((person.last_loud - began) * 1e3)
            print(f"{number + 1} of {BARGES} interruptions", flush=True)
            await asyncio.sleep(1)
            each.heard.clear()
            each.log[:-1] = []
    return values, onsets


def noticed(each: Device) -> float:
    """When the agent noticed that it is interrupted, on the clock for measurements."""
    meta = next(envelope.meta for envelope in each.heard if isinstance(envelope.body, ControlStop))
    at = datetime.fromisoformat((meta or {})["noticedAt"]).timestamp()
    return at - time.time() + time.perf_counter()


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


async def measure(stack: Stack) -> bool:
    wrong, changed = await word_error_rates()
    between = await gaps_between_sentences(stack)
    silence, onsets = await barge_ins(stack)
    rows = [
        ("words misheard", f"{wrong:.1%}", "", True),
        ("words that differ when what is kept is heard again", f"{changed:.1%}", "5%", changed <= 0.05),
        ("gap between sentences p95, ms", f"{p95(between):.0f}", f"{MOST_GAP:.0f}", p95(between) <= MOST_GAP),
        (
            "interruption noticed until silent p95, ms",
            f"{p95(silence):.0f}",
            f"{MOST_SILENCE:.0f}",
            p95(silence) <= MOST_SILENCE,
        ),
        ("interruption noticed until silent p50, ms", f"{statistics.median(silence):.0f}", "", True),
        ("first word until silent p50, ms", f"{statistics.median(onsets):.0f}", "", True),
        ("first word until silent p95, ms", f"{p95(onsets):.0f}", "", True),
    ]
    lines = ["| | measured | at most |", "|---|---:|---:|"]
    lines += [f"| {name} | {value}{'' if met else ', missed'} | {most} |" for name, value, most, met in rows]
    text = "\n".join(lines)
    print(text)
    keep(RESULTS, f"# Sound\n\n`bench/voice_sound.py`\n\n{text}\n")
    return all(met for *_, met in rows)


def main() -> None:
    opened = ground.Ground()
    opened.open()
    try:
        database = ground.postgres().create("bench", template=ground.ask("template")["name"])
        with (
            tempfile.TemporaryDirectory() as home,
            Stack(Path(home), database, ground.livekit(), scripted_speech=True) as stack,
        ):
            ok = asyncio.run(measure(stack))
    finally:
        opened.close()
    sys.exit(0 if ok else 1)


if __name__ == "__main__":
    main()
