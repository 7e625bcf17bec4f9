"""What the SDK raises: sentences for a person, and the agent's own words where it gave some."""

from alicia.errors import AliciaError
from alicia.protocol.messages import Body, ErrorMessage


class Closed(AliciaError):
    """The conversation was closed here while something waited for it."""


class Forbidden(AliciaError):
    """The server wants a bearer token, or another one."""


class InvalidMessage(AliciaError, ValueError):
    """The agent would refuse this body, so it was not sent."""


class Unavailable(AliciaError):
    """The server can't be reached now; the connection tries again by itself."""


class StoreError(AliciaError):
    """The local file that keeps cursor and outbox can't be used."""


class Refused(AliciaError):
    """The agent took something and said no; `error` is its answer, and nothing more comes."""

    def __init__(self, error: ErrorMessage) -> None:
        super().__init__(error.message)
        self.error = error


class Erased(AliciaError):
    """The message or its answer was erased before the answer could be followed to its end."""


class Superseded(AliciaError):
    """An earlier message was edited or answered again before this one's turn came: it gets no answer."""


class AnswerFailed(AliciaError):
    """An answer broke off; `text` is what had been said."""

    def __init__(self, reason: str, text: str, closing: Body) -> None:
        super().__init__(reason)
        self.text = text
        self.closing = closing
