"""How many people can speak with Alicia at once before the slowest twentieth waits twice as long.

Speech models are the local ones, the language model is scripted; everybody speaks, hears the beginning of
the answer, and speaks again. Beside the wait stands how many seconds of work the models had in each turn,
which all conversations share, and how many the agent as a whole. The table goes to
bench/results/voice_crowd.md.
"""

import asyncio
import sys
import tempfile
import urllib.request
from contextlib import AsyncExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import psutil

from alicia.local import ports
from support import ground
from support.scripted import Pause, Script, Text
from support.stack import Stack
from voice_report import p50, p95
from voice_turn import ANSWER, alicia, alicia_turn, utterances

TALKERS = (1, 2, 3, 4, 6, 8)
ROUNDS = 6
RESULTS = Path(__file__).parent / "results" / "voice_crowd.md"


def stage_seconds(port: int) -> dict[str, float]:
    """Seconds of each stage so far, from the agent's own metrics."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    found: dict[str, float] = {}
    for line in lines:
        if line.startswith('alicia_stage_seconds_sum{stage="'):
            stage, _, value = line.removeprefix('alicia_stage_seconds_sum{stage="').partition('"} ')
            found[stage] = float(value)
    return found


async def crowd(stack: Stack, talkers: int) -> list[float]:
    speech = list(utterances().values())
    async with AsyncExitStack() as opened:
        people = [await opened.enter_async_context(alicia(stack)) for _ in range(talkers)]

        async def talk(number: int) -> list[float]:
            each, person, ears = people[number]
            await asyncio.sleep(number * 1.7 % 5)
            waits: list[float] = []
            for turn in range(ROUNDS):
                heard = await alicia_turn(each, person, ears, speech[(turn + number) % len(speech)])
                waits.append(heard.total)
            return waits

        talks = await asyncio.gather(*(talk(number) for number in range(talkers)))
    return [wait for waits in talks for wait in waits]


async def measure(stack: Stack, metrics: int) -> None:
    lines = [
        "| talkers | p50, ms | p95, ms | models, s a turn | the agent's CPU, s a turn |",
        "|---:|---:|---:|---:|---:|",
    ]
    process, first = psutil.Process(stack.agent.pid), 0.0
    for talkers in TALKERS:
        stages, used = stage_seconds(metrics), sum(process.cpu_times()[:2])
        waits = await crowd(stack, talkers)
        turns = len(waits)
        models = sum(
            value - stages.get(stage, 0.0)
            for stage, value in stage_seconds(metrics).items()
            if stage in ("transcription", "speech", "recall")
        )
        cpu = sum(process.cpu_times()[:2]) - used
        first = first or p95(waits)
        lines.append(
            f"| {talkers} | {p50(waits) * 1e3:.0f} | {p95(waits) * 1e3:.0f} "
            f"| {models / turns:.2f} | {cpu / turns:.2f} |"
        )
        print(lines[-1], flush=True)
        if p95(waits) > 2 * first:
            break
    text = "\n".join(lines)
    RESULTS.write_text(f"# Many who speak at once\n\n`bench/voice_crowd.py`\n\n{text}\n")


def main() -> None:
    opened = ground.Ground()
    opened.open()
    port = ports.choose()
    settings = {"ALICIA_METRICS_PORT": str(port)}
    try:
        database = ground.postgres().create("bench", template=ground.ask("template")["name"])
        with (
            tempfile.TemporaryDirectory() as home,
            Stack(Path(home), database, ground.livekit(), settings=settings) as stack,
        ):
            stack.model.chat(Script(Pause(0.35), Text(ANSWER, 0.06)), always=True)
            asyncio.run(measure(stack, port))
    finally:
        opened.close()


if __name__ == "__main__":
    main()
