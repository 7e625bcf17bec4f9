"""Programs that talk through the SDK, as a user's own would."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import alicia
from alicia.client import Conversation
from support.stack import Stack


@asynccontextmanager
async def program(
    stack: Stack, user: str, conversation_id: str | None = None, **options: Any
) -> AsyncGenerator[Conversation]:
    """A conversation, opened anew or once more, that has caught up with its past."""
    settings: dict[str, Any] = {"token": stack.token(user), "store": ":memory:", "history": True, **options}
    async with alicia.connect(stack.url, conversation_id, **settings) as conversation:
        await conversation.caught_up()
        yield conversation
