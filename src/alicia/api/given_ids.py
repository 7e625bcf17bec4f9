"""Ids of new conversations, each sealed for its user, so that nothing is stored before one is opened."""

import hmac
from base64 import urlsafe_b64encode
from typing import Final

from alicia import ids

SEAL: Final = 6
"""How many characters at an id's end are made of the rest and its user. Whoever guesses these 36 bits gets no
more than an id of their own choice; the 90 random ones before them keep any two ids from being the same."""


class GivenIds:
    """Gives ids and knows them again. Servers with the same secret know each other's."""

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()

    def make(self, user: str) -> ids.ConversationId:
        """The id of a conversation that this user may open, now or at any time."""
        return self._sealed(user, ids.new(ids.ConversationId)[:-SEAL])

    def knows(self, user: str, conversation_id: ids.ConversationId) -> bool:
        """Whether this user was given this id."""
        return hmac.compare_digest(conversation_id, self._sealed(user, conversation_id[:-SEAL]))

    def _sealed(self, user: str, begun: str) -> ids.ConversationId:
        # LiveKit's tokens, for which the secret is there in the first place, never begin like an id.
        seal = hmac.digest(self._secret, f"{begun}:{user}".encode(), "sha256")
        return ids.ConversationId(begun + urlsafe_b64encode(seal).decode()[:SEAL])
