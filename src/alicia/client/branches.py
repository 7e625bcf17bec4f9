"""The branches of a conversation: what was said, what was said instead, and which of it holds."""

from collections.abc import Iterable
from typing import Literal

import msgspec

from alicia.ids import MessageId
from alicia.protocol.envelope import Envelope
from alicia.protocol.messages import (
    AnswerStatus,
    AssistantMessage,
    AssistantSentence,
    ControlVariation,
    Erasure,
    StartAnswer,
    UserMessage,
)


class Said(msgspec.Struct, kw_only=True):
    """A message; `status` is an answer's, None while it is being given."""

    id: MessageId
    role: Literal["user", "assistant"]
    text: str
    previous_id: MessageId | None = None
    status: AnswerStatus | None = None


class Branch(msgspec.Struct, frozen=True):
    """One way through the conversation, from its first message to one that nothing follows."""

    messages: tuple[Said, ...]
    live: bool
    """Whether this is how the conversation stands; messages go on from there."""

    def last(self, role: Literal["user", "assistant"]) -> Said | None:
        """The newest message of the user's or of the assistant's."""
        return next((each for each in reversed(self.messages) if each.role == role), None)


def branches(log: Iterable[Envelope]) -> list[Branch]:
    """Every branch of a whole log, in the order in which their last messages came; none if it is empty."""
    tree = _Tree()
    for envelope in log:
        tree.take(envelope)
    return tree.branches()


class _Tree:
    def __init__(self) -> None:
        self._said: dict[str, Said] = {}
        self._left: set[str] = set()
        self._answers: dict[str, MessageId] = {}
        self._early: dict[str, list[Said]] = {}

    def take(self, envelope: Envelope) -> None:
        match envelope.body:
            case UserMessage() as body:
                self._leave(body.supersedes)
                previous = body.previous_id
                self._add(Said(id=body.id, role="user", text=body.content, previous_id=previous))
            case StartAnswer() as body:
                # Asked for earlier, and what was said since then stays.
                if body.supersedes not in self._left:
                    self._leave(body.supersedes)
                self._add(Said(id=body.id, role="assistant", text="", previous_id=body.previous_id))
            case AssistantSentence() as body if answer := self._said.get(body.previous_id):
                answer.text += body.text
                answer.status = body.status or ("completed" if body.is_final else None)
            case AssistantMessage() as body if answer := self._said.get(body.id):
                answer.text, answer.status = body.content, body.status
            case ControlVariation() as body:
                self._leave(body.target_id)
            case Erasure() as body:
                for erased in body.ids:
                    if message := self._said.get(erased):
                        message.text = ""
            case _:
                pass

    def _add(self, message: Said) -> None:
        self._said[message.id] = message
        before = self._said.get(message.previous_id or "")
        if before is None:
            return
        if before.id in self._left:
            # It came too late: what it belongs to was left while it was on its way.
            self._left.add(message.id)
        elif message.role == "assistant":
            self._answers[before.id] = message.id
            for early in self._early.pop(before.id, []):
                if early.id not in self._left:
                    early.previous_id = message.id
        elif before.role == "user":
            self._follow_answer(message, before)

    def _follow_answer(self, message: Said, before: Said) -> None:
        """What was written while the message before it was being answered follows that answer."""
        answer = self._answers.get(before.id)
        if answer is None or answer in self._left:
            self._early.setdefault(before.id, []).append(message)
        else:
            message.previous_id = answer

    def _leave(self, target: str | None) -> None:
        """The target, its rivals and all that came after it belong to a branch that is left."""
        message = self._said.get(target or "")
        if message is not None:
            places = self._places()
            self._left.update(
                key
                for key, place in places.items()
                if place >= places[message.id] and key != message.previous_id
            )

    def _places(self) -> dict[str, int]:
        """Where each message stands: an answer at its question, whatever was asked before it began."""
        numbers = {key: number for number, key in enumerate(self._said)}
        return {
            key: numbers.get(message.previous_id or "", number) if message.role == "assistant" else number
            for (key, number), message in zip(numbers.items(), self._said.values(), strict=True)
        }

    def branches(self) -> list[Branch]:
        followed = {message.previous_id for message in self._said.values()}
        places = self._places()
        ordered = sorted(self._said, key=places.__getitem__)
        live = next((key for key in reversed(ordered) if key not in self._left), None)
        # Where everything after it was left, the newest message that holds is followed by others.
        ends = [key for key in self._said if key not in followed or key == live]
        return [Branch(tuple(self._path(end)), live=end == live) for end in ends]

    def _path(self, end: str) -> list[Said]:
        path: list[Said] = []
        at: str | None = end
        while at is not None and (message := self._said.get(at)):
            path.append(message)
            at = message.previous_id
        return path[::-1]
