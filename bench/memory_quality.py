"""How often recall finds the turns that hold an answer: ours beside full text, BM25 and vectors.

    .venv/bin/python bench/memory_quality.py [LOCOMO.json]

Every turn of a LoCoMo conversation is stored as a memory, each question is a query, conversation by
conversation. Counted is how many questions have any, and all, of their evidence among the first 5 and 10.
The table is printed and written to bench/results/memory_quality.md. Without the data nothing is measured.
"""

import asyncio
import json
import math
import re
import secrets
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from msgspec import Struct

from alicia.local.embedder import LocalEmbedder
from alicia.local.postgres import Postgres
from alicia.memory.query import Query
from alicia.memory.recall import Searcher
from alicia.storage.memories import NewMemory, create_memories
from alicia.storage.migrate import migrate
from alicia.storage.pool import Connection, Pool, make_pool
from machine import keep

ROOT = Path(__file__).parent.parent
DATA = ROOT.parent / "shared" / "data" / "locomo" / "locomo-dev.json"
RESULTS = ROOT / "bench" / "results" / "memory_quality.md"
CUTS = (5, 10)


class Question(Struct, frozen=True):
    text: str
    evidence: frozenset[str]


class Dialogue(Struct, frozen=True):
    name: str
    turns: list[dict[str, Any]]
    questions: list[Question]


Search: TypeAlias = Callable[[str], Awaitable[list[str]]]


def read(path: Path) -> list[Dialogue]:
    dialogues: list[Dialogue] = []
    for entry in json.loads(path.read_text("utf-8")):
        talk = entry["conversation"]
        numbers = sorted(int(key.split("_")[1]) for key in talk if re.fullmatch(r"session_\d+", key))
        turns: list[dict[str, Any]] = []
        for number in numbers:
            for turn in talk[f"session_{number}"]:
                caption = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
                info = {
                    "turn": turn["dia_id"],
                    "position": len(turns),
                    "date": talk.get(f"session_{number}_date_time"),
                }
                turns.append({"content": f"{turn['speaker']}: {turn['text']}{caption}", "info": info})
        known = {turn["info"]["turn"] for turn in turns}
        questions: list[Question] = []
        for question in entry["qa"]:
            named = {name for text in question["evidence"] for name in re.findall(r"D\d+:\d+", text)}
            if evidence := named & known:
                questions.append(Question(question["question"], frozenset(evidence)))
        dialogues.append(Dialogue(entry["sample_id"], turns, questions))
    return dialogues


async def store(conn: Connection, embedder: LocalEmbedder, dialogue: Dialogue) -> None:
    vectors = await embedder.embed([turn["content"] for turn in dialogue.turns])
    memories = [
        NewMemory(content=turn["content"], source_info=turn["info"], embedding=vector)
        for turn, vector in zip(dialogue.turns, vectors, strict=True)
    ]
    await create_memories(conn, dialogue.name, memories)


def full_text(conn: Connection, owner: str) -> Search:
    async def search(question: str) -> list[str]:
        cursor = await conn.execute(
            """
            SELECT source_info ->> 'turn'
              FROM alicia_memory,
                   (SELECT replace(plainto_tsquery('english', %s)::text, ' & ', ' | ')::tsquery AS query) q
             WHERE created_by = %s
               AND content_search @@ query
             ORDER BY ts_rank(content_search, query) DESC, id
             LIMIT 10
            """,
            (question, owner),
        )
        return [row[0] for row in await cursor.fetchall()]

    return search


def plain_vectors(conn: Connection, owner: str, embedder: LocalEmbedder) -> Search:
    async def search(question: str) -> list[str]:
        vector = (await embedder.embed([question]))[0]
        cursor = await conn.execute(
            """
            SELECT source_info ->> 'turn'
              FROM alicia_memory
             WHERE created_by = %s
             ORDER BY embeddings <=> %s::vector, id
             LIMIT 10
            """,
            (owner, vector.padded),
        )
        return [row[0] for row in await cursor.fetchall()]

    return search


async def stems(conn: Connection, text: str) -> Counter[str]:
    cursor = await conn.execute(
        "SELECT lexeme, cardinality(positions) FROM unnest(to_tsvector('english', %s))", (text,)
    )
    return Counter(dict(await cursor.fetchall()))


async def bm25(conn: Connection, dialogue: Dialogue, k1: float = 1.2, b: float = 0.75) -> Search:
    """The textbook's, over the same stems that PostgreSQL makes."""
    texts = [await stems(conn, turn["content"]) for turn in dialogue.turns]
    lengths = [text.total() for text in texts]
    average = sum(lengths) / len(lengths)
    having = Counter(word for text in texts for word in text)

    async def search(question: str) -> list[str]:
        asked = (await stems(conn, question)).keys()
        scores: dict[str, float] = {}
        for text, length, turn in zip(texts, lengths, dialogue.turns, strict=True):
            score = 0.0
            for word in asked & text.keys():
                rarity = math.log(1 + (len(texts) - having[word] + 0.5) / (having[word] + 0.5))
                score += rarity * text[word] * (k1 + 1) / (text[word] + k1 * (1 - b + b * length / average))
            if score:
                scores[turn["info"]["turn"]] = score
        return sorted(scores, key=lambda name: -scores[name])[:10]

    return search


def ours(pool: Pool, owner: str, embedder: LocalEmbedder) -> Search:
    # A busy machine must not turn a measurement of quality into one of patience.
    searcher = Searcher(pool, embedder, patience=60)

    async def search(question: str) -> list[str]:
        found = await searcher.search(owner, Query(message=question), limit=10)
        return [one.memory.source_info["turn"] for one in found]

    return search


async def measure(search: Search, questions: Sequence[Question]) -> list[list[bool]]:
    """For each question: any and all of its evidence among the first 5, then the first 10."""
    rows: list[list[bool]] = []
    for question in questions:
        found = await search(question.text)
        row: list[bool] = []
        for cut in CUTS:
            first = set(found[:cut])
            row += [bool(question.evidence & first), question.evidence <= first]
        rows.append(row)
    return rows


def table(results: dict[str, dict[str, list[list[bool]]]]) -> str:
    heads = ["any @5", "all @5", "any @10", "all @10"]
    names = list(next(iter(results.values())))
    lines = [
        f"| search | {' | '.join(heads)} | {' | '.join(f'{name} any @10' for name in names)} |",
        f"|---|{'---:|' * (len(heads) + len(names))}",
    ]
    for search, by_dialogue in results.items():
        rows = [row for rows in by_dialogue.values() for row in rows]
        shares = [100 * sum(column) / len(rows) for column in zip(*rows, strict=True)]
        each = [100 * sum(row[2] for row in by_dialogue[name]) / len(by_dialogue[name]) for name in names]
        lines.append(f"| {search} | {' | '.join(f'{share:.1f}%' for share in [*shares, *each])} |")
    return "\n".join(lines)


async def run(path: Path) -> str:
    dialogues = read(path)
    results: dict[str, dict[str, list[list[bool]]]] = {}
    with TemporaryDirectory() as folder:
        server = Postgres(Path(folder), password=secrets.token_hex(8), settings={"fsync": "off"})
        await server.initialise()
        await server.start()
        try:
            await server.ready()
            await migrate(server.url("postgres"))
            async with (
                LocalEmbedder() as embedder,
                make_pool(server.url("postgres")) as pool,
                pool.connection() as conn,
            ):
                for dialogue in dialogues:
                    await store(conn, embedder, dialogue)
                    searches = {
                        "full text (`ts_rank`, OR)": full_text(conn, dialogue.name),
                        "BM25": await bm25(conn, dialogue),
                        "vectors": plain_vectors(conn, dialogue.name, embedder),
                        "Alicia": ours(pool, dialogue.name, embedder),
                    }
                    for name, search in searches.items():
                        rows = await measure(search, dialogue.questions)
                        results.setdefault(name, {})[dialogue.name] = rows
        finally:
            await server.stop()
    count = sum(len(dialogue.questions) for dialogue in dialogues)
    return f"{len(dialogues)} conversations, {count} questions\n\n{table(results)}\n"


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
    if not path.exists():
        print(f"nothing measured: {path} is not there")
        return
    text = asyncio.run(run(path))
    print(text)
    keep(RESULTS, f"# Memory: quality of recall\n\n`bench/memory_quality.py`, {text}")


if __name__ == "__main__":
    main()
