"""Asking the model how a fact stands to what is known, where the words alone do not tell."""

from collections.abc import Sequence
from typing import Any, Final, Literal

import msgspec

from alicia.llm.messages import Message
from alicia.memory.extraction import Completer

_SYSTEM: Final = """\
You keep the long-term memory of an assistant. You are given known facts about a user and a new one, which \
is true now. Say how the new fact stands to the known ones.

relation: "same" if a known fact says it already in other words, "changes" if a known fact can no longer be \
true because of the new one, otherwise "new". Two facts that can both be true are "new".
known: the number of that known fact, otherwise 0."""

_EXAMPLES: Final[tuple[tuple[Sequence[str], str, str, int], ...]] = (
    (["The user likes opera.", "The user is a student."], "The user works as a lawyer now.", "changes", 2),
    (["The user has a cat."], "The user has a dog named Bo.", "new", 0),
    (["The user enjoys hiking.", "The user lives in Madrid."], "The user loves to hike.", "same", 1),
    (["The user's brother lives in Rome."], "The user has moved to Oslo.", "new", 0),
    (["The user eats no sugar."], "The user eats cake every day again.", "changes", 1),
)
_TOKENS: Final = 40


class Opinion(msgspec.Struct, frozen=True):
    """What the model thinks: `known` counts from one."""

    relation: Literal["new", "same", "changes"]
    known: int


async def judge(model: Completer, said: str, known: Sequence[str]) -> Opinion:
    """How a new fact stands to known ones, as the model sees it."""
    messages = [Message("system", _SYSTEM)]
    for facts, new, relation, number in _EXAMPLES:
        answer = msgspec.json.encode(Opinion(relation, number)).decode()
        messages += [Message("user", _shown(facts, new)), Message("assistant", answer)]
    messages.append(Message("user", _shown(known, said)))
    answer = await model.complete(messages, schema=_schema(len(known)), max_tokens=_TOKENS)
    return msgspec.convert(answer, Opinion)


def _shown(known: Sequence[str], new: str) -> str:
    facts = "\n".join(f"{n}. {each[:300]}" for n, each in enumerate(known, 1))
    return f"Known facts:\n{facts}\n\nNew fact:\n{new}"


def _schema(count: int) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "relation": {"enum": ["new", "same", "changes"]},
            "known": {"type": "integer", "minimum": 0, "maximum": count},
        },
        "required": ["relation", "known"],
        "additionalProperties": False,
    }
