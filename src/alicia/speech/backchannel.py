"""Tells a listener's "mhm" from somebody who wants to speak."""

import re
from typing import Final

from alicia.speech.recogniser import words

_MOST: Final = 4
_HUMS: Final = re.compile(r"m+|(?:m+-?)?h+m+|u+h+m*|u+m+|a+h+|o+h+|e+h+|uh-?huh|m+-?h+m*")
_WORDS: Final = frozenset(
    words(
        "yeah yes yep yup ok okay right sure aha wow cool nice great good fine really indeed exactly true "
        "alright i see got it of course go on all ja genau klar gut stimmt"
    )
)


def is_backchannel(text: str) -> bool:
    """Whether this only says that one listens; words that ask, deny or stop are never that."""
    said = words(text)
    if not said or len(said) > _MOST:
        return not said
    return all(word in _WORDS or _HUMS.fullmatch(word) for word in said)
