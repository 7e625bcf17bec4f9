"""Begins to answer what is most likely being said, so that nobody waits for it when that is sure.

A guess lives in memory alone: recall is asked and the model begins, but nothing is written or sent, and no
tool is used, before what was said is stored. A wrong guess leaves no trace.
"""

import asyncio
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from alicia import ids
from alicia.engine.history import History
from alicia.engine.prompt import Turn
from alicia.engine.turn import Answer, Question

_WORDS: Final = re.compile(r"\w+")


class _Guess:
    def __init__(self, text: str, tip: str | None, history: History, answer: Answer) -> None:
        self.words = _WORDS.findall(text.lower())
        self.tip = tip
        """What it would follow."""
        self.answer = answer
        self.history = history
        self.right = asyncio.Event()
        self.task: asyncio.Task[None] | None = None


class Guesses:
    """One guess at a time. `make` begins an answer on a supposed history."""

    def __init__(self, history: History, make: Callable[[Question, History], Answer]) -> None:
        self._history = history
        self._make = make
        self.foresee: Callable[[str], None] = lambda _: None
        """Is told the first sentence of an answer that is only supposed; an empty one when it is dropped."""
        self._guess: _Guess | None = None
        self._tasks = asyncio.TaskGroup()

    async def run(self) -> None:
        """Until cancelled."""
        async with self._tasks:
            await asyncio.Event().wait()

    def suppose(self, text: str, device: str | None) -> None:
        """This is most likely all that is being said; without words, it was nothing."""
        words = _WORDS.findall(text.lower())
        if self._guess is not None and self._guess.words == words:
            return
        if not words:
            self.drop()
            return
        self._leave()
        tip = self._history.tip()
        now = datetime.now(UTC)
        turn = Turn(id=ids.new(ids.MessageId), role="user", text=text, previous_id=tip, at=now)
        question = Question(
            message_id=ids.MessageId(turn.id), answer_id=ids.new(ids.MessageId), device=device
        )
        supposed = self._history.supposing(turn)
        guess = _Guess(text, tip, supposed, self._make(question, supposed))
        guess.answer.foresee(lambda sentence: self._foretell(guess, sentence))
        guess.task = self._tasks.create_task(self._prepare(guess))
        self._guess = guess

    def take(self, text: str) -> Answer | None:
        """The answer that was begun to what turns out to have been said, if that was guessed."""
        guess = self._guess
        if guess is None or guess.words != _WORDS.findall(text.lower()) or guess.tip != self._history.tip():
            self._leave()
            return None
        guess.right.set()
        self._guess = None
        self._history.adopt(guess.history)
        return guess.answer

    def drop(self) -> None:
        """It was nothing, or what it follows is not what it was: no sound is kept for it either."""
        if self._guess is not None:
            self._leave()
            self.foresee("")

    def _leave(self) -> None:
        """Another takes its place, and may well begin with the same words."""
        guess, self._guess = self._guess, None
        if guess is not None and guess.task is not None:
            guess.task.cancel()

    def _foretell(self, guess: _Guess, sentence: str) -> None:
        # The model of a guess that was left may say something yet before it hears of that.
        if guess is self._guess or guess.right.is_set():
            self.foresee(sentence)

    async def _prepare(self, guess: _Guess) -> None:
        try:
            await guess.answer.prepare()
            # The model goes on in the meantime; this is cancelled unless the guess is taken.
            await guess.right.wait()
        finally:
            if not guess.right.is_set():
                await guess.answer.abandon()
