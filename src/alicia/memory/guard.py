"""What must never become a memory: instructions to the assistant that come dressed as facts.

A memory is put into later prompts, so a sentence that gives orders there would go on giving them for ever.
Wishes about how to be talked to ("answer in French", "call me Bo") are the user's own and stay welcome.
"""

import re
from typing import Final

_ORDERS: Final = re.compile(
    r"""
    \b(?:
        (?:ignore|disregard|override|bypass|forget)\W+(?:\w+\W+){0,4}?
            (?:instructions?|rules?|prompts?|guidelines?|restrictions?|safety|polic(?:y|ies))
      | (?:system|developer|hidden|initial)\W+(?:prompt|message|instructions?)
      | (?:you|the\W+assistant|alicia|the\W+ai)\W+(?:\w+\W+){0,3}?
            (?:must|shall|has\W+to|have\W+to|should|will)\W+(?:\w+\W+){0,3}?
            (?:obey|comply|follow\W+(?:all|any|every|these|my)|pretend|reveal|refuse|never\W+(?:refuse|say\W+no)
               |do\W+(?:anything|whatever|everything))
      | obey\W+(?:me|him|her|them|every|any|all|the|my|whatever|\w+['’]s)
      | (?:you|the\W+assistant|alicia)\W+(?:are|is)\W+now\b
      | jail\W?break | do\W+anything\W+now | developer\W+mode | admin(?:istrator)?\W+(?:mode|access|rights)
      | (?:reveal|print|show|leak|send|forward|post|transfer|wire)\W+(?:\w+\W+){0,4}?
            (?:passwords?|secrets?|api\W?keys?|credentials?|tokens?|system\W+prompt|money)
      | without\W+(?:any\W+)?(?:restrictions?|limits?|filters?|asking)
      | act\W+as\W+(?:if|though|an?)\b
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_MARKUP: Final = re.compile(
    r"<\|[^|]*\|>|\[/?INST\]|<</?SYS>>|^\s*(?:system|assistant)\s*:", re.IGNORECASE | re.M
)


def is_order(text: str) -> bool:
    """Whether a text would give the assistant orders if it stood in a prompt."""
    return _ORDERS.search(text) is not None or _MARKUP.search(text) is not None
