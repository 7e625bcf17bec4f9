"""Cutting an expression into numbers, names and signs, as people and models write them."""

import re
from fractions import Fraction
from typing import Literal

import msgspec

from alicia.tools.definition import ToolError

LONGEST = 1_000
"""Characters of an expression."""
LARGEST_EXPONENT = 4_000
"""Of a number such as 1e9: as many digits as a result may have."""

Kind = Literal["number", "name", "sign", "end"]


class Word(msgspec.Struct, frozen=True):
    """One token. `text` is how it was written, or its plain form; a number has its value."""

    kind: Kind
    text: str
    value: Fraction = Fraction(0)
    tight: bool = False
    """Whether it follows the word before it without a space."""


_SPELLINGS = {
    "×": "*", "·": "*", "⋅": "*", "∙": "*", "÷": "/", "∕": "/", "−": "-", "–": "-", "—": "-", "^": "**",
    "π": "pi", "τ": "tau", "φ": "phi", "√": " sqrt ", "²": "**2", "³": "**3", "½": "(1/2)", "¼": "(1/4)",
    "¾": "(3/4)", "[": "(", "]": ")", "{": "(", "}": ")", "“": "", "”": "", '"': "",
    "$": "", "€": "", "£": "", "¥": "", "\u00a0": " ", "\u2009": " ", "\u202f": " ", "’": "'",
}  # fmt: skip
_WORDS = {
    "plus": "+",
    "minus": "-",
    "times": "*",
    "x": "*",
    "over": "/",
    "mod": "mod",
    "modulo": "mod",
    "of": "of",
    "percent": "percent",
    "squared": "**2",
    "cubed": "**3",
}
_PHRASES = (
    (re.compile(r"\b(?:multiplied|multiply)\s+by\b"), "*"),
    (re.compile(r"\b(?:divided|divide)\s+by\b"), "/"),
    (re.compile(r"\b(?:raised\s+)?to\s+the\s+power\s+of\b"), "**"),
    (re.compile(r"\b(?:the\s+)?square\s+root\s+of\b"), " sqrt "),
    (re.compile(r"\b(?:the\s+)?cube\s+root\s+of\b"), " cbrt "),
)
_NUMBER = re.compile(
    r"""
    (?P<grouped> \d{1,3} (?: (?P<group>[,_'])\d{3} ) (?: (?P=group)\d{3} )* (?!\d) (?:\.\d+)? )
  | (?P<hex> 0x[0-9a-f]+ )
  | (?P<plain> (?: \d+(?:\.\d*)? | \.\d+ ) (?: e[+-]?\d+ )? )
    """,
    re.VERBOSE,
)
_ALONE = re.compile(r"\d+(?:\.\d*)?|\.\d+")
_NAME = re.compile(r"[a-z_][a-z_0-9]*")
_SIGN = re.compile(r"\*\*|//|[-+*/%!(),]")


def words_of(expression: str) -> list[Word]:
    """The tokens of an expression, an `end` last; ToolError says what cannot be read."""
    if len(expression) > LONGEST:
        raise ToolError(f"The expression is longer than {LONGEST} characters.")
    text = expression.casefold().rstrip("= \t\n?")
    for sign, plain in _SPELLINGS.items():
        text = text.replace(sign, plain)
    for phrase, plain in _PHRASES:
        text = phrase.sub(plain, text)
    words: list[Word] = []
    calls: list[bool] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        # Between the arguments of a function a comma separates them, everywhere else thousands.
        word, end = _next(text, at, in_call=bool(calls) and calls[-1])
        if word.text == "(":
            calls.append(bool(words) and words[-1].kind == "name")
        elif word.text == ")" and calls:
            calls.pop()
        words += [word] if word.text != "**2" and word.text != "**3" else _power(word.text)
        at = end
    return [*words, Word("end", "the end")]


def _power(text: str) -> list[Word]:
    return [Word("sign", "**"), Word("number", text[2:], Fraction(text[2:]))]


def _next(text: str, at: int, *, in_call: bool) -> tuple[Word, int]:
    tight = at > 0 and not text[at - 1].isspace()
    if found := _NUMBER.match(text, at):
        if in_call and found["group"] == ",":
            found = _ALONE.match(text, at) or found
        return Word("number", found.group(), _value(found.group()), tight), found.end()
    if found := _NAME.match(text, at):
        name = _WORDS.get(found.group(), found.group())
        kind: Kind = "name" if name == found.group() and name not in ("mod", "of", "percent") else "sign"
        return Word(kind, name, tight=tight), found.end()
    if found := _SIGN.match(text, at):
        return Word("sign", found.group(), tight=tight), found.end()
    raise ToolError(f"{text[at]!r} has no place in an expression.")


def _value(number: str) -> Fraction:
    if number.startswith("0x"):
        return Fraction(int(number, 16))
    digits, _, exponent = number.partition("e")
    if exponent and abs(int(exponent[:10])) > LARGEST_EXPONENT:
        raise ToolError(f"{number!r} is too large or too small a number.")
    return Fraction(re.sub("[,_']", "", digits).rstrip(".")) * Fraction(10) ** int(exponent or 0)
