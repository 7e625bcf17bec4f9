"""How many messages a user may send to this worker: far more than anybody types.

A program that has lost its way must not drown the model that others wait for.
"""

from math import ceil
from typing import Final

from alicia.errors import ErrorCode, RemoteProtocolError
from alicia.protocol.bucket import Buckets
from alicia.protocol.envelope import Envelope
from alicia.protocol.messages import ControlVariation, UserMessage, UserNote
from alicia.protocol.session import AgentSession

RATE: Final = 20.0
"""A second, in the long run."""
BURST: Final = 300
"""At once."""


class Allowance:
    """Counts what is stored for each user."""

    def __init__(self) -> None:
        self._buckets = Buckets(RATE, BURST)

    def count(self, owner: str, session: AgentSession, accepted: Envelope, now: float) -> None:
        """RemoteProtocolError if this is one too many: then its sender sends it again after a while."""
        if not isinstance(accepted.body, UserMessage | ControlVariation | UserNote):
            return
        if seconds := self._buckets.take(owner, now):
            session.release(accepted)
            wait = f"that was too much at once; send it again in {ceil(seconds)} s"
            raise RemoteProtocolError(ErrorCode.TOO_MANY, wait)
