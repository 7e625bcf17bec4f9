"""Reads documents: text, Markdown, HTML and PDF, from their bytes."""

import io
from html.parser import HTMLParser
from pathlib import PurePath
from typing import Final

from alicia.errors import AliciaError
from alicia.memory.splitting import Block, Piece, markdown, paragraphs, pieces

_TEXT: Final = frozenset({".txt", ".text", ".log", ".rst"})
_MARKDOWN: Final = frozenset({".md", ".markdown"})
_HTML: Final = frozenset({".html", ".htm", ".xhtml"})
READABLE: Final = _TEXT | _MARKDOWN | _HTML | {".pdf"}
"""The endings of files that can be read."""


class UnreadableDocument(AliciaError):
    """A document that cannot be read; the text says why."""


def read_document(name: str, data: bytes) -> list[Piece]:
    """The pieces of a document, in order; its kind is told by the ending of its name."""
    ending = PurePath(name).suffix.lower()
    if ending == ".pdf":
        return pieces(_pdf(name, data))
    if ending not in READABLE:
        known = ", ".join(sorted(READABLE))
        raise UnreadableDocument(f"{name} is of a kind that cannot be read: only {known} can.")
    text = _decode(name, data)
    if ending in _MARKDOWN:
        return pieces(markdown(text))
    return pieces(_html(text) if ending in _HTML else paragraphs(text))


def _decode(name: str, data: bytes) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", errors="replace")
    if "\0" in text:
        raise UnreadableDocument(f"{name} is not text.")
    return text


def _pdf(name: str, data: bytes) -> list[Block]:
    # Only who imports a PDF needs the library, which takes a moment to load.
    from pypdf import PdfReader

    try:
        pages = PdfReader(io.BytesIO(data)).pages
        texts = [page.extract_text() for page in pages]
    except Exception as error:  # whatever a damaged file makes of the library's assumptions
        raise UnreadableDocument(f"{name} is a damaged or locked PDF: {error}") from error
    return [
        block
        for number, text in enumerate(texts, 1)
        for block in paragraphs(text.replace("\0", " "), page=number)
    ]


def _html(text: str) -> list[Block]:
    reader = _Reader()
    reader.feed(text)
    reader.close()
    return reader.blocks()


class _Reader(HTMLParser):
    """Collects paragraphs under their headings; leaves out what is not read: scripts, styles, navigation."""

    _HIDDEN: Final = frozenset({"script", "style", "template", "noscript", "nav", "head", "svg", "form"})
    _HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
    _INLINE: Final = frozenset(
        {
            "a",
            "b",
            "i",
            "em",
            "strong",
            "span",
            "code",
            "small",
            "sub",
            "sup",
            "mark",
            "abbr",
            "q",
            "u",
            "s",
            "br",
        }
    )

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._blocks: list[Block] = []
        self._path: list[str] = []
        self._words: list[str] = []
        self._hidden = 0
        self._heading: int | None = None

    def blocks(self) -> list[Block]:
        self._flush()
        return self._blocks

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in self._HIDDEN:
            self._hidden += 1
        if tag not in self._INLINE:
            self._flush()
        self._heading = self._HEADINGS.get(tag, self._heading)
        if tag == "br":
            self._words.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag not in self._INLINE:
            self._flush()
        if tag in self._HIDDEN:
            self._hidden = max(0, self._hidden - 1)
        if tag in self._HEADINGS:
            self._heading = None

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self._words.append(data)

    def _flush(self) -> None:
        text = " ".join("".join(self._words).split())
        self._words.clear()
        if not text:
            return
        if self._heading is None:
            self._blocks.append(Block(text, " > ".join(filter(None, self._path)) or None))
        else:
            level = self._heading
            self._path[level - 1 :] = [""] * (level - 1 - len(self._path)) + [text]
