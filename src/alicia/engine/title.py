"""A title for a conversation, from how it begins."""

from collections.abc import Sequence
from typing import Any, Final

from alicia.llm.messages import Message
from alicia.memory.extraction import Completer

LONGEST: Final = 60
_TOKENS: Final = 60
_SHOWN: Final = 600

_SYSTEM: Final = (
    "You name conversations. Give the title that the user would look for in a list: two to six words, in the "
    "user's language, without quotation marks. If there is no subject yet, as in a mere greeting, the title "
    "is empty."
)
_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"title": {"type": "string", "maxLength": LONGEST}},
    "required": ["title"],
    "additionalProperties": False,
}


async def make_title(model: Completer, opening: Sequence[Message]) -> str:
    """What the model calls a conversation that begins so, often nothing; ModelUnavailable for no answer."""
    said = "\n\n".join(f"The {one.role} says:\n{one.content[:_SHOWN]}" for one in opening)
    prompt = [Message("system", _SYSTEM), Message("user", f"{said}\n\nThe title of this conversation:")]
    answer = await model.complete(prompt, schema=_SCHEMA, max_tokens=_TOKENS)
    return " ".join(answer["title"].split()).strip("\"'“”*# ")[:LONGEST]


def first_words(opening: Sequence[Message]) -> str:
    """A title without a model: the beginning of what the user said first."""
    text = next((one.content for one in opening if one.role == "user"), "")
    words = " ".join(text.split())
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 1].rsplit(' ', 1)[0]}…"
