"""Whether reads stay fast: 1,000,000 messages in 10,000 conversations against 1,000 in 10.

Every statement of a history, a trace, a replay and a list is explained and must not read a whole table.
Page 1 of a history is timed in both databases in turns.
"""

import asyncio
import random
import statistics
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, ClassVar

from psycopg import AsyncConnection, AsyncCursor
from psycopg.abc import Params
from psycopg.rows import TupleRow

from alicia.ledger.journal import journaled, missed
from alicia.ledger.journal import replay as replay_journal
from alicia.ledger.lease import abandoned
from alicia.storage.conversations import conversation, conversations
from alicia.storage.messages import history, message
from alicia.storage.pool import Connection, Pool, configure, make_pool
from alicia.storage.tools import failed_tool_uses, tool_uses_of_conversation
from alicia.storage.traces import commentaries, trace
from machine import keep
from scratch import judge, limits, migrated, scratch_postgres, show

RESULTS = Path(__file__).parent / "results" / "history.md"
PER_CONVERSATION = 100
SMALL, LARGE = 10, 10_000
# How many conversations go on at the same time, and so lie among each other on the disk.
AT_ONCE = 10
PAGES = 400
OWNER = "user 1"

FILL = (
    """
    INSERT INTO alicia_conversations (id, user_id, livekit_room_name, title, last_server_stanza_id)
    SELECT 'ac_' || c, 'user ' || c %% 500, 'ac_' || c, 'Conversation ' || c, -2 * %(per)s
      FROM generate_series(1, %(conversations)s) AS c
    """,
    """
    INSERT INTO alicia_messages (id, conversation_id, sequence_number, previous_id, message_role, contents)
    SELECT format('am_%%s_%%s', c, m), 'ac_' || c, m, CASE WHEN m > 1 THEN format('am_%%s_%%s', c, m - 1) END,
           (CASE m %% 2 WHEN 1 THEN 'user' ELSE 'assistant' END)::message_role,
           'Message ' || m || ' of conversation ' || c || ', of the length that people write.'
      FROM generate_series(1, %(conversations)s) AS c, generate_series(1, %(per)s) AS m
     ORDER BY (c - 1) / %(at_once)s, m, c
    """,
    """
    INSERT INTO alicia_sentences (id, message_id, sentence_sequence_number, text)
    SELECT 'ams' || substring(id FROM 3) || '_' || s, id, s, 'Sentence ' || s || ' of a message.'
      FROM alicia_messages, generate_series(1, 2) AS s
     WHERE message_role = 'assistant'
    """,
    """
    INSERT INTO alicia_stanzas (conversation_id, stanza_id, type, ref, envelope)
    SELECT conversation_id, -2 * sequence_number + half, 2 + 14 * half,
           CASE half WHEN 0 THEN id ELSE 'ams' || substring(id FROM 3) || '_1' END,
           convert_to(contents, 'UTF8')
      FROM alicia_messages, generate_series(0, 1) AS half
    """,
    """
    INSERT INTO alicia_meta (ref, key, value)
    SELECT id, 'messaging.trace_id', md5(id) FROM alicia_messages WHERE sequence_number %% 2 = 0
    """,
    """
    INSERT INTO alicia_tool_uses (conversation_id, message_id, tool_name, status)
    SELECT conversation_id, id, 'search', CASE WHEN random() < 0.01 THEN 'error' ELSE 'success' END
      FROM alicia_messages WHERE sequence_number %% 10 = 0
    """,
    """
    INSERT INTO alicia_reasoning_steps (message_id, content, sequence_number)
    SELECT id, 'Step.', 1 FROM alicia_messages WHERE sequence_number %% 10 = 0
    """,
    """
    INSERT INTO alicia_memory (id, content, created_by)
    SELECT 'amem_' || c, 'Fact ' || c, 'user ' || c %% 500 FROM generate_series(1, 2 * %(conversations)s) AS c
    """,
    """
    INSERT INTO alicia_memory_used (conversation_id, message_id, memory_id, content, metadata)
    SELECT conversation_id, id, 'amem_' || 1 + (random() * (2 * %(conversations)s - 2))::int, 'Fact.',
           '{"answerId": "am_x"}'
      FROM alicia_messages WHERE sequence_number %% 5 = 1
    """,
    """
    INSERT INTO alicia_audio (message_id, audio_format, duration_ms, transcription)
    SELECT id, 'opus', 900, contents FROM alicia_messages WHERE sequence_number %% 20 = 1
    """,
    """
    INSERT INTO alicia_user_conversation_commentaries (conversation_id, message_id, content)
    SELECT conversation_id, id, 'Note.' FROM alicia_messages WHERE sequence_number %% 50 = 2
    """,
)


class Recorder(AsyncCursor[TupleRow]):
    """A cursor that remembers what it was asked, for an EXPLAIN afterwards."""

    asked: ClassVar[list[tuple[Any, Params | None]]] = []

    async def execute(
        self,
        query: Any,
        params: Params | None = None,
        *,
        prepare: bool | None = None,
        binary: bool | None = None,
    ) -> "Recorder":
        self.asked.append((query, params))
        return await super().execute(query, params, prepare=prepare, binary=binary)


async def fill(url: str, conversation_count: int) -> float:
    """Make the rows; how many seconds it took."""
    begin = time.perf_counter()
    params = {"conversations": conversation_count, "per": PER_CONVERSATION, "at_once": AT_ONCE}
    async with await AsyncConnection.connect(url, autocommit=True) as conn:
        # The rows are whole by construction; checking a million keys would only take time.
        await conn.execute("SET session_replication_role = replica")
        for statement in FILL:
            await conn.execute(statement, params)
        await conn.execute("VACUUM ANALYZE")
    return time.perf_counter() - begin


async def whole_table_reads(pool: Pool) -> list[tuple[str, str, bool]]:
    """Of each read the access paths that its statements take, and whether none is a whole table's."""
    one, owner = "ac_501", OWNER
    answer = "am_501_40"

    async def replay(_: Connection) -> int:
        return len([data async for data in replay_journal(pool, one, -20)])

    reads: dict[str, Callable[[Connection], Awaitable[object]]] = {
        "conversation": lambda conn: conversation(conn, owner, one),
        "list of conversations": lambda conn: conversations(conn, owner),
        "history, page 1": lambda conn: history(conn, owner, one),
        "history, page 2": lambda conn: history(conn, owner, one, before=50),
        "message": lambda conn: message(conn, owner, answer),
        "trace": lambda conn: trace(conn, owner, answer),
        "commentaries": lambda conn: commentaries(conn, owner, one),
        "tool uses": lambda conn: tool_uses_of_conversation(conn, owner, one),
        "failed tool uses": lambda conn: failed_tool_uses(conn, owner),
        "replay": replay,
        "missed": lambda conn: missed(conn, one, -20),
        "settling": lambda conn: journaled(conn, one, [-20]),
        "abandoned": abandoned,
    }
    found: list[tuple[str, str, bool]] = []
    async with pool.connection() as conn:
        for name, read in reads.items():
            Recorder.asked.clear()
            await read(conn)
            nodes = [
                node for query, params in Recorder.asked for node in await explained(conn, query, params)
            ]
            whole = sorted({relation for kind, relation in nodes if kind == "Seq Scan"})
            indexes = sorted({relation for kind, relation in nodes if kind != "Seq Scan"})
            assert nodes, name
            paths = [f"WHOLE {relation}" for relation in whole] or indexes
            found.append((name, ", ".join(path.removeprefix("alicia_") for path in paths), not whole))
    return found


async def explained(conn: Connection, query: Any, params: Params | None) -> list[tuple[str, str]]:
    """The scans of a statement's plan: the kind, and the index or table that it reads."""
    async with AsyncCursor(conn) as cursor:
        text: str = query if isinstance(query, str) else query.decode()
        await cursor.execute(f"EXPLAIN (FORMAT JSON) {text}".encode(), params)
        row = await cursor.fetchone()
    scans: list[tuple[str, str]] = []

    def walk(node: dict[str, Any]) -> None:
        if "Scan" in node["Node Type"] and ("Relation Name" in node or "Index Name" in node):
            kind: str = node["Node Type"]
            scans.append((kind, node.get("Index Name") or node["Relation Name"]))
        for child in node.get("Plans", []):
            walk(child)

    assert row
    walk(row[0][0]["Plan"])
    return [scan for scan in scans if scan[0] != "Bitmap Heap Scan"]


async def page_times(small: Pool, large: Pool) -> tuple[list[float], list[float]]:
    """Seconds of page 1 of a random conversation's history in each database, in turns."""
    chance = random.Random(1)
    times: tuple[list[float], list[float]] = ([], [])
    async with small.connection() as few, large.connection() as many:
        for number in range(PAGES + 50):
            for place, (conn, count) in enumerate(((few, SMALL), (many, LARGE))):
                one = chance.randint(1, count)
                begin = time.perf_counter()
                page = await history(conn, f"user {one % 500}", f"ac_{one}")
                took = time.perf_counter() - begin
                assert page
                assert len(page.messages) == 50
                if number >= 50:
                    times[place].append(took)
    return times


async def recording(conn: Connection) -> None:
    await configure(conn)
    conn.cursor_factory = Recorder


async def main() -> None:
    # Nothing here measures writes, so the rows may be made without waiting for the disk.
    settings = {"fsync": "off", "max_wal_size": "8GB", "maintenance_work_mem": "512MB"}
    async with scratch_postgres(settings) as server:
        small, large = await migrated(server, "small"), await migrated(server, "large")
        await fill(small, SMALL)
        took = await fill(large, LARGE)
        print(f"{LARGE * PER_CONVERSATION:,} messages in {LARGE:,} conversations, made in {took:.0f} s")
        recorded = Pool(
            large, kwargs={"autocommit": True}, min_size=1, max_size=2, open=False, configure=recording
        )
        async with recorded as pool:
            scans = await whole_table_reads(pool)
        async with make_pool(small, max_size=1) as few, make_pool(large, max_size=1) as many:
            at_small, at_large = await page_times(few, many)
    show("What each read goes by", ("read", "indexes"), [(name, paths) for name, paths, _ in scans])
    p50s = [statistics.median(times) for times in (at_small, at_large)]
    rows = [
        (f"{count * PER_CONVERSATION:,} messages", f"{1000 * p50:.3f}")
        for count, p50 in zip((SMALL, LARGE), p50s, strict=True)
    ]
    show(f"Page 1 of a history, 50 messages, p50 of {PAGES}", ("", "ms"), rows)
    ratio = p50s[1] / p50s[0]
    bad = [name for name, _, good in scans if not good]
    targets = [
        ("reads of a whole table", ", ".join(bad) or "none", "none", not bad),
        ("page 1 at 1,000,000 / at 1,000", f"{ratio:.2f} ×", "≤ 1.5 ×", ratio <= 1.5),
    ]
    indexes = [f"| {name} | {paths} |" for name, paths, _ in scans]
    pages = [f"| {count} | {took} |" for count, took in rows]
    lines = [
        "# Reads as tables grow",
        "",
        "`bench/history.py`",
        "",
        "| read | indexes |",
        "|---|---|",
        *indexes,
    ]
    lines += ["", f"| page 1 of a history, 50 messages, p50 of {PAGES} | ms |", "|---|---:|", *pages, ""]
    keep(RESULTS, "\n".join([*lines, limits(targets)]))
    judge(targets)


if __name__ == "__main__":
    asyncio.run(main())
