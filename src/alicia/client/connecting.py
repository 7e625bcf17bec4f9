"""`alicia.connect`: the way into a conversation."""

import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, asynccontextmanager, closing
from importlib.metadata import PackageNotFoundError, version
from os import PathLike, fspath
from typing import Any

from alicia import ids
from alicia.client.access import Door, Token
from alicia.client.conversation import Conversation
from alicia.client.store import Store
from alicia.client.tools import Tools
from alicia.errors import AliciaError

_DEVICE = re.compile(r"[A-Za-z0-9_.-]{1,64}\Z")


@asynccontextmanager
async def connect(
    server: str = "http://127.0.0.1:8080",
    conversation_id: str | None = None,
    *,
    device: str | None = None,
    token: Token = None,
    store: str | PathLike[str] | None = None,
    history: bool = False,
    features: Sequence[str] = ("streaming",),
    language: str | None = None,
    preferences: dict[str, Any] | None = None,
    tools: Tools | None = None,
) -> AsyncGenerator[Conversation]:
    """Open a new conversation, or one that exists, and stay connected inside the block.

    A server that can't be reached is no error: what is sent waits. NotFound, Forbidden and StoreError are
    raised at once. Messages that an earlier program could not send before it ended go out first; with
    no `conversation_id`, those of a conversation that no agent has opened yet, which then is this one.

    `device` names this program among the user's; by default it has a name of its own for each conversation.
    `token` is the bearer token of a server that asks for one, or a function that gives a fresh one. `store`
    is the folder where cursor and outbox are kept (":memory:" keeps nothing; the default is the user's data
    folder). With `history` the whole log is replayed and kept in `conversation.log`; without, the
    conversation goes on where this device left off, or at its end. `features`, `language` and
    `preferences` go into the Configuration. `tools` are functions that the agent may have called here.
    """
    if conversation_id is not None:
        conversation_id = ids.parse(ids.ConversationId, conversation_id)
    if device is not None and not _DEVICE.match(device):
        raise AliciaError(f"A device's name has up to 64 of A-Z a-z 0-9 _ . -, not {device!r:.80}.")
    folder = None if store is None else fspath(store)
    with closing(Store.open(folder, server, conversation_id)) as kept:
        settings: dict[str, Any] = {
            "device": device or kept.state.device,
            "features": list(features),
            "client_version": _version(),
            "preferred_language": language,
            "preferences": preferences,
        }
        async with aclosing(Door(server, token)) as door:
            conversation = Conversation(door, kept, conversation_id, settings, history, tools)
            async with conversation.running():
                yield conversation


def _version() -> str:
    try:
        return f"alicia-python/{version('alicia')}"
    except PackageNotFoundError:
        return "alicia-python"
