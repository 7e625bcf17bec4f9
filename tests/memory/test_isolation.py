"""Nobody sees or touches another user's memories, by any way."""

import ast
import re
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

import alicia
from alicia.errors import NotFound
from alicia.ids import MemoryId
from alicia.ledger.erase import erase_memory
from alicia.local.embedder import LocalEmbedder
from alicia.memory.documents import import_document
from alicia.memory.memory import Memory
from alicia.memory.query import Query
from alicia.memory.recall import Searcher
from alicia.storage import documents, gaps, keeping, memories, recall, seeds
from alicia.storage.memories import NewMemory
from alicia.storage.pool import Connection, Pool
from alicia.storage.seeds import Filter, Wanted

from .conftest import keep

SECRET = "The user's vault code is 7731 and the vault is in Basel."
SOURCES = Path(alicia.__file__).parent


def statements() -> Iterator[tuple[str, str]]:
    """Every text in the program that reads or writes the table of memories."""
    for path in sorted(SOURCES.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = node.value
                if re.search(r"\b(?:FROM|JOIN|UPDATE|INTO)\s+alicia_memory\b", text):
                    yield f"{path.relative_to(SOURCES)}:{node.lineno}", text


def test_there_are_statements_to_look_at() -> None:
    assert len(list(statements())) > 20


@pytest.mark.parametrize(("place", "statement"), [pytest.param(*one, id=one[0]) for one in statements()])
def test_every_statement_names_the_owner(place: str, statement: str) -> None:
    """Each mention of the table comes with its own condition on `created_by`, or writes it."""
    reads = len(re.findall(r"\b(?:FROM|JOIN|UPDATE)\s+alicia_memory\b", statement))
    owned = len(
        re.findall(r"created_by\s*(?:=|\))|GROUP BY created_by|created_by, (?:source_type|count)", statement)
    )
    assert owned >= max(reads, 1), place


@pytest.fixture
async def secret(memory: Memory, user: str) -> MemoryId:
    """A memory of somebody else's."""
    (one,) = await memory.add(
        user,
        [NewMemory(content=SECRET, tags=["vault"], memory_type="world_fact", source_info={"position": 1})],
    )
    return one


async def test_another_users_memory_appears_under_no_filter(
    memory: Memory, pool: Pool, embedder: LocalEmbedder, secret: MemoryId, user: str
) -> None:
    thief = f"{user}-thief"
    await memory.add(thief, [NewMemory(content="The thief likes vaults.", source_info={"position": 2})])
    exact, through = Searcher(pool, embedder), Searcher(pool, embedder, few=0)
    for words in (SECRET, "What is the vault code in Basel?", "7731"):
        for only in (Filter(), Filter(tags=["vault"]), Filter(memory_type="world_fact")):
            for searcher in (exact, through):
                found = await searcher.search(thief, Query(message=words), only=only, limit=50)
                assert secret not in [one.memory.id for one in found]
        assert secret not in [one.memory_id for one in await memory.recall(thief, [], words)]


async def test_every_read_with_anothers_id_finds_nothing(
    pool: Pool, embedder: LocalEmbedder, secret: MemoryId, user: str
) -> None:
    thief = f"{user}-thief"
    (vector,) = await embedder.embed([SECRET])
    wanted = Wanted(vector=vector, any_of=["vault"], all_of=[["vault", "code"]], weights={"vault": 1.0})
    reads: list[Callable[[Connection], Awaitable[object]]] = [
        lambda conn: memories.memory(conn, thief, secret),
        lambda conn: memories.memories(conn, thief, tags=["vault"]),
        lambda conn: memories.memory_moments(conn, thief, secret),
        lambda conn: memories.memory_usage(conn, thief),
        lambda conn: recall.memories_by_id(conn, thief, [secret]),
        lambda conn: recall.surroundings(conn, thief, [secret], ["vault"], vector, Filter(), 3),
        lambda conn: recall.count_memories(conn, thief),
        lambda conn: seeds.seeds(conn, thief, wanted, limit=10),
        lambda conn: seeds.seeds(conn, thief, wanted, limit=10, exactly=True),
        lambda conn: gaps.gaps(conn, thief, "some other model", 10),
        lambda conn: documents.chunks_of(conn, thief, "x"),
    ]
    async with pool.connection() as conn, seeds.searching(conn):
        for read in reads:
            assert not await read(conn)
        assert (await recall.sample(conn, thief, "vault")).size == 0


async def test_every_write_with_anothers_id_changes_nothing(
    memory: Memory, pool: Pool, embedder: LocalEmbedder, secret: MemoryId, user: str
) -> None:
    thief = f"{user}-thief"
    (vector,) = await embedder.embed(["x"])
    async with pool.connection() as conn:
        before = await memories.memory(conn, user, secret)
        await memories.update_memory(conn, thief, secret, content="stolen", pinned=True)
        await memories.archive_memory(conn, thief, secret)
        await memories.delete_memory(conn, thief, secret)
        await keeping.put_memory(conn, thief, secret, NewMemory(content="stolen"))
        await gaps.fill(conn, thief, gaps.Gap(id=secret, content=SECRET), vector)
        await documents.move_chunk(conn, thief, secret, {"stolen": True})
        await documents.drop_chunks(conn, thief, [secret])
        await memories.create_memories(conn, thief, [NewMemory(content="mine", supersedes=secret)])
        with pytest.raises(NotFound):
            await erase_memory(conn, thief, secret)
    assert await memory.edit(thief, secret, "stolen") is None
    assert await memory.forget(thief, secret) is None
    async with pool.connection() as conn:
        assert await memories.memory(conn, user, secret) == before
        await memories.delete_memory(conn, user, secret)
        assert await keeping.restore_memory(conn, thief, secret) is None


async def test_the_same_document_of_two_users_stays_apart(
    pool: Pool, embedder: LocalEmbedder, user: str
) -> None:
    first = await import_document(pool, embedder, user, "notes.txt", b"The vault is in Basel.")
    second = await import_document(pool, embedder, f"{user}-2", "notes.txt", b"The boat is in Kiel.")
    assert (first.added, second.added, second.kept, second.removed) == (1, 1, 0, 0)
    async with pool.connection() as conn:
        assert len(await documents.chunks_of(conn, user, "notes.txt")) == 1


async def test_names_that_look_alike_are_different_people(memory: Memory, user: str) -> None:
    await keep(memory, user, SECRET)
    for other in (user.upper(), f"{user} ", user[:-1], f"{user}%", "", "%"):
        assert await memory.search(other, SECRET) == []
