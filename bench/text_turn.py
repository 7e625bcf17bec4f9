"""How long a text turn takes beside the room's own round trip, and what fifty conversations at once cost.

Everything is real but the model, which is scripted and answers at once, so that its time can be told apart.
Run it on a quiet machine: figures are ratios within the run. The table goes to bench/results/text_turn.md.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from alicia import ids
from alicia.llm.chat import ChatModel
from alicia.llm.messages import Message, TextDelta
from alicia.protocol.messages import AssistantSentence, ControlStop, StartAnswer, UserMessage
from alicia.storage.pool import Pool, make_pool
from bare_bot import bare_bot
from machine import keep, mebibytes
from support import ground
from support.device import Device, device
from support.long_thought import long_thought
from support.rooms import participant
from support.servers import LiveKitServer
from support.stack import Stack

TURNS = 150
CONVERSATIONS = 50
ROUNDS = 6
EVERY = 5.0
ANSWER = "This is the first sentence. This is the second one. And this is the last."
MISSED = 10_000
MOST_P50, MOST_P95, MOST_CROWD, MOST_VISIBLE, MOST_STOP, MOST_AWAY = 6.0, 10.0, 3.0, 0.6, 0.05, 3.0
RESULTS = Path(__file__).parent / "results" / "text_turn.md"


def p50(values: list[float]) -> float:
    return statistics.median(values)


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


async def timed(count: int, work: Callable[[], Awaitable[object]]) -> list[float]:
    times: list[float] = []
    for _ in range(count):
        started = time.perf_counter()
        await work()
        times.append(time.perf_counter() - started)
    return times


@asynccontextmanager
async def echo(livekit: LiveKitServer) -> AsyncGenerator[Callable[[], Awaitable[object]]]:
    """A room in which someone sends every packet back."""
    room = ids.new(ids.ConversationId)
    async with participant(livekit, room, "one") as one, participant(livekit, room, "other") as other:
        await one.sees("other")
        await other.sees("one")

        async def answer() -> None:
            while True:
                await other.send((await other.receive(600)).data, to=["one"])

        other.start(answer())

        async def round_trip() -> None:
            await one.send(b"x" * 200, to=["other"])
            await one.receive()

        yield round_trip


async def model_alone(stack: Stack) -> list[float]:
    """The scripted model's own time to its first sentence, asked directly."""
    async with ChatModel(stack.model.url, stack.model.model) as model:

        async def first_sentence() -> None:
            text, began = "", time.perf_counter()
            async with aclosing(model.stream([Message("user", "Hello")])) as deltas:
                async for delta in deltas:
                    text += delta.text if isinstance(delta, TextDelta) else ""
                    if ". " in text and len(times) == count:
                        times.append(time.perf_counter() - began)

        times: list[float] = []
        for count in range(TURNS + 10):  # noqa: B007 - read above
            await first_sentence()
        return times[10:]


class Turn:
    """When each part of a turn reached the client, in seconds after the send."""

    def __init__(self, echo: float, start: float, sentence: float, end: float) -> None:
        self.echo, self.start, self.sentence, self.end = echo, start, sentence, end


async def turn(each: Device, text: str) -> Turn:
    started = time.perf_counter()
    message = await each.say(text)
    await each.hears(UserMessage, lambda body: body.id == message.id)
    echoed = time.perf_counter()
    start = await each.hears(StartAnswer, lambda body: body.previous_id == message.id)
    begun = time.perf_counter()
    await each.hears(AssistantSentence, lambda body: body.previous_id == start.id)
    said = time.perf_counter()
    await each.closed(start.id)
    times = [moment - started for moment in (echoed, begun, said, time.perf_counter())]
    each.heard.clear()
    each.log[:-1] = []
    return Turn(*times)


async def crowd(stack: Stack) -> tuple[list[float], float]:
    """Many conversations, each asking every few seconds; the first sentences' times, and MiB for each."""
    before = mebibytes(stack.agent.pid)
    async with AsyncExitStack() as opened:
        devices = [
            await opened.enter_async_context(device(stack, f"user{number}"))
            for number in range(CONVERSATIONS)
        ]

        async def talk(number: int, each: Device) -> list[float]:
            await asyncio.sleep(EVERY * number / CONVERSATIONS)
            times: list[float] = []
            for _ in range(ROUNDS):
                began = time.perf_counter()
                times.append((await turn(each, "Hello")).sentence)
                await asyncio.sleep(max(0.0, EVERY - (time.perf_counter() - began)))
            return times

        talks = await asyncio.gather(*(talk(number, each) for number, each in enumerate(devices)))
        grown = (mebibytes(stack.agent.pid) - before) / CONVERSATIONS
        return [seconds for times in talks for seconds in times[1:]], grown


async def stops(stack: Stack, each: Device) -> list[float]:
    """From sending ControlStop to holding the closing stanza."""
    times: list[float] = []
    for _ in range(20):
        held = stack.model.hold("One sentence. Another sentence. And so on.", when="Hold")
        await each.say("Hold")
        start = await each.hears(StartAnswer)
        held.release(3)
        await each.hears(AssistantSentence)
        began = time.perf_counter()
        await each.submit(ControlStop(conversation_id=each.id, target_id=start.id, stop_type="generation"))
        await each.closed(start.id)
        times.append(time.perf_counter() - began)
        each.heard.clear()
        each.log[:-1] = []
    return times


async def visible(stack: Stack) -> list[float]:
    """From asking for a token to the agent's answer to Configuration."""
    times: list[float] = []
    for _ in range(10):
        began = time.perf_counter()
        async with device(stack, "visitor"):
            times.append(time.perf_counter() - began)
    return times


async def back_from_away(stack: Stack, pool: Pool) -> list[float]:
    """From asking for a token to holding everything that was missed."""
    times: list[float] = []
    for _ in range(3):
        room = ids.new(ids.ConversationId)
        await long_thought(pool, "traveller", room, MISSED)
        began = time.perf_counter()
        async with device(stack, "traveller", room) as each:
            await each.until(lambda each=each: len(each.log) > MISSED)
            times.append(time.perf_counter() - began)
    return times


async def measure(stack: Stack, livekit: LiveKitServer, pool: Pool) -> bool:
    stack.model.say(ANSWER, always=True)
    async with echo(livekit) as round_trip, device(stack, "bench") as each:
        await timed(20, round_trip)
        for _ in range(10):
            await turn(each, "Hello")
        trips: list[float] = []
        turns: list[Turn] = []
        # Alternately, so that whatever else the machine does falls on both.
        for _ in range(TURNS):
            trips += await timed(1, round_trip)
            turns.append(await turn(each, "Hello"))
        stopped = await stops(stack, each)
    model = await model_alone(stack)
    bare = await bare_bot(stack, livekit, TURNS)
    seen = await visible(stack)
    away = await back_from_away(stack, pool)
    many, grown = await crowd(stack)
    own = [each.sentence - p50(model) for each in turns]

    lines = [
        f"| {'first sentence, in ms':44} | {'p50':>7} | {'p95':>7} | × round trip p50 | p95 |",
        "|---|---|---|---|---|",
    ]
    for name, values in (
        ("round trip of a packet in the room", trips),
        ("the scripted model alone", model),
        ("bare livekit-agents bot, less the model", [value - p50(model) for value in bare]),
        ("Alicia, less the model", own),
        ("… until the message is stored and echoed", [each.echo for each in turns]),
        ("… until StartAnswer is stored and sent", [each.start for each in turns]),
        ("… until the first sentence", [each.sentence for each in turns]),
        ("… until the answer is closed", [each.end for each in turns]),
        (f"{CONVERSATIONS} conversations at once, first sentence", many),
    ):
        ratios = p50(values) / p50(trips), p95(values) / p95(trips)
        lines.append(
            f"| {name:44} | {p50(values) * 1e3:7.1f} | {p95(values) * 1e3:7.1f} "
            f"| {ratios[0]:6.1f} | {ratios[1]:6.1f} |"
        )
    lines += ["", "| limit | measured | at most |", "|---|---:|---:|"]
    ok = True
    for name, value, most in (
        ("turn p50 / round trip p50", p50(own) / p50(trips), MOST_P50),
        ("turn p95 / round trip p95", p95(own) / p95(trips), MOST_P95),
        ("fifty at once p95 / one alone p95", p95(many) / p95([each.sentence for each in turns]), MOST_CROWD),
        ("agent there and configured, s", p50(seen), MOST_VISIBLE),
        ("stop to closing stanza, s", p50(stopped), MOST_STOP),
        (f"complete again after {MISSED:,} stanzas, s", max(away), MOST_AWAY),
    ):
        met = value <= most
        ok = ok and met
        lines.append(f"| {name} | {value:.3f}{'' if met else ', missed'} | {most} |")
    lines += ["", f"The agent took {grown:.1f} MiB more for each of the {CONVERSATIONS} conversations."]
    text = "\n".join(lines)
    print(text)
    keep(RESULTS, f"# A turn in text\n\n`bench/text_turn.py`\n\n{text}\n")
    return ok


async def run(stack: Stack, livekit: LiveKitServer, database: str) -> bool:
    async with make_pool(database) as pool:
        return await measure(stack, livekit, pool)


def main() -> None:
    opened = ground.Ground(durable=True)
    opened.open()
    try:
        postgres, livekit = ground.postgres(), ground.livekit()
        database = postgres.create("bench", template=ground.ask("template")["name"])
        with tempfile.TemporaryDirectory() as home, Stack(Path(home), database, livekit) as stack:
            ok = asyncio.run(run(stack, livekit, database))
    finally:
        opened.close()
    sys.exit(0 if ok else 1)


if __name__ == "__main__":
    main()
