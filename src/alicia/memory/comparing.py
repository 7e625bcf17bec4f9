"""Whether two memories say the same, or one takes the other's place, as far as their words tell.

No I/O and no model: this holds when several conversations learn at once, and where there is no language
model. It errs on the side of keeping both.
"""

import re
from typing import Final, Literal

Relation = Literal["same", "changes", "other"]

SAME: Final = 0.9
"""How near two memories must be in meaning to say the same in other words."""

_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_PART: Final = re.compile(r"[,;:]|\b(?:and|but)\b", re.IGNORECASE)


def word_set(words: str) -> frozenset[str]:
    """A set of words that are written in one string."""
    return frozenset(words.split())


_EMPTY: Final = word_set("""
    a an the user user's users is are was were be been has have had do does did of in on at to for with and or
    that this their his her its they he she it i i'm im my me mine we our am as by from now currently really
    very also just quite named called
""")
_NEGATIONS: Final = word_set("""
    not no never don't doesn't didn't isn't aren't can't cannot won't stopped quit without hates dislikes
    anymore longer former
""")
_NUMBERS: Final = word_set("one two three four five six seven eight nine ten eleven twelve")
_ALIKE: Final[dict[str, str]] = {
    "moved": "lives",
    "relocated": "lives",
    "live": "lives",
    "favorite": "favourite",
}
# Of these a person has one at a time, so another value takes the place of the first.
_SINGLE: Final = word_set(
    "lives name age old birthday born works job address phone email favourite married timezone"
)


def compare(known: str, said: str, similarity: float | None) -> Relation:
    """How a new memory stands to a known one; `similarity` is their cosine, where there is one."""
    before, after = words_of(known), words_of(said)
    if [stem(word) for word in before] == [stem(word) for word in after]:
        return "same"
    values = values_of(known) | values_of(said)
    if set(before) & set(after) & _SINGLE and _without(before, values) == _without(after, values):
        return "changes"
    differing = {stem(word) for word in before} ^ {stem(word) for word in after}
    decided = not differing or any(word in values or _decisive(word) for word in differing)
    return "same" if similarity is not None and similarity >= SAME and not decided else "other"


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, without those that carry no fact."""
    found: list[str] = [word.lower().replace("’", "'") for word in _WORD.findall(text)]
    return [_ALIKE.get(word, word) for word in found if word not in _EMPTY]


def values_of(text: str) -> set[str]:
    """Names and numbers: words with a capital that do not begin the sentence, or with a digit."""
    found = [word.replace("’", "'") for word in _WORD.findall(text)]
    capitals = {word for word in found[1:] if word[0].isupper()}
    numbers = {word for word in found if any(sign.isdigit() for sign in word) or word in _NUMBERS}
    return {word.lower() for word in capitals | numbers}


def denies(text: str) -> bool:
    """Whether a text says that something is not so, or no longer."""
    return not _NEGATIONS.isdisjoint(words_of(text))


def denied_in(text: str) -> set[str]:
    """The words that a "not" or its like is about: those that follow it in the same part of a sentence."""
    denied: set[str] = set()
    for part in _PART.split(text):
        words = words_of(part)
        first = next((n for n, word in enumerate(words) if word in _NEGATIONS), len(words))
        denied.update(words[first + 1 :])
    return denied - _NEGATIONS


def _without(words: list[str], values: set[str]) -> list[str]:
    return [word for word in words if word not in values]


def _decisive(word: str) -> bool:
    """Whether a word alone makes another fact: a number or a negation."""
    return word in _NEGATIONS or word in _NUMBERS or any(sign.isdigit() for sign in word)


def stem(word: str) -> str:
    """What the forms of a word have in common, near enough to tell the same from the other."""
    word = word.removesuffix("'s")
    for ending in ("ing", "ies", "es", "ed", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not _decisive(word):
            return word[: -len(ending)]
    return word
