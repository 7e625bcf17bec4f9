"""Sentences out of text that arrives in pieces, each as early as it is certain.

A machine with one step per character, so that the cost is linear and the cuts do not depend on the pieces.
Every character belongs to exactly one sentence; blank space leads the sentence after it.
"""

import re
from collections.abc import Callable
from typing import Final

from alicia.engine.stops import (
    CLAUSES,
    CLOSERS,
    DOTS,
    STOPS,
    STRONG,
    WIDE,
    WIDE_CLAUSES,
    Verdict,
    begins,
    begins_with,
    is_ideographic,
    is_picture,
    judge_dot,
    word_before,
)

LONGEST: Final = 400
"""A sentence without an end is cut at a clause or a space from here on."""
LONG_ITEM: Final = 240
"""A list item stays whole up to here."""

_SLICE: Final = 256
_MEMORY: Final = 24
_SPECIAL = re.escape("".join(sorted(STOPS | CLAUSES | WIDE_CLAUSES))) + '`"*«»'
_ORDINARY: Final = re.compile(rf"[^\s{_SPECIAL}]+")
_LINE_REST: Final = re.compile(r"[^\n]+")
_INDENT: Final = r"[ \t>]*"
_LINE: Final = re.compile(
    rf"{_INDENT}(?:(?P<fence>```|~~~)|(?P<heading>\#{{1,6}}[ \t])|(?P<table>\|)"
    r"|(?P<item>(?:[-*+•‣◦–—]|\d{1,3}[.)]|[A-Za-z]\)|[a-z]\.)[ \t])"
    r"|(?P<open>`{0,2}|~{0,2}|\#{0,6}|[-*+•‣◦–—]|\d{0,3}[.)]?|[A-Za-z]\)?|[a-z]\.))\Z"
)


class Splitter:
    """Cuts a text. `feed` pieces of it, `flush` at its end; both give the sentences that are certain by then.

    Abbreviations, numbers, addresses, inline code, list items, tables and code blocks stay whole. The last
    piece that `flush` gives is blank when the text ends in blank space after a sentence.
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._base = 0
        self._at = 0
        self._recent = ""
        self._out: list[str] = []
        self._lead: int | None = None
        self._ink = 0
        self._space = self._clause = -1
        self._code = False
        self._quotes = 0
        self._guillemets = False
        self._kind = "plain"
        self._prefix = ""
        self._fence = ""
        self._fence_line: str | None = None
        self._stop = ""
        self._closed = False
        self._cut = 0
        self._verdict = Verdict.ENDS
        self._next = ""
        self._step: Callable[[str, int], int] = self._in_prefix

    def feed(self, text: str) -> list[str]:
        """Take the next piece; give the sentences that it has settled."""
        for start in range(0, len(text), _SLICE):
            piece = text[start : start + _SLICE]
            self._pieces.append(piece)
            index = 0
            while index < len(piece):
                index = self._step(piece, index)
            self._at += len(piece)
            self._recent = (self._recent + piece)[-_MEMORY:]
        out, self._out = self._out, []
        return out

    def flush(self) -> list[str]:
        """The text is over: give what is left of it."""
        if self._step == self._in_next_word and begins_with(self._next):
            self._emit(self._cut)
        elif self._step == self._in_prefix and self._prefix.strip():
            self._begin_line("plain", self._at)
        out, rest = self._out, "".join(self._pieces)
        self.__init__()
        return [*out, rest] if rest else out

    def _emit(self, cut: int, lead: int | None = None) -> None:
        """End the sentence at an absolute position, unless there is nothing but blank space before it."""
        if self._lead is None or self._lead >= cut:
            return
        text = "".join(self._pieces)
        self._out.append(text[: cut - self._base])
        self._pieces = [text[cut - self._base :]]
        self._base, self._lead, self._quotes = cut, lead, 0

    def _mark(self, start: int, end: int) -> None:
        """There is something to read from one absolute position to the other."""
        if self._lead is None:
            self._lead = start
        self._ink = end

    def _limit(self) -> None:
        """Cut what has become too long at the last clause or space."""
        while self._ink - self._base >= LONGEST:
            cut = self._clause if self._clause - self._base >= LONGEST // 3 else self._space
            if cut <= self._base or self._lead is None or cut <= self._lead:
                if self._ink - self._base < 4 * LONGEST:
                    return
                cut = self._base + 4 * LONGEST
            self._emit(cut, lead=cut)

    # Each of these takes the character at `index` and gives the index of the next one to take.

    def _in_text(self, text: str, index: int) -> int:
        here = self._at + index
        if run := _ORDINARY.match(text, index):
            self._mark(here, self._at + run.end())
            self._limit()
            return run.end()
        character = text[index]
        if character == "\n":
            return self._end_line(index)
        if character.isspace():
            if self._ink == here and self._before(text, index) in CLAUSES:
                self._clause = here
            self._space = here
            return index + 1
        self._mark(here, here + 1)
        if character in STOPS and not self._code and not self._stays_whole(here):
            self._stop, self._closed, self._cut = character, False, here + 1
            if character == ".":
                recent = (self._recent + text[:index])[-_MEMORY:]
                word = word_before(recent)
                start = here - len(word)
                numbering = start == self._lead or recent[: len(recent) - len(word)].rstrip().endswith(":")
                self._verdict = judge_dot(word, numbering=numbering)
            self._step = self._in_stop
        elif character in WIDE_CLAUSES:
            self._clause = here + 1
        elif character == "`":
            self._code = not self._code
        elif character in '"*':
            self._quotes += 1
        elif character in "«»":
            self._guillemets = character == "«"
        self._limit()
        return index + 1

    def _in_stop(self, text: str, index: int) -> int:
        """After a stop, and whatever closes after it."""
        here, character = self._at + index, text[index]
        if character in STOPS and not self._closed:
            if self._stop in DOTS:
                self._stop = "…" if character in DOTS else character
        elif is_picture(character) or (character in CLOSERS and not self._opens(character)):
            self._closed = True
            self._guillemets = self._guillemets and character != "»"
        elif character.isspace():
            return self._after_stop(character, index)
        elif character == "[" and self._stop not in WIDE:
            self._step = self._in_reference
        else:
            strong = self._stop in STRONG and is_ideographic(character)
            if self._stop in WIDE or strong or character in "¿¡":
                self._emit(self._cut)
            self._step = self._in_text
            return index
        self._mark(here, here + 1)
        self._cut = here + 1
        return index + 1

    def _in_reference(self, text: str, index: int) -> int:
        """A footnote's number, as in `so it is.[1]`."""
        character = text[index]
        if character == "]":
            self._step = self._in_stop
            return index
        if not (character.isdigit() or character in ",-"):
            self._step = self._in_text
            return index
        self._mark(self._at + index, self._at + index + 1)
        return index + 1

    def _after_stop(self, character: str, index: int) -> int:
        verdict = self._verdict if self._stop == "." else Verdict.ENDS
        if verdict is not Verdict.GOES_ON or self._closed:
            if self._stop not in WIDE and (self._closed or self._stop == "…" or self._guillemets):
                verdict = Verdict.ASK_CHARACTER
            if verdict is Verdict.ENDS or character == "\n":
                self._emit(self._cut)
            else:
                self._verdict, self._step = verdict, self._in_doubt
                return index + 1
        self._step = self._in_text
        return index

    def _in_doubt(self, text: str, index: int) -> int:
        """After a stop and a space, where what follows must tell."""
        character = text[index]
        if character.isspace() and character != "\n":
            return index + 1
        if character == "»" and self._guillemets:
            # French puts a space before it.
            self._step = self._in_stop
            return index
        begun = True if character == "\n" else begins(self._verdict, character)
        if begun is None:
            self._next, self._step = "", self._in_next_word
            return index
        if begun:
            self._emit(self._cut)
        self._step = self._in_text
        return index

    def _in_next_word(self, text: str, index: int) -> int:
        here, character = self._at + index, text[index]
        if character.isalpha() and len(self._next) < _MEMORY:
            self._next += character
            self._mark(here, here + 1)
            return index + 1
        if begins_with(self._next):
            self._emit(self._cut, lead=here - len(self._next))
        self._step = self._in_text
        return index

    def _end_line(self, index: int) -> int:
        self._code = False
        if self._kind == "heading":
            self._emit(self._ink)
        self._prefix, self._step = "", self._in_prefix
        return index + 1

    def _in_prefix(self, text: str, index: int) -> int:
        """At the beginning of a line, until it is clear what kind of line it is."""
        character = text[index]
        if character == "\n" and not self._prefix.strip():
            self._emit(self._ink)
            self._kind, self._prefix = "plain", ""
            return index + 1
        found = _LINE.match(self._prefix + character) if len(self._prefix) < _MEMORY else None
        if found is None:
            self._begin_line("plain", self._at + index)
            return index
        self._prefix += character
        if found["open"] is None:
            self._begin_line(found.lastgroup or "plain", self._at + index + 1)
        return index + 1

    def _begin_line(self, kind: str, here: int) -> None:
        indent = len(self._prefix) - len(self._prefix.lstrip())
        marker = self._prefix.strip()
        if kind == "plain" and self._kind == "item" and indent >= 2:
            kind = "item"
        elif (kind, self._kind) not in (("plain", "plain"), ("plain", "heading"), ("table", "table")):
            self._emit(self._ink)
        self._kind = kind
        if marker:
            self._mark(here - len(self._prefix) + indent, here)
        self._code = kind != "fence" and marker.count("`") % 2 == 1
        self._quotes += marker.count("*")
        self._step = self._in_text
        if kind == "table":
            self._step = self._in_row
        elif kind == "fence":
            self._fence, self._fence_line, self._step = marker[-3:], None, self._in_fence_head

    def _in_row(self, text: str, index: int) -> int:
        if run := _LINE_REST.match(text, index):
            self._ink = self._at + run.end()
            return run.end()
        return self._end_line(index)

    def _in_fence_head(self, text: str, index: int) -> int:
        """The line that opens a code block. With a backtick further on it is inline code after all."""
        character = text[index]
        if character == "\n":
            self._fence_line, self._step = "", self._in_fence
        elif character == self._fence[0] == "`" and self._fence_line is not None:
            self._kind, self._code, self._step = "plain", True, self._in_text
            return index
        elif character not in "`~":
            self._fence_line = ""
        self._ink = self._at + index + 1
        return index + 1

    def _in_fence(self, text: str, index: int) -> int:
        if self._fence_line is None:
            if run := _LINE_REST.match(text, index):
                return run.end()
            self._fence_line = ""
            return index + 1
        character = text[index]
        line = self._fence_line + character
        if character == "\n":
            self._fence_line = ""
        elif line.lstrip() == self._fence:
            self._ink, self._step = self._at + index + 1, self._in_fence_tail
        elif len(line) > _MEMORY or not self._fence.startswith(line.lstrip()):
            self._fence_line = None
        else:
            self._fence_line = line
        return index + 1

    def _in_fence_tail(self, text: str, index: int) -> int:
        """After what may close a code block: nothing else may stand on that line."""
        character = text[index]
        if character == "\n":
            self._kind = "plain"
            self._emit(self._ink)
            return self._end_line(index)
        if character == self._fence[0]:
            self._ink = self._at + index + 1
        elif not character.isspace():
            self._fence_line, self._step = None, self._in_fence
        return index + 1

    def _stays_whole(self, here: int) -> bool:
        """Whether stops count for nothing, in a heading or in a list item that is not too long for that."""
        return self._kind in ("item", "heading") and here - (self._lead or 0) < LONG_ITEM

    def _before(self, text: str, index: int) -> str:
        return text[index - 1] if index else self._recent[-1:]

    def _opens(self, character: str) -> bool:
        """Whether a mark that may open or close opens here: nothing is open, and no space is needed."""
        return self._stop in WIDE and character in '"*' and self._quotes % 2 == 0
