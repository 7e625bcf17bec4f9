"""The database has the columns that the defining documents name, plus those that the decisions list."""

import json
import re
from pathlib import Path

from alicia.storage.pool import Connection

ROOT = Path(__file__).parents[2]
SEEDS = ROOT.parent / "shared" / "seeds"
TYPES = {
    "timestamp": "timestamp without time zone",
    "float": "double precision",
    "vector": "vector(1024)",
    "role": "message_role",
}
OTHER_NAMES: dict[tuple[str, str], str] = {
    ("alicia_messages", "role"): "message_role",
    ("alicia_user_conversation_commentaries", "user_id"): "created_by",
}

Columns = dict[tuple[str, str], str | None]


def from_data_file() -> Columns:
    tables = json.loads((Path(__file__).parent / "seed_columns.json").read_text())
    return {
        (table, column): TYPES.get(kind, kind)
        for table, columns in tables.items()
        for column, kind in columns.items()
    }


def from_decisions() -> Columns:
    page = (ROOT / "docs" / "decisions" / "schema.md").read_text()
    rows = re.findall(r"^\| (alicia_\w+) \| (\w+) \| ([^|]+) \|", page, re.MULTILINE)
    return {(table, column): kind for table, column, kind in rows}


async def in_database(conn: Connection) -> dict[tuple[str, str], str]:
    cursor = await conn.execute(
        """
        SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod)
          FROM pg_attribute a
          JOIN pg_class c ON c.oid = a.attrelid
         WHERE c.relkind = 'r'
           AND c.relnamespace = 'public'::regnamespace
           AND c.relname LIKE 'alicia%'
           AND a.attnum > 0
           AND NOT a.attisdropped
        """
    )
    return {(table, column): kind for table, column, kind in await cursor.fetchall()}


async def test_the_columns_are_those_of_the_documents_and_the_decisions(conn: Connection) -> None:
    named, added = from_data_file(), from_decisions()
    assert not named.keys() & added.keys()
    found = await in_database(conn)
    assert found.keys() == named.keys() | added.keys()
    for column, kind in (named | added).items():
        assert kind in (None, found[column]), f"{column} is {found[column]}, not {kind}"


# The documents are not part of a checkout; where they stand beside it, the data file is proven by them.
if SEEDS.exists():

    def test_the_data_file_says_what_the_documents_say() -> None:
        named = from_seeds()
        ours = from_data_file()
        assert ours.keys() == named.keys()
        for column, kind in named.items():
            assert kind in (None, ours[column]), f"{column} is {ours[column]}, not {kind}"


def from_seeds() -> Columns:
    found: Columns = {}
    texts = [path.read_text() for path in sorted(SEEDS.glob("00[0-2]_*.txt"))]
    alignment, architecture, trace = texts
    for table, section in sections(alignment, r"^### `(alicia_\w+)`$"):
        fields = section.split("**Protocol Mapping:**")[0]
        for column in re.findall(r"^\* `(\w+)`", fields, re.MULTILINE):
            found.setdefault((table, column), None)
    for table, section in sections(architecture, r"^### (alicia_\w+)$"):
        for column, kind in re.findall(r"^\| (\w+) \| ([\w\[\]]+) \|", section, re.MULTILINE):
            found[table, column] = TYPES.get(kind, kind)
        found.pop((table, "Field"), None)
    for table, body in re.findall(
        r"^    (alicia_\w+) \{\n(.*?)^    \}", architecture, re.MULTILINE | re.DOTALL
    ):
        for kind, column in re.findall(r"^ +([\w\[\]]+) (\w+)", body, re.MULTILINE):
            name = OTHER_NAMES.get((table, column)) or str(column)
            found[table, name] = TYPES.get(kind, kind)
    columns = trace.split("**Database Alignment:**")[1]
    for column, note in re.findall(r"^\* `(\w+)`(.*)$", columns, re.MULTILINE):
        if found.get(("alicia_memory_used", column)) is None:
            found["alicia_memory_used", column] = "jsonb" if "JSONB" in note else None
    return found


def sections(text: str, heading: str) -> list[tuple[str, str]]:
    parts = re.split(heading, text, flags=re.MULTILINE)
    # A section ends with the next heading of any level.
    return [
        (name, re.split(r"^##+ ", body, flags=re.MULTILINE)[0])
        for name, body in zip(parts[1::2], parts[2::2], strict=True)
    ]
