"""What a spoken turn with Alicia is made of, from what she stores of it and from the client's clock.

Each part is what the user waits for it after the last word: work that is done while the end of the turn is
still uncertain costs nothing until that is over, so the parts add up to the whole.
"""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

PARTS = ("end-of-turn wait", "speech to text", "recall", "first token", "first sentence", "voice", "network")
SHORTEST = 0.3
"""Seconds of silence that end a turn at the earliest: words that are known by then kept nobody waiting."""


@dataclass
class Turn:
    """One turn; seconds after the last word, by the clock that client and agent share."""

    known: float
    """The words were recognised."""
    sure: float
    """The turn was over."""
    asked: float
    """Memories were recalled, and the model began."""
    token: float
    """Its first token came."""
    sentence: float
    """The first sentence was stored."""
    sounded: float
    """Its sound was on its way."""
    total: float
    """It was heard."""
    recognition: float
    """How long recognising took."""
    hushed: float
    """From asking for silence to the last sound."""
    cut: int
    """How many times the turn was taken for over when it was not."""

    def as_map(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def parts(self) -> tuple[float, ...]:
        """In the order of `PARTS`; they add up to the total."""
        late = min(max(0.0, self.known - SHORTEST), self.sure)
        found, reached = [self.sure - late, late], self.sure
        for moment in (self.asked, self.token, self.sentence, self.sounded, self.total):
            found.append(max(0.0, moment - reached))
            reached = max(reached, moment)
        return tuple(found)

    @property
    def work(self) -> dict[str, float]:
        """How long things took, hidden or not."""
        return {
            "recognising the words": self.recognition,
            "from the words to the model's question, recall included": self.asked - self.known,
            "the model's first token": self.token - self.asked,
            "the first sentence's sound, once wanted": self.sounded - self.sentence,
        }


def turn(ended: float, first: float, hushed: float, cut: int, question: Any, answer: Any) -> Turn:
    """A turn from the traces of its two messages; `ended` and `first` are seconds since the epoch."""
    heard = question["audio"][0]["transcriptionMeta"]
    said = min(answer["sentences"], key=lambda each: each["sequence"])["meta"]
    wait = answer["waits"][0]
    moments = {
        "known": heard["knownAt"],
        "sure": heard["sureAt"],
        "asked": wait["askedAt"],
        "token": wait["firstTokenAt"],
        "sentence": said["wantedAt"],
        "sounded": said["soundedAt"],
    }
    after = {name: _seconds(moment) - ended for name, moment in moments.items()}
    return Turn(**after, total=first - ended, recognition=heard["tookMs"] / 1e3, hushed=hushed, cut=cut)


def _seconds(moment: str) -> float:
    found = datetime.fromisoformat(moment)
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
