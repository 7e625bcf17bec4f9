"""Recall over a real database, with the embedded model."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from alicia import ids
from alicia.errors import ModelUnavailable
from alicia.ids import ConversationId, MemoryId
from alicia.llm.messages import Message
from alicia.local.embedder import LocalEmbedder
from alicia.memory.memory import MOST, Memory
from alicia.memory.query import Query
from alicia.memory.recall import Searcher, choose_words
from alicia.storage import memories as stored
from alicia.storage import recall
from alicia.storage.memories import Embedding, NewMemory, create_memories
from alicia.storage.pool import Pool
from alicia.storage.recall import Sample, WordCount

from .conftest import keep

FACTS = (
    "The user lives in San Francisco.",
    "The user loves Italian food.",
    "The user's sister Ana is a nurse in Porto.",
    "The user is allergic to peanuts.",
    "The user plays the violin in an orchestra.",
)


class Away:
    """An embedder that never answers."""

    model = "away"

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        raise ModelUnavailable("gone")


async def recalled(memory: Memory, user: str, message: str, before: Sequence[Message] = ()) -> list[str]:
    return [one.content for one in await memory.recall(user, before, message)]


async def test_what_fits_is_recalled_by_meaning(memory: Memory, user: str) -> None:
    await keep(memory, user, *FACTS)
    assert (await recalled(memory, user, "Which town is my home?"))[0] == FACTS[0]
    assert (await recalled(memory, user, "Can I eat this satay sauce, or will I get ill from the nuts?"))[
        0
    ] == FACTS[3]


async def test_what_fits_is_recalled_by_rare_words(memory: Memory, user: str) -> None:
    await keep(memory, user, *FACTS, "The gate code of the holiday flat is KX-4471.")
    assert (await recalled(memory, user, "What was KX-4471 again?"))[0].endswith("KX-4471.")


async def test_nothing_is_recalled_when_nothing_fits(memory: Memory, user: str) -> None:
    await keep(memory, user, *FACTS)
    assert await recalled(memory, user, "Write a function that sorts integers with quicksort.") == []
    assert await recalled(memory, user, "Thanks, great!") == []


async def test_a_question_that_leans_on_the_last_turn_is_understood(memory: Memory, user: str) -> None:
    await keep(memory, user, *FACTS)
    before = [Message("user", "Do you know my sister Ana?"), Message("assistant", "Yes, I do.")]
    assert (await recalled(memory, user, "What about her job?", before))[0] == FACTS[2]


async def test_what_stands_around_a_memory_counts_in(memory: Memory, user: str) -> None:
    lines = [
        "Tom: Where did you go in June?",
        "Eva: To the coast, near Split.",
        "Tom: Nice!",
        "Eva: Work is dull.",
    ]
    await memory.add(
        user,
        [
            NewMemory(content=line, source_type="chat", source_info={"source": "c1", "position": n})
            for n, line in enumerate(lines)
        ],
    )
    found = await memory.search(user, "Where did Eva go in June?")
    assert {found[0].memory.content, found[1].memory.content} == {lines[0], lines[1]}


async def test_a_recalled_memory_brings_all_that_its_trace_needs(memory: Memory, user: str) -> None:
    (one,) = await memory.add(
        user,
        [
            NewMemory(
                content=FACTS[1], tags=["food"], memory_type="user_preference", source_type="conversation"
            )
        ],
    )
    (found,) = await memory.recall(user, [], "What food do I love?")
    assert found.memory_id == one
    assert found.memory_type == "user_preference"
    assert found.position == 1
    assert found.query_prompt == "What food do I love?"
    assert found.similarity is not None
    assert 0.3 < found.similarity <= 1
    assert 0.25 <= found.confidence <= 1
    assert found.metadata == {"retrievalScore": found.confidence, "tags": ["food"], "source": "conversation"}
    assert set(found.meta) == {"meaning", "words", "standing"}


async def test_a_search_explains_its_scores(memory: Memory, user: str) -> None:
    await keep(memory, user, *FACTS)
    found = await memory.search(user, "violin")
    best = found[0]
    assert best.memory.content == FACTS[4]
    parts = best.parts
    assert best.score == pytest.approx((parts["meaning"] + parts["words"]) / 2 * parts["standing"], abs=0.001)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


async def test_pinned_memories_come_first(memory: Memory, pool: Pool, user: str) -> None:
    made = await keep(memory, user, *FACTS)
    async with pool.connection() as conn:
        await stored.update_memory(conn, user, made[1], pinned=True)
    found = await recalled(
        memory, user, "Which Italian restaurant in San Francisco has food without peanuts?"
    )
    assert found[0] == FACTS[1]
    assert set(found) >= {FACTS[0], FACTS[1], FACTS[3]}


async def test_of_many_that_fit_only_the_best_are_brought_up(memory: Memory, user: str) -> None:
    await keep(memory, user, *(f"The user likes Italian dish number {n}." for n in range(20)))
    assert len(await recalled(memory, user, "Which Italian dishes do I like?")) == MOST


async def test_archived_deleted_and_superseded_memories_are_never_recalled(
    memory: Memory, pool: Pool, user: str
) -> None:
    archived, deleted, old = await keep(
        memory, user, "The user's cat is Mia.", "The user's cat is Kim.", "The user's cat is Tom."
    )
    async with pool.connection() as conn:
        (new,) = await create_memories(
            conn, user, [NewMemory(content="The user's cat is Zoe.", supersedes=old)]
        )
        await stored.archive_memory(conn, user, archived)
        await stored.delete_memory(conn, user, deleted)
    for words in ("What is my cat called?", "cat Mia", "cat Kim", "cat Tom"):
        assert [one.memory.id for one in await memory.search(user, words)] == [new]


async def test_a_memory_comes_back_from_the_archive_and_from_deletion(
    memory: Memory, pool: Pool, user: str
) -> None:
    (one,) = await keep(memory, user, "The user's cat is Mia.")
    assert await memory.forget(user, one) is not None
    assert await recalled(memory, user, "What is my cat called?") == []
    assert await memory.restore(user, one) is not None
    assert await recalled(memory, user, "What is my cat called?") == ["The user's cat is Mia."]


async def test_searches_keep_to_tags_and_type(memory: Memory, user: str) -> None:
    await memory.add(
        user,
        [
            NewMemory(content="The user likes tea.", tags=["drink", "hot"], memory_type="user_preference"),
            NewMemory(content="The user likes juice.", tags=["drink"], memory_type="user_preference"),
            NewMemory(content="Tea grows in Assam.", tags=["drink", "hot"], memory_type="world_fact"),
        ],
    )
    found = await memory.search(user, "tea", tags=["hot"])
    assert {one.memory.content for one in found} == {"The user likes tea.", "Tea grows in Assam."}
    (only,) = await memory.search(user, "tea", tags=["hot", "drink"], memory_type="world_fact")
    assert only.memory.content == "Tea grows in Assam."


async def test_neighbours_that_a_filter_leaves_out_help_but_are_not_found(memory: Memory, user: str) -> None:
    await memory.add(
        user,
        [
            NewMemory(content="Where is Split?", source_info={"position": 1}),
            NewMemory(content="At the coast.", source_info={"position": 2}, tags=["answer"]),
        ],
    )
    (only,) = await memory.search(user, "Where is Split?", tags=["answer"])
    assert only.memory.content == "At the coast."


async def test_without_an_embedder_words_alone_answer(memory: Memory, pool: Pool, user: str) -> None:
    await keep(memory, user, *FACTS)
    blind = Memory(pool, Away())
    (one, *_) = await blind.recall(user, [], "Who plays the violin in the orchestra?")
    assert one.content == FACTS[4]
    assert one.similarity is None


async def test_vectors_of_another_model_are_never_compared(
    pool: Pool, embedder: LocalEmbedder, user: str
) -> None:
    (vector,) = await embedder.embed(["The user lives in San Francisco."])
    foreign = Embedding(model="another", vector=vector.vector)
    async with pool.connection() as conn:
        await create_memories(conn, user, [NewMemory(content="Entirely different words", embedding=foreign)])
    found = await Memory(pool, embedder).search(user, "The user lives in San Francisco.")
    assert [one.ranked.similarity for one in found] == []


async def test_many_memories_are_searched_through_the_index(
    pool: Pool, embedder: LocalEmbedder, memory: Memory, user: str
) -> None:
    await keep(memory, user, *FACTS, *(f"The user owns book number {n}." for n in range(60)))
    searcher = Searcher(pool, embedder, few=10)
    for _ in range(7):  # prepared statements behave like the first ones
        found = await searcher.search(user, Query(message="In which city is the user at home?"), limit=3)
        assert found[0].memory.content == FACTS[0]
    exact = await Searcher(pool, embedder).search(user, Query(message="Who plays an instrument?"), limit=5)
    through = await searcher.search(user, Query(message="Who plays an instrument?"), limit=5)
    assert [one.memory.id for one in through] == [one.memory.id for one in exact]


def test_common_words_are_looked_up_only_where_several_stand_together() -> None:
    def sample(**counts: int) -> Sample:
        words = [WordCount(word=word, memories=count, own=True) for word, count in counts.items()]
        return Sample(size=1000, average_length=10, words=words)

    rare = sample(zebra=0, quark=1, the_user=900)
    assert choose_words(rare, size=100_000) == (["zebra", "quark"], [])
    common = sample(walk=50, dog=40, park=60)
    any_of, all_of = choose_words(common, size=50_000)
    assert any_of == []
    assert [set(words) for words in all_of] == [{"dog", "walk"}, {"dog", "park"}, {"walk", "park"}]
    everywhere = sample(good=900, day=800)
    assert choose_words(everywhere, size=100_000) == ([], [["day", "good"]])
    assert choose_words(sample(walk=50), size=1000) == (["walk"], [])


async def test_recent_memories_come_before_old_ones_that_fit_alike(
    memory: Memory, pool: Pool, user: str
) -> None:
    made = await keep(memory, user, "The user met Kim in May.", "The user met Kim in Rome.")
    async with pool.connection() as conn:
        await conn.execute(
            "UPDATE alicia_memory SET created_at = %s WHERE id = %s AND created_by = %s",
            ((datetime.now(UTC) - timedelta(days=900)).replace(tzinfo=None), made[0], user),
        )
    found = await memory.search(user, "When did the user meet Kim?")
    standing = {one.memory.id: one.parts["standing"] for one in found}
    assert standing[made[1]] > standing[made[0]]


@pytest.mark.parametrize(
    "message", ["'; DROP TABLE alicia_memory; --", "a\0b zebra", "\\ ' \" ! & | :* zebra", "?" * 5000]
)
async def test_no_message_breaks_the_search(memory: Memory, user: str, message: str) -> None:
    await keep(memory, user, "A zebra's stripes are unique.")
    found = await memory.recall(user, [], message)
    assert len(found) <= 1


async def test_who_has_no_memories_recalls_nothing(memory: Memory, user: str) -> None:
    assert await memory.recall(user, [], "Where do I live?") == []
    assert await memory.search(user, "  ") == []


async def test_an_edited_memory_is_found_by_its_new_text(memory: Memory, user: str) -> None:
    (one,) = await keep(memory, user, "The user drives a van.")
    await memory.edit(user, one, "The user rides a bicycle.")
    assert (await recalled(memory, user, "Which bike do I cycle on?")) == ["The user rides a bicycle."]
    assert await memory.edit("somebody else", one, "Hacked") is None
    assert await memory.edit(user, MemoryId("amem_000000000000000000000"), "Nothing") is None


async def test_the_vocabulary_says_of_words_what_counting_them_says(
    memory: Memory, pool: Pool, user: str
) -> None:
    await keep(memory, user, *(f"Note {n} is about {'tea' if n % 3 else 'coffee'}." for n in range(12)))
    async with pool.connection() as conn:
        for message, context in (("Tea or coffee?", ""), ("And milk?", "I like coffee and it's notes")):
            counted = await recall.sample(conn, user, message, context)
            words = await recall.words_of(conn, message, context)
            assert (await recall.vocabulary(conn, user)).sample(words) == counted
        assert (await recall.vocabulary(conn, user)).memories == 12


async def test_of_many_memories_words_are_counted_once_a_minute(
    memory: Memory, pool: Pool, embedder: LocalEmbedder, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recall, "SAMPLE", 10)
    await keep(memory, user, *(f"Note {n} is about tea." for n in range(12)))
    searcher = Searcher(pool, embedder)
    before = await searcher.search(user, Query(message="Which note is about coffee?"), limit=1)
    await keep(memory, user, "This is about coffee.")
    after = await searcher.search(user, Query(message="Which note is about coffee?"), limit=1)
    assert before[0].memory.content.endswith("tea.")
    assert after[0].memory.content == "This is about coffee."


async def test_a_summary_is_recalled_everywhere_but_in_its_own_conversation(
    memory: Memory, user: str
) -> None:
    here, elsewhere = ids.new(ConversationId), ids.new(ConversationId)
    summary = NewMemory(
        content="- The user's boat is called Cormorant.",
        memory_type="conversation_summary",
        source_type="conversation",
        source_info={"conversationId": here},
    )
    await memory.add(user, [summary])
    question = "What is my boat called?"
    assert await memory.recall(user, [], question, conversation_id=here) == []
    (found,) = await memory.recall(user, [], question, conversation_id=elsewhere)
    assert found.memory_type == "conversation_summary"
