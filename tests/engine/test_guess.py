"""Guesses at what is being said: the right one saves the wait, a wrong one leaves nothing behind."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import cast

from alicia.engine.guess import Guesses
from alicia.engine.history import History
from alicia.engine.prompt import Turn
from alicia.engine.turn import Answer, Question

NOON = datetime(2025, 11, 15, 12, 0, tzinfo=UTC)


class Begun:
    """An answer as far as guesses know it."""

    def __init__(self, question: Question, history: History) -> None:
        self.question = question
        self.prompt = history.prompt(question.message_id, [], NOON)
        self.prepared = asyncio.Event()
        self.abandoned = asyncio.Event()

    def foresee(self, tell: Callable[[str], None]) -> None:
        self.tell = tell

    async def prepare(self) -> None:
        self.prepared.set()

    async def abandon(self) -> None:
        self.abandoned.set()


class Table:
    """A conversation in which somebody has said something once."""

    def __init__(self) -> None:
        self.history = History(lambda: 4096)
        self.history.add(Turn(id="am_1", role="user", text="Hello."))
        self.made: list[Begun] = []
        self.foreseen: list[str] = []
        self.guesses = Guesses(self.history, self._make)
        self.guesses.foresee = self.foreseen.append

    def _make(self, question: Question, history: History) -> Answer:
        self.made.append(Begun(question, history))
        return cast("Answer", self.made[-1])


@asynccontextmanager
async def table() -> AsyncGenerator[Table]:
    made = Table()
    running = asyncio.create_task(made.guesses.run())
    await asyncio.sleep(0)
    try:
        yield made
    finally:
        running.cancel()
        await asyncio.wait([running])


async def test_the_answer_to_what_was_guessed_goes_on() -> None:
    async with table() as here:
        here.guesses.suppose("What is tea", "ada:phone")
        await here.made[0].prepared.wait()
        taken = here.guesses.take("What is tea?")
        assert taken is cast("Answer", here.made[0])
    assert not here.made[0].abandoned.is_set()


async def test_what_turns_out_otherwise_is_abandoned() -> None:
    async with table() as here:
        here.guesses.suppose("What is", None)
        await here.made[0].prepared.wait()
        assert here.guesses.take("What is tea?") is None
        await here.made[0].abandoned.wait()


async def test_what_comes_to_nothing_is_abandoned() -> None:
    async with table() as here:
        here.guesses.suppose("What is", None)
        await here.made[0].prepared.wait()
        here.guesses.suppose(" ", None)
        await here.made[0].abandoned.wait()
        assert len(here.made) == 1


async def test_a_better_guess_takes_the_place_of_the_last_and_the_same_is_not_made_twice() -> None:
    async with table() as here:
        for text in ("What is", "what is.", "What is tea"):
            here.guesses.suppose(text, None)
            await here.made[-1].prepared.wait()
        await here.made[0].abandoned.wait()
        assert len(here.made) == 2


async def test_a_guess_holds_only_where_it_was_made() -> None:
    async with table() as here:
        here.guesses.suppose("And then?", None)
        await here.made[0].prepared.wait()
        here.history.add(Turn(id="am_2", role="assistant", text="Good day."))
        assert here.guesses.take("And then?") is None
        await here.made[0].abandoned.wait()


async def test_a_guess_is_no_part_of_the_history() -> None:
    async with table() as here:
        here.history.ask_about("Is your name Ada or Eva?")
        here.guesses.suppose("What is tea?", None)
        await here.made[0].prepared.wait()
        assert here.history.tip() == "am_1"
        assert "Ada or Eva" in here.made[0].prompt[-1].content
        here.guesses.take("Something else.")
        here.guesses.suppose("What is coffee?", None)
        assert "Ada or Eva" in here.made[1].prompt[-1].content
        assert here.guesses.take("What is coffee?") is not None
        here.history.add(Turn(id="am_3", role="user", text="What is cocoa?"))
        assert "Ada or Eva" not in here.history.prompt("am_3", [], NOON)[-1].content


async def test_a_guess_that_came_to_nothing_is_not_foreseen_any_more() -> None:
    async with table() as here:
        here.guesses.suppose("What is tea?", None)
        here.made[0].tell("A drink.")
        here.guesses.suppose("", None)
        here.made[0].tell("A hot drink.")
        here.guesses.drop()
    assert here.foreseen == ["A drink.", ""]


async def test_what_was_foreseen_of_a_guess_stays_for_the_one_in_its_place() -> None:
    async with table() as here:
        here.guesses.suppose("What is", None)
        here.made[0].tell("A drink.")
        here.guesses.suppose("What is tea?", None)
        here.made[1].tell("A drink.")
        assert here.guesses.take("What is tea?") is not None
        here.made[1].tell("A hot drink.")
    assert here.foreseen == ["A drink.", "A drink.", "A hot drink."]


async def test_nothing_is_left_running_when_the_conversation_ends() -> None:
    async with table() as here:
        here.guesses.suppose("What is tea?", None)
        await here.made[0].prepared.wait()
    assert here.made[0].abandoned.is_set()
