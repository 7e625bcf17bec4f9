"""Which tools could help with a message at all, told from its words in microseconds."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from alicia.llm.messages import Tool
from alicia.tools.definition import Hint

_WORD: Final = re.compile(r"[^\W\d_]+")
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_STEM: Final = 5
"""Letters by which two words count as the same: search, searched, searching."""
_COMMON_WORDS: Final = """
    a about all also an and any are as at be been by can could data do does each for from function get
    gets give given gives has have how if in info input into is it its list lists make more name names
    new not number of on one only or other output parameter parameters please result results return
    returned returns run set should some such text than that the their them then there these they this
    to tool tools up use used user users uses using value values was we what when where which who will
    with without would you your me my i tell show say says know want need let
"""
_COMMON: Final = frozenset(_COMMON_WORDS.split())


def candidates(tools: Sequence[Tool], hints: Mapping[str, Hint], text: str) -> list[Tool]:
    """The tools that a model should be asked about, in the same order; none for most messages.

    A tool with a hint knows by itself. Any other must be named, or share two words with the message.
    """
    if not tools:
        return []
    said = _stems(text)
    return [tool for tool in tools if _could_help(tool, hints.get(tool.name), text, said)]


def _could_help(tool: Tool, hint: Hint | None, text: str, said: frozenset[str]) -> bool:
    if hint is not None:
        return hint.applies(text)
    name, description = _keywords(tool.name, tool.description)
    return bool(name & said) or len(description & said) >= 2


@lru_cache(maxsize=1_000)
def _keywords(name: str, description: str) -> tuple[frozenset[str], frozenset[str]]:
    spaced = _CAMEL.sub(" ", name).replace("_", " ")
    return _stems(spaced), _stems(f"{spaced} {description}")


def _stems(text: str) -> frozenset[str]:
    words = (word.casefold() for word in _WORD.findall(text))
    return frozenset(word[:_STEM] for word in words if len(word) > 2 and word not in _COMMON)
