"""What a full stop means, from the word before it."""

import re
from enum import Enum, auto
from typing import Final
from unicodedata import category

WIDE: Final = frozenset("。！？｡।॥؟۔։።፧។။")
"""Stops of scripts that need no space after them."""
STRONG: Final = frozenset("!?‼⁇⁈⁉\u037e")
DOTS: Final = frozenset(".…")
STOPS: Final = WIDE | STRONG | DOTS
CLOSERS: Final = frozenset("\"'”’»›)]}*_~`）」』】》〉］｝〕")
OPENERS: Final = frozenset("\"'“‘«‹([{¿¡「『（【《〈*_")
WIDE_CLAUSES: Final = frozenset("，、；：")
CLAUSES: Final = frozenset(",;:—–،؛")

_CONTINUING: Final = frozenset(",;:)]}-–—&…=+/%")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NEVER: Final = _words(
    "mr mrs ms dr prof rev hon gen col sgt capt lt cmdr maj gov sen rep messrs mme mlle sra dra hr fr al "
    "e.g i.e cf vs viz approx ca bzw resp incl excl z.b d.h"
)
"""Something always follows: a name, an example, a number."""
_PROPER: Final = _words(
    "inc ltd co corp llc jr sr bros st ave blvd rd mt ft dept univ assn est ph.d m.d b.a m.a u.s u.k u.n e.u"
)
"""A name may go on after these, and names have capitals too."""
_PLAIN: Final = _words(
    "etc usw a.m p.m jan feb mar apr jun jul aug sep sept oct nov dec tues thurs max min avg misc ed eds "
    "ext tel fax"
)
_NUMBERED: Final = _words("no nr nos fig figs vol p pp ch chap sec art eq ver v")
"""Short for something that has a number, and only before a number."""
_BEGINNINGS: Final = _words(
    "the a an this that these those there here it its he she we you they i his her our your their my in on "
    "at if when while after before since because although but and or so yet however therefore then thus also "
    "as for from to with by of what who where why how which is are was were do does did can could will would "
    "should may no not yes one some many most all each every both another other such even only just now "
    "today yesterday tomorrow please let more few"
)
"""Words that begin sentences and hardly ever go on with a name."""

_WORD: Final = re.compile(r"(?:\A|[^\w.])([\w.]*)\Z")
_INITIALS: Final = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}\Z")
_VOWELS: Final = re.compile(r"[aeiouyáéíóúàèìòùâêîôûäëïöüåæøœãõ]", re.IGNORECASE)


class Verdict(Enum):
    """Whether a stop that is followed by a space ends its sentence."""

    ENDS = auto()
    GOES_ON = auto()
    ASK_CHARACTER = auto()
    """Unless the next character is lower-case, or cannot begin a sentence."""
    ASK_SHORT = auto()
    """The same, and a digit cannot begin one either: the word may be short for something."""
    ASK_NUMBER = auto()
    """Unless the next character is a digit."""
    ASK_WORD = auto()
    """If the next word is one that begins sentences."""


def word_before(recent: str) -> str:
    """The word at the end of the text, with the dots inside it."""
    found = _WORD.search(recent)
    return found[1] if found else ""


def judge_dot(word: str, *, numbering: bool) -> Verdict:
    """What a single dot after `word` means; `numbering` says that a number there would count items."""
    lower = word.lower()
    if not word:
        return Verdict.ENDS
    if word.isdigit():
        return Verdict.GOES_ON if numbering and len(word) <= 2 else Verdict.ASK_CHARACTER
    if lower in _NEVER:
        return Verdict.GOES_ON
    if lower in _PLAIN:
        return Verdict.ASK_SHORT
    if lower in _NUMBERED:
        return Verdict.ASK_NUMBER
    if lower in _PROPER or _INITIALS.match(word) or _is_initial(word):
        return Verdict.ASK_WORD
    if len(word) <= 4 and word.islower() and word.isalpha() and word.isascii() and not _VOWELS.search(word):
        return Verdict.ASK_SHORT
    return Verdict.ENDS


def _is_initial(word: str) -> bool:
    return len(word) == 1 and word.isupper() and word != "I"


def begins(verdict: Verdict, character: str) -> bool | None:
    """Whether a sentence begins with this character; None when the whole word must be known."""
    match verdict:
        case Verdict.ASK_NUMBER:
            return not character.isdigit()
        case Verdict.ASK_SHORT:
            return not (_continues(character) or character.isdigit() or character == "(")
        case Verdict.ASK_WORD:
            return None if character.isupper() else character in OPENERS and character != "("
        case _:
            return not _continues(character)


def begins_with(word: str) -> bool:
    """Whether this word, after something that looks like an abbreviation, begins a sentence."""
    return word.lower() in _BEGINNINGS


def _continues(character: str) -> bool:
    return character.islower() or character in _CONTINUING


_IDEOGRAPHIC: Final = re.compile(r"[\u3040-\u9fff\uf900-\ufaff\uff66-\uff9f]")


def is_ideographic(character: str) -> bool:
    """Whether the script of this character puts no spaces between words."""
    return _IDEOGRAPHIC.match(character) is not None


def is_picture(character: str) -> bool:
    """Whether this is an emoji, or a part of one."""
    return character >= "\u2190" and (category(character) in ("So", "Sk") or character in "\ufe0f\u200d")
