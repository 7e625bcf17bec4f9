"""Whether a conversation of 2,000 messages is as good as a short one.

    .venv/bin/python bench/long_conversation.py [--messages 2000]

Everything is real but the model, which is scripted: it answers at once, notes one fact, and takes minutes
that keep it. The fact is told in the third message. The long conversation and short ones are timed in turns.
The table goes to bench/results/long_conversation.md.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from alicia.engine.prompt import estimate
from alicia.protocol.messages import AssistantSentence, MemoryTrace, StartAnswer
from alicia.storage.pool import Pool, make_pool
from machine import keep
from support import ground
from support.device import Device, device
from support.scripted import Request
from support.stack import Stack

RESULTS = Path(__file__).parent / "results" / "long_conversation.md"
ANSWER = "This is the first sentence. This is the second one. And this is the last."
FACT = "My boat is called Cormorant."
LEARNED = {"kind": "people and things", "facts": ["The user's boat is called Cormorant."]}
REST = 25
"""After so many turns the user pauses until everything is done."""
TIMED = 60
SHORT = 10
"""How many turns a short conversation has."""
MOST = 1.3


def answer_json(request: Request) -> dict[str, Any] | None:
    """Lessons and minutes of a model that minds only the boat."""
    text = request.user_text
    lines = [line.lstrip("- ") for line in text.splitlines() if "Cormorant" in line]
    if "The points, at most" in text and lines:
        return {"points": lines[:1]}
    if text.endswith(f"Statements:\n1. {FACT}"):
        return {"statements": [LEARNED]}
    return None


async def rest(pool: Pool, conversation_id: str) -> None:
    """Wait until the pause has dealt with everything that was said."""
    async with asyncio.timeout(120):
        while True:
            async with pool.connection() as conn:
                cursor = await conn.execute(
                    """
                    SELECT 1
                      FROM alicia_meta
                     WHERE ref = %(id)s
                       AND key = 'learned'
                       AND value::integer >= (SELECT max(sequence_number)
                                                FROM alicia_messages
                                               WHERE conversation_id = %(id)s
                                                 AND message_role = 'user')
                    """,
                    {"id": conversation_id},
                )
                if await cursor.fetchone():
                    return
            await asyncio.sleep(0.02)


async def turn(each: Device, text: str) -> tuple[float, float]:
    """Seconds to the first sentence and to the end."""
    began = time.perf_counter()
    message = await each.say(text)
    start = await each.hears(StartAnswer, lambda body: body.previous_id == message.id)
    await each.hears(AssistantSentence, lambda body: body.previous_id == start.id)
    first = time.perf_counter() - began
    await each.closed(start.id)
    whole = time.perf_counter() - began
    each.heard.clear()
    each.log[:-1] = []
    return first, whole


async def grow(pool: Pool, each: Device, messages: int) -> None:
    await turn(each, "Good morning, let us talk.")
    await turn(each, FACT)
    await rest(pool, each.id)
    for number in range(2, messages // 2):
        await turn(each, f"Tell me about the number {number}, as I do not know what it is good for.")
        if number % REST == 0:
            await rest(pool, each.id)
    await rest(pool, each.id)


def largest(stack: Stack) -> int:
    """The tokens of the largest prompt so far."""
    return max(sum(estimate(one["content"]) for one in request.messages) for request in stack.model.chats)


async def measure(stack: Stack, pool: Pool, messages: int) -> tuple[str, bool]:
    stack.model.say(ANSWER, always=True)
    stack.model.make_json(answer_json)
    first: dict[str, list[float]] = {"short": [], "long": []}
    whole: dict[str, list[float]] = {"short": [], "long": []}
    async with device(stack, "bench") as long:
        await grow(pool, long, messages)
        for round_ in range(TIMED // SHORT):
            async with device(stack, f"bench-{round_}") as short:
                for number in range(SHORT):
                    # In turns, so that whatever else the machine does falls on both.
                    for name, each in (("short", short), ("long", long)):
                        times = await turn(each, f"And what of the number {number}?")
                        first[name].append(times[0])
                        whole[name].append(times[1])
                        await rest(pool, each.id)
        asked = await long.say("What is my boat called?")
        await long.answered(asked)
        traces = [trace for trace in long.all(MemoryTrace) if trace.action == "retrieved"]
        prompt = stack.model.chats[-1]
    window = stack.model.context_window
    by_memory = any("Cormorant" in trace.content for trace in traces)
    by_summary = "Cormorant" in prompt.messages[0]["content"]
    left_out = any("left out" in request.messages[0]["content"] for request in stack.model.chats)
    ratio = statistics.median(whole["long"]) / statistics.median(whole["short"])
    lines = [f"| {'turn':14} | first sentence p50 | whole p50 | whole p95 |", "|---|---:|---:|---:|"]
    for name in ("short", "long"):
        p95 = statistics.quantiles(whole[name], n=20)[-1]
        values = (statistics.median(first[name]), statistics.median(whole[name]), p95)
        lines.append(f"| {name} | " + " | ".join(f"{1000 * value:.1f} ms" for value in values) + " |")
    checks = (
        (
            f"a turn after {messages:,} messages costs {ratio:.2f} × one of a short conversation",
            ratio <= MOST,
        ),
        (
            f"the largest prompt had {largest(stack):,} tokens of a window of {window:,}",
            largest(stack) <= window,
        ),
        ("the fact of the third message was recalled from memory", by_memory),
        ("the fact of the third message was in the summary", by_summary),
        ("no prompt left anything out that the summary does not cover", not left_out),
    )
    lines += ["", *(f"- {'met' if met else 'MISSED'}: {text}" for text, met in checks)]
    return "\n".join(lines), all(met for _, met in checks)


async def run(stack: Stack, database: str, messages: int) -> tuple[str, bool]:
    async with make_pool(database) as pool:
        return await measure(stack, pool, messages)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--messages", type=int, default=2000)
    arguments = parser.parse_args()
    opened = ground.Ground(durable=True)
    opened.open()
    try:
        postgres, livekit = ground.postgres(), ground.livekit()
        database = postgres.create("bench", template=ground.ask("template")["name"])
        with tempfile.TemporaryDirectory() as home, Stack(Path(home), database, livekit) as stack:
            table, ok = asyncio.run(run(stack, database, arguments.messages))
    finally:
        opened.close()
    keep(RESULTS, f"# A long conversation\n\n`bench/long_conversation.py`\n\n{table}\n")
    print(table)
    sys.exit(0 if ok else 1)


if __name__ == "__main__":
    main()
