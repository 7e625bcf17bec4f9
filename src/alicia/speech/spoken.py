"""What a voice says for a written sentence: no code, tables, addresses, signs of Markdown or emoji."""

import re
import unicodedata
from typing import Final

from alicia.speech.measures import said

_FENCE: Final = re.compile(r"^\s*(```|~~~)", re.MULTILINE)
_TABLE_ROW: Final = re.compile(r"^\s*\|.*\|\s*$|^\s*:?-{3,}:?\s*(\|\s*:?-{3,}:?\s*)+$")
_RULE: Final = re.compile(r"^\s*([-*_]\s*){3,}$", re.MULTILINE)
_IMAGE: Final = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_LINK: Final = re.compile(r"\[([^\]]+)\]\(([^)\s]+)[^)]*\)")
_ADDRESS: Final = re.compile(
    r"<?\b(?:https?://|www\.)([^\s/<>()\[\]]+)(?:/[^\s<>()\[\]]*)?(?<![.,;:!?])>?", re.IGNORECASE
)
_MAIL: Final = re.compile(r"\b([\w.+-]+)@([\w-]+(?:\.[\w-]+)+)\b")
_TAG: Final = re.compile(r"</?[a-zA-Z][^<>]*>")
_HEADING: Final = re.compile(r"^\s*#{1,6}\s+(.*?)\s*#*\s*$", re.MULTILINE)
_QUOTE: Final = re.compile(r"^\s*(?:>\s?)+", re.MULTILINE)
_BULLET: Final = re.compile(r"^\s*[-*+•]\s+(?:\[[ xX]\]\s+)?", re.MULTILINE)
_NUMBERED: Final = re.compile(r"^\s*(\d{1,3})[.)]\s+", re.MULTILINE)
_CODE: Final = re.compile(r"`+([^`]*)`+")
_EMPHASIS: Final = re.compile(r"(\*{1,3}|~~|(?<!\w)_{1,3}|_{1,3}(?!\w))")
_MATHS: Final = re.compile(r"\${1,2}([^$\d][^$]*)\${1,2}|\\[\[\]()]")
_SPACES: Final = re.compile(r"[ \t\u00a0]+")
_LINES: Final = re.compile(r"\s*\n\s*")
_WORDS: Final = re.compile(r"\w")

_CODE_SHOWN: Final = {"en": "The code is on the screen.", "de": "Der Code steht auf dem Bildschirm."}
_TABLE_SHOWN: Final = {"en": "The table is on the screen.", "de": "Die Tabelle steht auf dem Bildschirm."}
_DOT: Final = {"en": " dot ", "de": " Punkt "}
_AT: Final = {"en": " at ", "de": " ät "}


class Reader:
    """Reads the sentences of one answer in their order: a block of code or a table may span several."""

    def __init__(self, language: str | None = None) -> None:
        self.settle(language)
        self._in_code = False
        self._in_table = False

    def settle(self, language: str | None) -> None:
        """Read in this language from now on."""
        code = (language or "en").split("-")[0].lower()
        self._language = code if code in _CODE_SHOWN else "en"
        self._measured = code

    def read(self, text: str) -> str:
        """The words to say for this sentence; empty when there is nothing in it to be said."""
        pieces: list[str] = []
        for line in text.splitlines():
            if spoken := self._line(line):
                pieces.append(spoken)
        words = self._plain("\n".join(pieces))
        return words if _WORDS.search(words) else ""

    def _line(self, line: str) -> str:
        if _FENCE.match(line):
            self._in_code = not self._in_code
            return _CODE_SHOWN[self._language] if self._in_code else ""
        if self._in_code:
            return ""
        if _TABLE_ROW.match(line):
            first, self._in_table = not self._in_table, True
            return _TABLE_SHOWN[self._language] if first else ""
        if line.strip():
            self._in_table = False
        return line

    def _plain(self, text: str) -> str:
        text = _RULE.sub("", text)
        text = _IMAGE.sub(r"\1", text)
        text = _LINK.sub(self._link, text)
        text = _ADDRESS.sub(lambda found: self._host(found[1]), text)
        text = _MAIL.sub(lambda found: f"{found[1]}{_AT[self._language]}{self._host(found[2])}", text)
        text = _TAG.sub("", text)
        text = _HEADING.sub(_sentence, text)
        text = _BULLET.sub("", _QUOTE.sub("", text))
        text = _NUMBERED.sub(r"\1: ", text)
        text = _CODE.sub(r"\1", text)
        text = _MATHS.sub(r"\1", text)
        text = _EMPHASIS.sub("", text)
        text = "".join(character for character in text if not _is_picture(character))
        text = said(text, self._measured)
        return _SPACES.sub(" ", _LINES.sub("\n", text)).strip()

    def _link(self, found: re.Match[str]) -> str:
        shown = found[1]
        return self._host(found[2].split("//")[-1].split("/")[0]) if "://" in shown else shown

    def _host(self, host: str) -> str:
        return host.removeprefix("www.").split(":")[0].replace(".", _DOT[self._language])


def _sentence(found: re.Match[str]) -> str:
    """A heading is said like a sentence."""
    title = found[1]
    return title if title[-1:] in ".!?:…" else f"{title}."


def _is_picture(character: str) -> bool:
    """An emoji or another drawn sign, or what joins such signs."""
    if character in "\u200d\ufe0f\ufe0e\u20e3":
        return True
    return unicodedata.category(character) in ("So", "Sk", "Co", "Cs") and character not in "°©®^`¨´"
