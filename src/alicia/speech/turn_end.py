"""How long a silence must be to end somebody's turn, from the words that came before it.

LiveKit's model judges the sound of the last second alone. A voice may fall in the middle of a sentence, and a
microphone that cuts off what it takes for noise cuts off the voice's fall as well; the words know better.
"""

from typing import Final, Literal

from livekit.agents import AgentSession, stt
from livekit.agents.voice.turn import EndpointingOptions

from alicia.speech.recogniser import words

USUAL: Final[EndpointingOptions] = {"min_delay": 0.3, "max_delay": 2.5}
"""Seconds of silence when the sound says that the turn is over, and when it does not: LiveKit's own."""
WHOLE: Final[EndpointingOptions] = {"min_delay": 0.3, "max_delay": 1.2}
OPEN: Final[EndpointingOptions] = {"min_delay": 1.5, "max_delay": 2.5}

Ending = Literal["open", "whole", "unknown"]

_STOPS: Final = (".", "!", "?", "。", "！", "？", "؟", "।")
_OPENING: Final = frozenset(
    words(
        "a an the my your our their every some and or but nor because although unless whether if than of to "
        "from with into onto between during without i we he she they i'm we're they're you're he's she's i'd "
        "i'll we'll very um uh er erm"
    )
)
"""Words that hardly ever end what somebody has to say."""


def ending(text: str) -> Ending:
    """Whether more must follow these words, or need not; recognisers set full stops too freely to tell."""
    text = text.rstrip("\"'”’» ")
    said = words(text)
    if not said:
        return "unknown"
    if said[-1] in _OPENING and not text.endswith("?"):
        return "open"
    return "whole" if text.endswith(_STOPS) else "unknown"


def heed(session: AgentSession[None], event: stt.SpeechEvent) -> None:
    """Have a session wait as long as its newest words ask for."""
    if event.type == stt.SpeechEventType.INTERIM_TRANSCRIPT or not event.alternatives[0].text:
        return
    delays = {"open": OPEN, "whole": WHOLE, "unknown": USUAL}[ending(event.alternatives[0].text)]
    session.update_options(endpointing_opts=delays)
