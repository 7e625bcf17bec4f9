"""What to look for in memory: made from a message and, where it leans on them, from the turns before it."""

import re
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from alicia.llm.messages import Message

LONGEST: Final = 2000
"""How many characters of a message are looked at: of a longer one its end, where the question usually is."""

_CONTEXT: Final = 400
_OWN: Final = re.compile(r"\b(?:my|mine|our|ours)\b", re.IGNORECASE)
_SELF: Final = re.compile(r"\b(?:I|me|myself|we|us)\b(?!['’])")
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_PLEASANTRIES: Final = _set("""
    a ah alicia alright and are awesome bye cheers cool day doing evening excellent fine going good goodbye
    goodnight great haha hello hey hi hm hmm how i'm im is it it's k later lol lovely me mm morning much my
    nice night no nope oh ok okay perfect please right see so sorry super sure thank thanks that that's the
    there thx up very welcome well what's whatsup wonderful wow yeah yep yes you you're your
""")
_LEANING: Final = _set("""
    he him his she her hers it its they them their theirs this that these those there then one ones same else
    instead
""")
_CONTINUING: Final = _set("and but so or why really also")


class Query(Struct, frozen=True, kw_only=True):
    """`message` counts in full, `context` half."""

    message: str
    context: str = ""

    @property
    def text(self) -> str:
        """What is kept as `query_prompt`."""
        return f"{self.message}\n{self.context}" if self.context else self.message

    @property
    def meant(self) -> str:
        """What is embedded: memories speak of "the user", who says "I"."""
        text = _OWN.sub("the user's", self.text)
        return _SELF.sub("the user", text)


def make_query(message: str, conversation: Sequence[Message] = ()) -> Query | None:
    """The query for a message; None for a greeting, thanks, and the like, which need no memory."""
    message = message.replace("\0", " ").strip()[-LONGEST:]
    words = [word.lower().replace("’", "'") for word in _WORD.findall(message)]
    if not words or all(word in _PLEASANTRIES for word in words):
        return None
    context = _before(conversation) if _leans(words) else ""
    return Query(message=message, context=context)


def _leans(words: Sequence[str]) -> bool:
    """Whether words stand for something said before: short, and with a pronoun or a continuing opening."""
    if len(words) > 12:
        return False
    if len(words) <= 2 or words[0] in _CONTINUING or list(words[:2]) in (["what", "about"], ["how", "about"]):
        return True
    return any(word.split("'")[0] in _LEANING for word in words)


def _before(conversation: Sequence[Message]) -> str:
    """The user's last turn, and of the answer to it the beginning."""
    found: dict[str, str] = {}
    for message in reversed(conversation):
        if message.role in ("user", "assistant") and message.content and message.role not in found:
            found[message.role] = message.content.replace("\0", " ").strip()[:_CONTEXT]
        if "user" in found:
            break
    return "\n".join(found[role] for role in ("user", "assistant") if role in found)
