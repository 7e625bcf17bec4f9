"""How well a memory fits, by hand-made rows."""

import pytest

from alicia.ids import MemoryId
from alicia.memory.ranking import Ranked, Weighted, rank, rarity, standing
from alicia.storage.recall import Surrounding

WORDS = [Weighted("ana", 4.0), Weighted("porto", 4.0)]


def row(
    name: str,
    *,
    similarity: float | None = 0.3,
    words: tuple[int, ...] = (),
    position: float | None = None,
    source: str = "a",
    importance: float = 0.5,
    confidence: float = 1.0,
    rating: int | None = None,
    age: float = 1000.0,
    eligible: bool = True,
) -> Surrounding:
    return Surrounding(
        MemoryId(name),
        source,
        position,
        similarity,
        10,
        list(words),
        importance,
        confidence,
        rating,
        False,
        age,
        eligible,
    )


def ranked(*rows: Surrounding) -> list[Ranked]:
    return rank(rows, WORDS, average_length=10, limit=10)


def names(found: list[Ranked]) -> list[str]:
    return [one.id for one in found]


def words(found: list[Ranked]) -> dict[str, float]:
    return {one.id: one.words for one in found}


def test_meaning_and_words_count_alike() -> None:
    assert names(
        ranked(row("meaning", similarity=0.9), row("words", similarity=0.3, words=(0, 1)), row("none"))
    ) == [
        "words",
        "meaning",
        "none",
    ]


def test_rarer_words_weigh_more() -> None:
    assert rarity(1, 1000) > rarity(100, 1000) > rarity(900, 1000) > 0


def test_a_word_that_stands_next_to_a_memory_counts_for_it_in_part() -> None:
    near = ranked(row("answer", words=(1,), position=5), row("question", words=(0,), position=4))
    apart = ranked(row("answer", words=(1,), position=5), row("question", words=(0,), position=50))
    other = ranked(row("answer", words=(1,), position=5), row("question", words=(0,), position=4, source="b"))
    assert words(near)["answer"] > words(apart)["answer"]
    assert words(apart) == words(other)


def test_a_word_said_twice_counts_once() -> None:
    once = ranked(row("a", words=(0,), position=1))[0].words
    twice = ranked(row("a", words=(0,), position=1), row("b", words=(0,), position=2))
    assert words(twice)["a"] == once


def test_neighbours_about_the_same_thing_lift_a_memory() -> None:
    found = ranked(
        row("lonely", similarity=0.5, position=1),
        row("left", similarity=0.1, position=2),
        row("mid", similarity=0.5, position=10),
        row("right", similarity=0.5, position=11),
    )
    assert names(found).index("mid") < names(found).index("lonely")


def test_a_memory_without_neighbours_keeps_its_own_meaning() -> None:
    assert ranked(row("fact", similarity=0.6))[0].meaning == pytest.approx(0.6)


def test_a_memory_without_a_vector_is_found_by_its_words() -> None:
    found = ranked(row("gap", similarity=None, words=(0, 1)), row("vector", similarity=0.2))
    assert names(found) == ["gap", "vector"]
    assert found[0].meaning == 0.0


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (row("b", importance=0.9), row("w", importance=0.1)),
        (row("b", confidence=1.0), row("w", confidence=0.3)),
        (row("b", rating=5), row("w", rating=1)),
        (row("b", age=1), row("w", age=400)),
    ],
)
def test_of_two_that_fit_alike_the_one_of_better_standing_comes_first(
    better: Surrounding, worse: Surrounding
) -> None:
    assert names(ranked(worse, better)) == ["b", "w"]


def test_standing_is_one_for_an_old_memory_like_any_other() -> None:
    assert standing(row("a", age=100_000)) == pytest.approx(1.0)


def test_what_the_filter_leaves_out_counts_only_as_context() -> None:
    found = ranked(row("out", words=(0,), position=1, eligible=False), row("in", words=(1,), position=2))
    assert names(found) == ["in"]
    assert found[0].words > ranked(row("in", words=(1,), position=2))[0].words


def test_scores_stay_between_nothing_and_one() -> None:
    best = row("best", similarity=1.0, words=(0, 1), importance=1, rating=5, age=0)
    worst = row("worst", similarity=-1.0, importance=0, confidence=0, rating=1)
    assert [one.score for one in ranked(best, worst)] == [1.0, 0.0]
