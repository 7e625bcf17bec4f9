"""The Python SDK: connect, ask, resume."""

from alicia.client.answer import Answer
from alicia.client.branches import Branch, Said
from alicia.client.connecting import connect
from alicia.client.conversation import Conversation
from alicia.client.errors import (
    AnswerFailed,
    Closed,
    Erased,
    Forbidden,
    InvalidMessage,
    Refused,
    StoreError,
    Superseded,
    Unavailable,
)
from alicia.client.events import Event, LogRestarted, State, StateChange
from alicia.client.tools import ClientTool
from alicia.errors import AliciaError, NotFound

__all__ = [
    "AliciaError",
    "Answer",
    "AnswerFailed",
    "Branch",
    "ClientTool",
    "Closed",
    "Conversation",
    "Erased",
    "Event",
    "Forbidden",
    "InvalidMessage",
    "LogRestarted",
    "NotFound",
    "Refused",
    "Said",
    "State",
    "StateChange",
    "StoreError",
    "Superseded",
    "Unavailable",
    "connect",
]
