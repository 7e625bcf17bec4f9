"""What storing first costs: an append against a bare INSERT, and how fast a replay streams.

Both run in turns in one process on the embedded PostgreSQL with synchronous commit, so that what else the
machine does hits both; the figures are medians.
"""

import asyncio
import statistics
import time
from pathlib import Path

from alicia import ids
from alicia.ledger.entries import Entry
from alicia.ledger.ledger import Ledger, session_of
from alicia.protocol.messages import AssistantSentence, StartAnswer, UserMessage
from alicia.storage.pool import Pool, make_pool
from machine import keep
from scratch import judge, limits, migrated, scratch_postgres, show

RESULTS = Path(__file__).parent / "results" / "ledger.md"
ROUNDS = 1_500
SENTENCES_PER_ANSWER = 12
REPLAYED = 60_000
REPLAYS = 7
TEXT = "The tallest mountain above the sea is Everest, at 8,849 metres."
TRACE = {
    "messaging.trace_id": "4bf92f3577b34da6a3ce929d0e0e4736",
    "messaging.span_id": "00f067aa0ba902b7",
    "otel_span": "00f067aa0ba902b7",
    "otel_span_counter": 3,
    "timestamp": "2026-01-01T00:00:00.000Z",
}


async def append_cost(pool: Pool) -> tuple[list[float], list[float]]:
    """Seconds of each bare INSERT and of each append of a sentence with its trace."""
    ledger = Ledger(pool, "bench")
    row = await ledger.create(ids.new(ids.ConversationId), "bench")
    session = session_of(row)
    asked = ids.new(ids.MessageId)
    await ledger.append(session, UserMessage(conversation_id=row.id, id=asked, content="Which?"))
    async with pool.connection() as conn:
        await conn.execute("CREATE TABLE bare (id text PRIMARY KEY, message_id text, number int, text text)")
    bare: list[float] = []
    appends: list[float] = []
    answer = asked
    for number in range(ROUNDS):
        if number % SENTENCES_PER_ANSWER == 0:
            answer = ids.new(ids.MessageId)
            await ledger.append(session, StartAnswer(conversation_id=row.id, id=answer, previous_id=asked))
        sentence = AssistantSentence(
            conversation_id=row.id,
            id=ids.new(ids.SentenceId),
            previous_id=answer,
            sequence=number,
            text=TEXT,
            is_final=False,
        )
        begin = time.perf_counter()
        async with pool.connection() as conn:
            await conn.execute(
                "INSERT INTO bare VALUES (%s, %s, %s, %s)", (sentence.id, answer, number, TEXT)
            )
        middle = time.perf_counter()
        await ledger.append(session, Entry(sentence, TRACE))
        end = time.perf_counter()
        bare.append(middle - begin)
        appends.append(end - middle)
    # The first rounds plan statements and fill caches.
    return bare[ROUNDS // 10 :], appends[ROUNDS // 10 :]


async def replay_rates(pool: Pool) -> list[float]:
    """Envelopes a second of several whole replays."""
    ledger = Ledger(pool, "bench")
    row = await ledger.create(ids.new(ids.ConversationId), "bench")
    session = session_of(row)
    asked, answer = ids.new(ids.MessageId), ids.new(ids.MessageId)
    await ledger.append(
        session,
        UserMessage(conversation_id=row.id, id=asked, content="Which?"),
        StartAnswer(conversation_id=row.id, id=answer, previous_id=asked),
    )
    async with pool.connection() as conn:
        # The bytes are those of one real sentence; only their number matters to a replay.
        (sample,) = await ledger.append(
            session,
            Entry(
                AssistantSentence(
                    conversation_id=row.id,
                    id=ids.new(ids.SentenceId),
                    previous_id=answer,
                    sequence=1,
                    text=TEXT,
                    is_final=False,
                ),
                TRACE,
            ),
        )
        await conn.execute(
            """
            INSERT INTO alicia_stanzas (conversation_id, stanza_id, type, ref, envelope)
            SELECT %s, -number, 16, generate_random_id('ams'), %s
              FROM generate_series(%s, %s) AS number
            """,
            (row.id, sample, -session.last_server_stanza_id + 1, REPLAYED),
        )
        await conn.execute("ANALYZE alicia_stanzas")
    rates: list[float] = []
    for _ in range(REPLAYS):
        begin = time.perf_counter()
        count = 0
        async for _ in ledger.replay(row.id):
            count += 1
        rates.append(count / (time.perf_counter() - begin))
    return rates


async def main() -> None:
    async with scratch_postgres() as server:
        url = await migrated(server, "bench")
        async with make_pool(url, max_size=2) as pool:
            bare, appends = await append_cost(pool)
            rates = await replay_rates(pool)
    rows = [
        (name, *(f"{1000 * quantile:.3f}" for quantile in quantiles(seconds)))
        for name, seconds in (("bare INSERT and commit", bare), ("append of one sentence, 5 meta", appends))
    ]
    show(f"Milliseconds over {len(bare)} rounds", ("", "p50", "p90", "p99"), rows)
    ratio = statistics.median(appends) / statistics.median(bare)
    rate = statistics.median(rates)
    targets = [
        ("append / bare INSERT, p50", f"{ratio:.2f} ×", "≤ 4 × (aim 3 ×)", ratio <= 4),
        ("replay", f"{rate:,.0f} envelopes/s", "≥ 30,000 envelopes/s", rate >= 30_000),
    ]
    table = [f"| ms over {len(bare)} rounds | p50 | p90 | p99 |", "|---|---:|---:|---:|"]
    table += [f"| {' | '.join(row)} |" for row in rows]
    keep(RESULTS, "\n".join(["# The ledger", "", "`bench/ledger.py`", "", *table, "", limits(targets)]))
    judge(targets)


def quantiles(seconds: list[float]) -> tuple[float, float, float]:
    ordered = sorted(seconds)
    p50, p90, p99 = (ordered[int(len(ordered) * share)] for share in (0.5, 0.9, 0.99))
    return p50, p90, p99


if __name__ == "__main__":
    asyncio.run(main())
