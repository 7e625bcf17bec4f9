"""What of a message may tell something about its user: statements, one by one, before a model is asked.

Questions, quotations and orders are left out here, so that no model can take a fact from them; so is what
speaks of nobody near the user. The rules about persons and clauses know English; of another language only
questions, quotations and orders are left out.
"""

import re
from collections.abc import Sequence
from typing import Final

from alicia.memory.guard import is_order

MOST: Final = 12
"""How many statements of a message are looked at: the last ones."""
LONGEST: Final = 400
_FEWEST: Final = 3

_QUOTED: Final = re.compile(r"\"[^\"]*\"|“[^”]*”|«[^»]*»|^>.*$|```.*?```", re.MULTILINE | re.DOTALL)
_END: Final = re.compile(
    r"(?<![.\s][A-Z]\.)(?<!\bMr\.)(?<!\bMs\.)(?<!\bMrs\.)(?<!\bDr\.)(?<!\bSt\.)(?<=[.!?…])\s+|\n+"
)
_FIRST: Final = r"(?:(?:i|we)(?:['’](?:m|re|ve|d|ll))?|my|our)\b"
_SPEAKER: Final = re.compile(r"\b(?:i|we|me|us)\b", re.IGNORECASE)
_MINE: Final = re.compile(rf"\b(?:{_FIRST}|me\b|mine\b|myself\b|us\b|ours\b)", re.IGNORECASE)
_ABOUT_THEM: Final = re.compile(r"(?:and\s+)?(?:he|she|they|it|his|her|their|its)\b", re.IGNORECASE)
_ENGLISH: Final = re.compile(
    r"\b(?:the|and|of|it|it's|that|that's|this|you|your|with|is|are|lives|has|had|at|by|for|from|to)\b",
    re.IGNORECASE,
)
# What stands before it is a clause of its own if it has a verb, speaks of the user and leans on nothing.
_NEXT_CLAUSE: Final = re.compile(
    rf"(?:[,;]\s*(?:(?:and|but|so)\s+)?|\s+(?:and|but|so)\s+)(?=(?:now\s+)?{_FIRST})", re.IGNORECASE
)
_WHOLE: Final = re.compile(
    r"\b(?:i|we|is|are|was|were|has|have|had)\b|\b(?:i|we|\w+)['’](?:m|s|re|ve|d|ll)\b", re.IGNORECASE
)
_LEANING: Final = re.compile(
    r"(?:when|if|as|because|since|while|although|though|before|after|unless|until|once|in case)\b",
    re.IGNORECASE,
)
_QUESTION_AFTER: Final = re.compile(
    rf"({_FIRST}.*?)[,;]\s*(?:and\s+|but\s+|so\s+)?(?:what|how|where|who|which|when|why|can|could|do|does|is|are"
    r"|should|would|will)\b[^,;]*\?",
    re.IGNORECASE,
)


def statements(said: str, *, asked: bool = False) -> list[str]:
    """The statements of a message that may tell of its user; none means that no model need be asked.

    `asked`: the assistant has asked something, so that "Vegetarian." may be an answer.
    """
    found: list[str] = []
    for sentence in _END.split(_QUOTED.sub(_unquoted, said)):
        for statement in _clauses(_without_question(sentence.strip())):
            if _may_tell(statement, found, asked):
                found.append(statement[:LONGEST])
    return found[-MOST:]


def speaks(statement: str) -> bool:
    """Whether the user speaks of themselves in it, and not only of what is theirs."""
    return _SPEAKER.search(statement) is not None


def _unquoted(match: re.Match[str]) -> str:
    """Nothing in the place of a quotation, but a name stays: my cat is called "Miso"."""
    words = match[0].strip('"“”«»').split()
    return " ".join(words) if len(words) < _FEWEST and match[0][0] in '"“«' else "\n"


def _without_question(sentence: str) -> str:
    """What a question says before it asks: "I'm allergic to nuts, what can I eat?"."""
    if not sentence.endswith("?"):
        return sentence
    match = _QUESTION_AFTER.fullmatch(sentence)
    return match[1] if match else ""


def _clauses(sentence: str) -> list[str]:
    parts: list[str] = []
    begin = 0
    for match in _NEXT_CLAUSE.finditer(sentence):
        before = sentence[begin : match.start()]
        if _MINE.search(before) and _WHOLE.search(before) and not _LEANING.match(before):
            parts.append(before.strip())
            begin = match.end()
    return [*parts, sentence[begin:].strip()]


def _may_tell(statement: str, earlier: Sequence[str], asked: bool) -> bool:
    if not any(sign.isalnum() for sign in statement) or is_order(statement):
        return False
    if _MINE.search(statement) or asked:
        return True
    if _ABOUT_THEM.match(statement):
        # "My sister Ana is a nurse. She lives in Porto."
        return bool(earlier)
    return len(statement.split()) >= _FEWEST and not _ENGLISH.search(statement)
