"""Splits text into pieces that are each about one thing and short enough to be embedded. No I/O."""

import re
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

LONGEST: Final = 900
"""How many characters a piece may have; the embedded model reads some 1,000."""

_HEADING: Final = re.compile(r"^(#{1,6})\s+(.+?)\s*#*$")
_FENCE: Final = re.compile(r"^\s*(```|~~~)")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?…。！？])\s+")


class Block(Struct, frozen=True):
    """A paragraph, and where it stands."""

    text: str
    heading: str | None = None
    page: int | None = None


class Piece(Struct, frozen=True):
    """What becomes one memory; its content begins with its heading, which says what it is about."""

    content: str
    heading: str | None = None
    page: int | None = None


def paragraphs(text: str, page: int | None = None) -> list[Block]:
    """Plain text: what blank lines set apart."""
    parts = re.split(r"\n\s*\n", text.replace("\r\n", "\n"))
    return [Block(_tidy(part), None, page) for part in parts if part.strip()]


def markdown(text: str) -> list[Block]:
    """Markdown: paragraphs under the path of their headings; code stays whole."""
    blocks: list[Block] = []
    path: list[str] = []
    lines: list[str] = []
    fence: str | None = None

    def flush() -> None:
        paragraph = "\n".join(lines).strip()
        if paragraph:
            blocks.append(Block(paragraph, " > ".join(filter(None, path)) or None))
        lines.clear()

    for line in text.replace("\r\n", "\n").split("\n"):
        mark = _FENCE.match(line)
        if mark and fence in (None, mark.group(1)):
            fence = None if fence else mark.group(1)
        heading = None if fence or mark else _HEADING.match(line)
        if heading:
            flush()
            level = len(heading.group(1))
            path[level - 1 :] = [""] * (level - 1 - len(path)) + [heading.group(2)]
        elif line.strip() or fence:
            lines.append(line)
        else:
            flush()
    flush()
    return blocks


def pieces(blocks: Iterable[Block]) -> list[Piece]:
    """Paragraphs joined, within one heading and page, until a piece is full; long ones cut at sentences."""
    made: list[Piece] = []
    held: list[str] = []
    place: tuple[str | None, int | None] = (None, None)

    def flush() -> None:
        if held:
            text = "\n\n".join(held)
            content = f"{place[0]}\n{text}" if place[0] else text
            made.append(Piece(content, *place))
        held.clear()

    for block in blocks:
        for part in _cut(block.text):
            if (block.heading, block.page) != place or sum(map(len, held)) + len(part) > LONGEST:
                flush()
                place = (block.heading, block.page)
            held.append(part)
    flush()
    return made


def _cut(text: str) -> list[str]:
    """A paragraph in parts that are not too long: at ends of sentences, or else anywhere."""
    if len(text) <= LONGEST:
        return [text]
    parts: list[str] = []
    held = ""
    for sentence in _SENTENCE_END.split(text):
        for start in range(0, len(sentence), LONGEST):
            part = sentence[start : start + LONGEST]
            if held and len(held) + 1 + len(part) > LONGEST:
                parts.append(held)
                held = ""
            held = f"{held} {part}" if held else part
    return [*parts, held] if held else parts


def _tidy(text: str) -> str:
    """Lines of one paragraph are one text."""
    return " ".join(text.split())
