"""Memories by owner: create, read, update, archive, delete."""

import pytest

from alicia.errors import LocalProtocolError
from alicia.storage.memories import (
    Embedding,
    NewMemory,
    archive_memory,
    create_memories,
    delete_memory,
    memories,
    memory,
    update_memory,
)
from alicia.storage.pool import Connection

VECTOR = [0.1] * 384


async def test_memories_are_created_in_order_and_read_back(conn: Connection, user: str) -> None:
    new = NewMemory(
        content="Likes tea",
        embedding=Embedding(model="mini", vector=VECTOR),
        importance=0.9,
        confidence=0.8,
        user_rating=4,
        source_type="user",
        source_info={"page": 1},
        tags=["drink", "taste"],
        pinned=True,
        memory_type="user_preference",
    )
    first, second = await create_memories(conn, user, [new, NewMemory(content="Likes rain")])
    found = await memory(conn, user, first)
    assert found
    assert (found.content, found.created_by, found.memory_type) == ("Likes tea", user, "user_preference")
    assert (found.importance, found.confidence, found.user_rating) == (0.9, 0.8, 4)
    assert (found.source_type, found.source_info) == ("user", {"page": 1})
    assert (found.tags, found.pinned, found.archived) == (["drink", "taste"], True, False)
    assert found.embeddings_info == {"model": "mini", "dimension": 384}
    plain = await memory(conn, user, second)
    assert plain
    assert (plain.importance, plain.confidence, plain.tags) == (0.5, 1.0, [])


async def test_nobody_reads_or_changes_another_owners_memory(conn: Connection, user: str) -> None:
    (mine,) = await create_memories(conn, user, [NewMemory(content="Mine")])
    assert await memory(conn, "stranger", mine) is None
    assert await update_memory(conn, "stranger", mine, content="Yours") is None
    assert await archive_memory(conn, "stranger", mine) is None
    assert not await delete_memory(conn, "stranger", mine)
    assert mine not in {row.id for row in await memories(conn, "stranger")}
    await create_memories(conn, "stranger", [NewMemory(content="Theirs", supersedes=mine)])
    found = await memory(conn, user, mine)
    assert found
    assert (found.content, found.superseded_by) == ("Mine", None)


async def test_an_update_sets_what_is_given_and_nothing_else(conn: Connection, user: str) -> None:
    new = NewMemory(
        content="Old", embedding=Embedding(model="mini", vector=VECTOR), tags=["a"], user_rating=2
    )
    (one,) = await create_memories(conn, user, [new])
    changed = await update_memory(conn, user, one, importance=1.0, pinned=True)
    assert changed
    assert (changed.content, changed.tags, changed.user_rating) == ("Old", ["a"], 2)
    assert (changed.importance, changed.pinned) == (1.0, True)
    assert changed.embeddings_info == {"model": "mini", "dimension": 384}
    unrated = await update_memory(conn, user, one, user_rating=None, tags=[])
    assert unrated
    assert (unrated.user_rating, unrated.tags) == (None, [])
    # An embedding of the old words would find the new ones in the wrong place.
    rewritten = await update_memory(conn, user, one, content="New")
    assert rewritten
    assert (rewritten.content, rewritten.embeddings_info) == ("New", {})
    cursor = await conn.execute("SELECT embeddings IS NULL FROM alicia_memory WHERE id = %s", (one,))
    assert await cursor.fetchone() == (True,)
    embedded = await update_memory(conn, user, one, embedding=Embedding(model="big", vector=[0.2] * 1024))
    assert embedded
    assert embedded.embeddings_info == {"model": "big", "dimension": 1024}


async def test_lists_leave_out_what_is_archived_or_deleted(conn: Connection, user: str) -> None:
    one, two, three = await create_memories(
        conn, user, [NewMemory(content=str(number), tags=["t"] * number) for number in range(3)]
    )
    await archive_memory(conn, user, one)
    assert await delete_memory(conn, user, two)
    assert not await delete_memory(conn, user, two)
    assert [row.id for row in await memories(conn, user)] == [three]
    assert [row.id for row in await memories(conn, user, archived=True)] == [one]
    assert [row.id for row in await memories(conn, user, tags=["t"])] == [three]
    assert await memories(conn, user, tags=["other"]) == []
    await archive_memory(conn, user, one, False)
    assert {row.id for row in await memories(conn, user)} == {one, three}
    assert await memory(conn, user, two) is None


async def test_lists_are_paged_newest_first(conn: Connection, user: str) -> None:
    made = [(await create_memories(conn, user, [NewMemory(content=str(n))]))[0] for n in range(5)]
    first = await memories(conn, user, limit=3)
    second = await memories(conn, user, limit=3, before=(first[-1].created_at, first[-1].id))
    assert [row.id for row in first + second] == made[::-1]


async def test_a_new_memory_can_take_an_old_ones_place(conn: Connection, user: str) -> None:
    (old,) = await create_memories(conn, user, [NewMemory(content="Lives in Bern")])
    (new,) = await create_memories(conn, user, [NewMemory(content="Lives in Basel", supersedes=old)])
    found = await memory(conn, user, old)
    assert found
    assert found.superseded_by == new


@pytest.mark.parametrize("size", [0, 1025])
def test_a_vector_that_does_not_fit_is_refused(size: int) -> None:
    with pytest.raises(LocalProtocolError, match="1 to 1024"):
        _ = Embedding(model="mini", vector=[0.0] * size).padded


async def test_the_zeros_behind_a_vector_leave_its_nearest_as_they_are(conn: Connection, user: str) -> None:
    vectors = [[float(place == number) + 0.01 for place in range(384)] for number in range(3)]
    made = await create_memories(
        conn,
        user,
        [
            NewMemory(content=str(n), embedding=Embedding(model="mini", vector=v))
            for n, v in enumerate(vectors)
        ],
    )
    query = Embedding(model="mini", vector=vectors[1]).padded
    cursor = await conn.execute(
        """
        SELECT id
          FROM alicia_memory
         WHERE created_by = %s
         ORDER BY embeddings <=> %s::vector
         LIMIT 1
        """,
        (user, query),
    )
    assert await cursor.fetchone() == (made[1],)


async def test_words_are_found_whatever_their_ending(conn: Connection, user: str) -> None:
    (one,) = await create_memories(conn, user, [NewMemory(content="She walks her dogs every morning")])
    cursor = await conn.execute(
        """
        SELECT id
          FROM alicia_memory
         WHERE created_by = %s
           AND content_search @@ websearch_to_tsquery('english', 'walking dog')
        """,
        (user,),
    )
    assert await cursor.fetchall() == [(one,)]
