"""What was said, as the next prompt needs it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from alicia import ids
from alicia.engine.prompt import Turn, build
from alicia.llm.messages import Message
from alicia.memory.memory import Recalled

GO_ON: Final = "[You were cut off. Go on exactly where your last message ends, and repeat nothing.]"


class History:
    """The turns of a conversation in their order, superseded ones marked."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._turns: dict[str, Turn] = {}

    def add(self, turn: Turn) -> None:
        self._turns[turn.id] = turn

    def superseded(self, message_id: str) -> bool:
        turn = self._turns.get(message_id)
        return turn is not None and turn.superseded

    def tip(self) -> ids.MessageId | None:
        """The newest message that is not superseded."""
        for turn in reversed(self._turns.values()):
            if not turn.superseded:
                return ids.MessageId(turn.id)
        return None

    def supersede(self, target_id: str) -> None:
        """The target and all that came after it belong to a branch that is left."""
        passed = False
        for turn in list(self._turns.values()):
            passed = passed or turn.id == target_id
            if passed:
                self._turns[turn.id] = replace(turn, superseded=True)

    def forget(self, erased: Sequence[str]) -> None:
        """Nothing of these messages is said to a model any more; a conversation's id means all of them."""
        whole = any(each.startswith("ac_") for each in erased)
        for turn in list(self._turns.values()):
            if whole or turn.id in erased:
                self._turns[turn.id] = replace(turn, text="", superseded=True)

    def before(self, message_id: str) -> tuple[list[Message], str]:
        """What was said before a message on its branch, and its text."""
        earlier, turn = self._earlier(message_id)
        return [Message(each.role, each.text) for each in earlier if not each.superseded], turn.text

    def _earlier(self, message_id: str) -> tuple[list[Turn], Turn]:
        turns = list(self._turns.values())
        place = next(index for index, turn in enumerate(turns) if turn.id == message_id)
        return turns[:place], turns[place]

    def prompt(
        self, message_id: str, memories: Sequence[Recalled], now: datetime, said: Sequence[str] = ()
    ) -> list[Message]:
        """The prompt for an answer to this message; with `said`, for the rest of an answer that broke off."""
        earlier, turn = self._earlier(message_id)
        contents = [memory.content for memory in memories]
        messages = build(earlier, turn.text, now=now, memories=contents, budget=self._budget).messages
        if said:
            messages += [Message("assistant", "".join(said)), Message("user", GO_ON)]
        return messages
