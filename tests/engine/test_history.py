"""A history that is folded into a summary, and prompts that always fit and say what is not in them."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from alicia.engine.history import History
from alicia.engine.prompt import Turn, estimate, room, weigh
from alicia.ids import MessageId
from alicia.storage.summaries import Stage

NOON = datetime(2025, 11, 15, 12, 0, tzinfo=UTC)
BUDGET = 1200


def history(count: int, *, size: int = 60) -> History:
    """A conversation of so many exchanges."""
    made = History(lambda: BUDGET)
    for number in range(count):
        before = f"a{number - 1}" if number else None
        made.add(Turn(id=f"q{number}", role="user", text=f"Question {number}. " * size, previous_id=before))
        made.add(Turn(id=f"a{number}", role="assistant", text=f"Answer {number}.", previous_id=f"q{number}"))
    return made


def stage(through: str, messages: int, text: str = "- The user has a cat.") -> Stage:
    return Stage(text=text, through=MessageId(through), messages=messages)


def system(made: History, message_id: str) -> str:
    return made.prompt(message_id, [], NOON)[0].content


def test_a_summary_stands_for_what_it_covers() -> None:
    made = history(5, size=1)
    made.fold(stage("a2", 6))
    prompt = made.prompt("q4", [], NOON)
    assert (
        "[The first 6 messages of this conversation, in short:\n- The user has a cat.]" in prompt[0].content
    )
    assert [message.content for message in prompt[1:3]] == ["Question 3. ".strip(), "Answer 3."]
    assert "left out" not in prompt[0].content


def test_an_answer_comes_before_what_was_asked_while_it_was_on_its_way() -> None:
    asked = [Turn(id=f"q{number}", role="user", text=f"Question {number}.") for number in range(3)]
    given = [
        Turn(id=f"a{number}", role="assistant", text=f"Answer {number}.", previous_id=f"q{number}")
        for number in range(2)
    ]
    told = ["Question 0.", "Answer 0.", "Question 1.", "Answer 1."]
    lived, read = History(lambda: BUDGET), History(lambda: BUDGET)
    for turn in [*asked, *given]:
        lived.add(turn)
    read.load([*asked, *given], None, missing=0)
    for made in (lived, read):
        assert [message.content for message in made.before("q2")[0]] == told
        assert made.tip() == "q2"


def test_history_is_folded_long_before_it_does_not_fit() -> None:
    small = history(2, size=1)
    assert small.excess() == 0
    large = history(12, size=9)
    assert room(BUDGET) // 4 < large.excess() < room(BUDGET)
    assert "left out" not in system(large, "q11")


def test_messages_between_the_summary_and_what_is_held_are_counted_and_due() -> None:
    made = history(2, size=1)
    made.load([], stage("a0", 2), missing=7)
    made.add(Turn(id="q9", role="user", text="And now?"))
    assert made.excess() > 0
    assert "[The next 7 messages of this conversation are left out here.]" in system(made, "q9")
    made.fold(stage("x", 5))
    assert made.missing == 4
    made.fold(stage("y", 9))
    assert made.missing == 0
    assert made.excess() == 0


def test_what_was_said_while_the_history_was_read_back_stays() -> None:
    made = history(2, size=1)
    made.load(
        [Turn(id="q0", role="user", text="Question 0."), Turn(id="a0", role="assistant", text="…")], None, 0
    )
    assert [message.content for message in made.before("q1")[0]] == ["Question 0. ", "Answer 0."]


def test_a_branch_that_is_left_further_back_than_what_is_held_asks_for_a_reading() -> None:
    made = history(6, size=1)
    made.fold(stage("a3", 8))
    made.supersede("q4")
    assert not made.stale
    made.supersede("q1")
    assert made.stale
    made.supersede("q5")
    assert made.stale
    assert made.superseded("q5")
    made.load([Turn(id="q0", role="user", text="Question 0.")], None, 0)
    assert (made.stale, made.summary, made.tip()) == (False, None, "q0")


def test_what_followed_on_an_erased_message_is_told_all_the_same() -> None:
    made = history(3, size=1)
    made.forget(["q0"])
    said = [message.content for message in made.prompt("q2", [], NOON)[1:]]
    assert said[:-1] == ["Answer 0.", "Question 1.", "Answer 1."]
    assert made.superseded("q0")


def test_a_question_for_the_user_is_asked_once() -> None:
    made = history(2, size=1)
    made.ask_about("Which one is right?")
    assert "[Ask the user: Which one is right?]" in made.prompt("q1", [], NOON)[-1].content
    assert "right?" not in made.prompt("q1", [], NOON)[-1].content


@given(st.lists(st.integers(1, 1500), min_size=1, max_size=60), st.integers(0, 50), st.booleans())
def test_whatever_is_said_the_prompt_fits_and_every_message_is_in_it_or_spoken_for(
    sizes: list[int], missing: int, folded: bool
) -> None:
    made = History(lambda: BUDGET)
    made.load([], stage("x", 10, "- Point. " * 12) if folded else None, missing)
    for number, size in enumerate(sizes):
        made.add(
            Turn(id=f"q{number}", role="user", text=f"{number} " + "x" * size, previous_id=f"a{number - 1}")
        )
        made.add(Turn(id=f"a{number}", role="assistant", text=f"Answer {number}.", previous_id=f"q{number}"))
    made.add(Turn(id="now", role="user", text="And now?"))
    prompt = made.prompt("now", [], NOON)
    assert sum(estimate(message.content) for message in prompt) <= BUDGET
    told = prompt[0].content
    left = (
        [int(word) for word in told.split("[")[-1].split() if word.isdigit()] if "left out" in told else [0]
    )
    assert left[0] + len(prompt) - 2 == missing + 2 * len(sizes)
    assert weigh([Turn(id="x", role="user", text=prompt[-1].content)]) <= BUDGET
