"""Telling a model's thoughts from its answer, while both still arrive in pieces."""

import re
from collections.abc import Iterator

_TAG = re.compile(r"<(/?)think(?:ing)?>")
_TAGS = ("<think>", "<thinking>", "</think>", "</thinking>")
_PARTIAL = frozenset(tag[:length] for tag in _TAGS for length in range(1, len(tag)))
_LONGEST = max(map(len, _PARTIAL))


class ThinkTags:
    """Separates `<think>…</think>` from the answer, wherever the chunks are cut.

    A block that never ends is all thought. The tags themselves, and the blank space that models put around
    a block, belong to neither.
    """

    def __init__(self) -> None:
        self._held = ""
        self._thinking = False
        self._blank = True
        self._skip = True

    def feed(self, text: str) -> Iterator[tuple[bool, str]]:
        """Take the next piece; yield (is it thought, text) parts in order."""
        text = self._held + text
        position = 0
        for tag in _TAG.finditer(text):
            yield from self._part(text[position : tag.start()])
            self._thinking = not tag[1]
            self._skip = self._blank
            position = tag.end()
        rest = text[position:]
        self._held = _partial_tag(rest)
        yield from self._part(rest[: len(rest) - len(self._held)])

    def flush(self) -> Iterator[tuple[bool, str]]:
        """What was held back for a tag that did not come."""
        held, self._held = self._held, ""
        yield from self._part(held)

    def _part(self, text: str) -> Iterator[tuple[bool, str]]:
        if self._thinking:
            if text:
                yield True, text
            return
        # Space after a block is dropped when space, or nothing at all, stands before it.
        if self._skip:
            text = text.lstrip()
        if text:
            self._skip = False
            self._blank = text[-1].isspace()
            yield False, text


def _partial_tag(text: str) -> str:
    """The end of the text that may turn out to be the beginning of a tag."""
    start = text.rfind("<", max(0, len(text) - _LONGEST))
    return text[start:] if start >= 0 and text[start:] in _PARTIAL else ""


class Paragraphs:
    """Collects pieces of reasoning and gives whole paragraphs, at a cost linear in the text."""

    def __init__(self) -> None:
        self._line: list[str] = []
        self._lines: list[str] = []

    def feed(self, text: str) -> Iterator[str]:
        """Take the next piece; yield the paragraphs that a blank line has ended."""
        first, *others = text.split("\n")
        self._line.append(first)
        for other in others:
            yield from self._end_line()
            self._line.append(other)

    def flush(self) -> Iterator[str]:
        """The last paragraph, which no blank line ends."""
        yield from self._end_line()
        yield from self._end_paragraph()

    def _end_line(self) -> Iterator[str]:
        line = "".join(self._line).rstrip()
        self._line = []
        if line:
            self._lines.append(line)
        else:
            yield from self._end_paragraph()

    def _end_paragraph(self) -> Iterator[str]:
        if self._lines:
            yield "\n".join(self._lines).strip()
            self._lines = []
