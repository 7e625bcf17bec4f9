"""Errors that say whose fault it is and what to do about it."""

from enum import IntEnum
from urllib.parse import urlsplit


class AliciaError(Exception):
    """The base of every error that Alicia raises on purpose; its text is a sentence for a person."""


class InvalidId(AliciaError, ValueError):
    """An id from outside has the wrong form."""


class ErrorCode(IntEnum):
    """What an ErrorMessage's `code` means."""

    MALFORMED = 101
    UNKNOWN_TYPE = 102
    STANZA = 103
    INVALID_FIELD = 104
    TOO_LARGE = 105
    NOT_FOUND = 201
    WRONG_STATE = 202
    UNKNOWN_TOOL = 301
    INVALID_PARAMETERS = 302
    TOOL_FAILED = 303
    TOOL_TIMEOUT = 304
    TOO_MANY = 429
    INTERNAL = 501
    UNAVAILABLE = 503


class RemoteProtocolError(AliciaError):
    """The peer broke the protocol: answer it with an ErrorMessage, and go on.

    The stanza ids are those of the offending envelope as far as they could be read; `next_stanza_id` is the
    number to use instead.
    """

    def __init__(
        self,
        code: ErrorCode,
        message: str,
        *,
        stanza_id: int | None = None,
        previous_stanza_id: int | None = None,
        next_stanza_id: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.stanza_id = stanza_id
        self.previous_stanza_id = previous_stanza_id
        self.next_stanza_id = next_stanza_id


class LocalProtocolError(AliciaError):
    """Our own side asked for something that the protocol does not allow: a bug here."""


class ConfigError(AliciaError):
    """The operator must change a setting; the message names the variable."""


class ModelUnavailable(AliciaError):
    """A model did not answer; trying again later may help.

    What its server `said` of that is for the user, whose prompt it may quote. Logs get the `reason` alone.
    """

    def __init__(self, reason: str, said: str | None = None) -> None:
        super().__init__(reason if said is None else f"{reason} It said: {said}")
        self.reason = reason


class DatabaseUnavailable(AliciaError):
    """PostgreSQL did not answer; trying again later may help."""


class NotFound(AliciaError):
    """No such thing, or not this user's: the two are never told apart."""


class StandDown(AliciaError):
    """Another agent owns this conversation now: stop writing to it at once."""


def without_password(url: str) -> str:
    """The address as it may be shown."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
