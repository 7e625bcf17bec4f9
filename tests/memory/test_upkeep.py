"""Gaps in the vectors are filled in the background, and search goes on meanwhile."""

import asyncio
import contextlib
from collections.abc import Sequence
from pathlib import Path

import pytest
from prometheus_client import REGISTRY

from alicia.errors import ModelUnavailable
from alicia.local.doctor import examine
from alicia.memory.embeddings import EmbeddingServer
from alicia.memory.memory import Memory
from alicia.memory.upkeep import fill_gaps, keep_filled
from alicia.storage import gaps, memories
from alicia.storage.memories import Embedding
from alicia.storage.pool import Pool, make_pool
from support.scripted import ScriptedServer

from .conftest import keep

TEXTS = [f"The user owns the {colour} book." for colour in ("red", "green", "blue", "grey", "pink")]


@pytest.fixture
async def alone(fresh_database_url: str) -> contextlib.AbstractAsyncContextManager[Pool]:
    """A database of one's own: gaps are filled for everybody."""
    return make_pool(fresh_database_url, max_size=4)


async def models(pool: Pool, user: str) -> set[str | None]:
    async with pool.connection() as conn:
        return {one.embeddings_info.get("model") for one in await memories.memories(conn, user)}


async def test_memories_stored_while_the_embedder_failed_get_their_vectors_later(
    alone: Pool, scripted: ScriptedServer, user: str
) -> None:
    async with alone as pool, EmbeddingServer(scripted.url, "one", retries=0) as server:
        memory = Memory(pool, server)
        scripted.fail("embeddings")
        await keep(memory, user, *TEXTS)
        assert await models(pool, user) == {None}
        scripted.fail("embeddings")
        (found, *_) = await memory.search(user, "red")
        assert found.memory.content == TEXTS[0]
        told: list[tuple[int, int]] = []
        assert await fill_gaps(pool, server, lambda done, total: told.append((done, total))) == len(TEXTS)
        assert told[0] == (0, len(TEXTS))
        assert told[-1] == (len(TEXTS), len(TEXTS))
        assert await models(pool, user) == {"one"}
        assert await fill_gaps(pool, server) == 0


async def test_another_model_takes_over_step_by_step(
    alone: Pool, scripted: ScriptedServer, user: str
) -> None:
    async with (
        alone as pool,
        EmbeddingServer(scripted.url, "old") as old,
        EmbeddingServer(scripted.url, "new") as new,
    ):
        await keep(Memory(pool, old), user, *TEXTS)
        memory = Memory(pool, new)
        (found, *_) = await memory.search(user, "red")
        assert found.memory.content == TEXTS[0]
        assert found.ranked.similarity is None
        assert await fill_gaps(pool, new) == len(TEXTS)
        (found, *_) = await memory.search(user, "red")
        assert found.memory.content == TEXTS[0]
        assert found.ranked.similarity is not None


async def test_how_far_a_change_of_model_has_come_is_told_to_prometheus_and_by_the_doctor(
    fresh_database_url: str, scripted: ScriptedServer, user: str, tmp_path: Path
) -> None:
    settings = {
        "ALICIA_HOME": str(tmp_path),
        "ALICIA_DATABASE_URL": fresh_database_url,
        "ALICIA_EMBEDDING_URL": scripted.url,
        "ALICIA_EMBEDDING_MODEL": "new",
    }

    async def told() -> str:
        return next(one.text for one in await examine(settings) if one.part == "Embeddings")

    async with (
        make_pool(fresh_database_url, max_size=4) as pool,
        EmbeddingServer(scripted.url, "old") as old,
        EmbeddingServer(scripted.url, "new") as new,
    ):
        await keep(Memory(pool, old), user, *TEXTS)
        await keep(Memory(pool, new), user, "The user has no more books.")
        assert (await told()).endswith("; 1 of 6 memories embedded anew")
        waiting: list[float | None] = []

        def see(*_: int) -> None:
            waiting.append(REGISTRY.get_sample_value("alicia_memories_waiting"))

        await fill_gaps(pool, new, see)
        assert waiting == [5, 0]
        assert (await told()).endswith("; 6 of 6 memories embedded")


async def test_a_memory_edited_meanwhile_is_embedded_with_its_new_text(
    alone: Pool, scripted: ScriptedServer, user: str
) -> None:
    async with alone as pool, EmbeddingServer(scripted.url, "one", retries=0) as server:
        scripted.fail("embeddings")
        (one,) = await keep(Memory(pool, server), user, "Old text")
        gap = gaps.Gap(id=one, content="Old text")
        async with pool.connection() as conn:
            await memories.update_memory(conn, user, one, content="New text")
            assert not await gaps.fill(conn, user, gap, Embedding(model="one", vector=[1.0, 0.0]))
        assert await fill_gaps(pool, server) == 1
        assert "New text" in str(scripted.requests[-1].json["input"])


async def test_deleted_and_erased_memories_are_not_embedded(
    alone: Pool, scripted: ScriptedServer, user: str
) -> None:
    async with alone as pool, EmbeddingServer(scripted.url, "one", retries=0) as server:
        scripted.fail("embeddings")
        (one,) = await keep(Memory(pool, server), user, "Gone")
        await Memory(pool, server).forget(user, one)
        assert await fill_gaps(pool, server) == 0


async def test_the_background_work_outlives_a_model_that_is_away(
    alone: Pool, scripted: ScriptedServer, user: str
) -> None:
    class Flaky:
        """Fails once, then passes on."""

        model = "one"
        calls = 0
        filled = asyncio.Event()

        async def embed(self, texts: Sequence[str]) -> list[Embedding]:
            self.calls += 1
            if self.calls == 1:
                raise ModelUnavailable("away")
            self.filled.set()
            return [Embedding(model="one", vector=[1.0]) for _ in texts]

    async with alone as pool, EmbeddingServer(scripted.url, "one", retries=0) as server:
        scripted.fail("embeddings")
        await keep(Memory(pool, server), user, "A gap")
        flaky = Flaky()
        task = asyncio.create_task(keep_filled(pool, flaky, every=0.01))
        await asyncio.wait_for(flaky.filled.wait(), 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
