"""What was said, as the next prompt needs it."""

import copy
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from alicia import ids
from alicia.engine.prompt import Turn, build, room, weigh
from alicia.llm.messages import Message
from alicia.memory.memory import Recalled
from alicia.storage.summaries import Stage

GO_ON: Final = "[You were cut off. Go on exactly where your last message ends, and repeat nothing.]"


class History:
    """The turns of a conversation in their order, superseded ones marked, and a summary of what came before.

    `budget` tells how many tokens a prompt may have; it is asked each time, since it may be learned late.
    """

    def __init__(self, budget: Callable[[], int]) -> None:
        self.summary: Stage | None = None
        self.missing = 0
        """How many messages came after those of the summary and before the first that is held here."""
        self.stale = False
        """What holds is older than what is held here: load it before the next prompt."""
        self.left = 0
        """How often something was left or erased: what was read before the last time may hold it still."""
        self._budget = budget
        self._turns: dict[str, Turn] = {}
        self._questions: list[str] = []
        self._heard: dict[str, int] = {}
        self._erased: set[str] = set()

    def add(self, turn: Turn) -> None:
        """An answer is placed before questions that were asked while it was on its way: they follow on it.

        What was erased before it is added is as if it had been here then.
        """
        if turn.id in self._erased:
            self.stale, turn = True, replace(turn, text="", superseded=True)
        waiting: list[str] = []
        if turn.role == "assistant" and turn.id not in self._turns:
            waiting = self._behind(turn.previous_id)
        heard = self._heard.get(turn.id)
        self._turns[turn.id] = turn if heard is None else replace(turn, heard=heard)
        for each in waiting:
            self._turns[each] = self._turns.pop(each)

    def _behind(self, message_id: str | None) -> list[str]:
        """What was said after a message and holds."""
        if message_id not in self._turns:
            return []
        held = list(self._turns)
        later = held[held.index(message_id) + 1 :]
        return [each for each in later if not self._turns[each].superseded]

    def hear_only(self, answer_id: str, characters: int) -> None:
        """Of this answer, ended or not, only so many characters were heard: later prompts have no more."""
        self._heard[answer_id] = characters
        if answer_id in self._turns:
            self.add(self._turns[answer_id])

    def load(self, turns: Iterable[Turn], summary: Stage | None, missing: int) -> None:
        """Begin anew with what was read back; what was said while it was being read stays."""
        held = {turn.id: turn for turn in self._turns.values() if not turn.superseded}
        read = [held.pop(turn.id, turn) for turn in turns]
        self._turns = {}
        for turn in [*read, *held.values()]:
            self.add(turn)
        self.summary, self.missing, self.stale = summary, missing, False

    def fold(self, summary: Stage) -> None:
        """Let a summary stand for all messages that it covers."""
        covered = summary.messages - (self.summary.messages if self.summary else 0)
        self.summary = summary
        if summary.through in self._turns:
            turns = list(self._turns.values())
            place = next(index for index, turn in enumerate(turns) if turn.id == summary.through)
            self._turns = {turn.id: turn for turn in turns[place + 1 :]}
            self.missing = 0
        else:
            self.missing = max(0, self.missing - covered)

    def excess(self) -> int:
        """How many tokens of the oldest turns should be folded by now; the newest exchange never is.

        History is folded when it fills half of its room, down to a quarter: long before it would not fit, and
        seldom, since each fold changes the beginning of the prompt.
        """
        space, weight = room(self._budget()), weigh(list(self._turns.values()))
        if self.missing:
            return space
        return weight - space // 4 if weight > space // 2 else 0

    def opening(self) -> list[Message]:
        """The first turns that are held, a question and its answer."""
        live = [turn for turn in self._turns.values() if not turn.superseded and turn.text]
        return [Message(turn.role, turn.text) for turn in live[:2]]

    def ask_about(self, question: str) -> None:
        """Have the user asked with the next answer."""
        self._questions.append(question)

    def supposing(self, turn: Turn) -> "History":
        """A copy in which this is said next."""
        other = copy.copy(self)
        other._turns = {**self._turns, turn.id: turn}
        return other

    def adopt(self, supposed: "History") -> None:
        """What was supposed is true: what its prompt has asked the user need not be asked again."""
        self._questions = [each for each in self._questions if each in supposed._questions]

    def holds(self, message_id: str) -> bool:
        """Whether this message is here, of whatever branch it is."""
        return message_id in self._turns

    def superseded(self, message_id: str) -> bool:
        turn = self._turns.get(message_id)
        return turn is not None and turn.superseded

    def tip(self) -> ids.MessageId | None:
        """The newest message that is not superseded."""
        for turn in reversed(self._turns.values()):
            if not turn.superseded:
                return ids.MessageId(turn.id)
        return None

    def answer_to(self, question_id: str) -> ids.MessageId | None:
        """The answer to a question that holds, if it is there."""
        for turn in reversed(self._turns.values()):
            if turn.previous_id == question_id and turn.role == "assistant" and not turn.superseded:
                return ids.MessageId(turn.id)
        return None

    def supersede(self, target_id: str, question_id: str | None = None) -> None:
        """The target and all that came after it belong to a branch that is left.

        A target that is not held is older than all that is, unless it is the answer to a question that is
        held: then it is on its way.
        """
        self.left += 1
        if target_id in self._turns:
            gone = [target_id, *self._behind(target_id)]
        elif question_id in self._turns:
            gone = self._behind(question_id)
        else:
            self.stale, gone = True, list(self._turns)
        for each in gone:
            self._turns[each] = replace(self._turns[each], superseded=True)

    def forget(self, erased: Sequence[str]) -> None:
        """Nothing of these messages is said to a model any more; a conversation's id means all of them.

        An answer that ends just now may count as left with its question, so what holds is read back.
        """
        self.left += 1
        self.stale = True
        self._erased.update(erased)
        whole = any(each.startswith("ac_") for each in erased)
        for turn in list(self._turns.values()):
            if whole or turn.id in erased:
                self._turns[turn.id] = replace(turn, text="", superseded=True)
            elif turn.previous_id in erased:
                # It is not of a branch that was left.
                self._turns[turn.id] = replace(turn, previous_id=None)

    def before(self, message_id: str) -> tuple[list[Message], str]:
        """What was said before a message on its branch, and its text."""
        earlier, turn = self._earlier(message_id)
        return [Message(each.role, each.text) for each in earlier if not each.superseded], turn.text

    def _earlier(self, message_id: str) -> tuple[list[Turn], Turn]:
        turns = list(self._turns.values())
        place = next(index for index, turn in enumerate(turns) if turn.id == message_id)
        return turns[:place], turns[place]

    def prompt(self, message_id: str, memories: Sequence[Recalled], now: datetime) -> list[Message]:
        """The prompt for an answer to this message."""
        earlier, turn = self._earlier(message_id)
        questions, self._questions = self._questions, []
        return build(
            earlier,
            turn.text,
            now=now,
            memories=[memory.content for memory in memories],
            questions=questions,
            summary=self.summary,
            missing=self.missing,
            budget=self._budget(),
        ).messages


def go_on(said: Sequence[str]) -> list[Message]:
    """What makes a model go on with an answer that broke off after these sentences, if there are any."""
    return [Message("assistant", "".join(said)), Message("user", GO_ON)] if said else []
