"""The documents' SQL examples run, and leave rows that pass every check at commit."""

import re
from pathlib import Path

from psycopg import AsyncConnection

SEEDS = Path(__file__).parents[2].parent / "shared" / "seeds"
VECTOR = f"'[{','.join(['0.1'] * 1024)}]'::vector"


def fill(statement: str) -> bytes:
    filled = statement.replace("query_embedding", VECTOR).replace(r"'\xAUDIO'", r"'\x00ff'::bytea")
    return filled.replace("<audio_bytes>", r"'\x00ff'::bytea").encode()


async def run_one_by_one(url: str, statements: list[str]) -> list[int]:
    """In one transaction, as the examples' order of audio before its message needs; the rows of each."""
    async with await AsyncConnection.connect(url) as conn:
        return [(await conn.execute(fill(statement))).rowcount for statement in statements]


def statements_of(text: str) -> list[str]:
    lines = [line for line in text.splitlines() if not line.startswith("--")]
    return [part for part in re.split(r";\s*$", "\n".join(lines), flags=re.MULTILINE) if part.strip()]


async def test_statements_like_the_examples_run(fresh_database_url: str) -> None:
    examples = (Path(__file__).parent / "seed_examples.sql").read_text()
    counts = await run_one_by_one(fresh_database_url, statements_of(examples))
    assert counts[-8:] == [1, 1, 1, 1, 2, 1, 2, 0]


# The documents are not part of a checkout; where they stand beside it, their own words are run.
if SEEDS.exists():

    async def test_the_examples_run_as_written(fresh_database_url: str) -> None:
        (page,) = SEEDS.glob("001_*.txt")
        blocks = re.findall(r"^```sql\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
        statements = [statement for block in blocks for statement in statements_of(block)]
        assert len(statements) == 18
        counts = await run_one_by_one(fresh_database_url, statements)
        assert counts[-7:] == [1, 1, 1, 1, 2, 1, 2]
