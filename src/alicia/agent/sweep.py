"""Finishes what dead agents left unfinished, where no user is in the room to see it."""

import asyncio
from collections.abc import Sequence
from typing import Final

import aiohttp
import structlog
from livekit import api

from alicia.engine.conversation import Conversation
from alicia.engine.services import Services
from alicia.errors import DatabaseUnavailable, NotFound, StandDown
from alicia.ids import ConversationId

log = structlog.get_logger(__name__)

SWEEP_SECONDS: Final = 3.0


class EmptyRoom:
    """Nobody is there; whoever comes back gets it all from the journal."""

    async def send(self, packet: bytes, to: Sequence[str]) -> None:
        """Nothing to do."""


async def sweep(services: Services, livekit: api.LiveKitAPI) -> None:
    """Forever. A room with a user in it gets an agent of its own, which finishes before their eyes."""
    while True:
        try:
            for conversation_id in await services.ledger.abandoned():
                if not await _has_user(livekit, conversation_id):
                    await finish(services, conversation_id)
        except (DatabaseUnavailable, api.TwirpError, aiohttp.ClientError, OSError) as error:
            log.warning("sweep put off", reason=type(error).__name__)
        await asyncio.sleep(SWEEP_SECONDS)


async def finish(services: Services, conversation_id: ConversationId) -> None:
    """Answer what is unanswered in one conversation, unless another agent is faster."""
    conversation = Conversation(conversation_id, services, EmptyRoom())
    try:
        async with asyncio.TaskGroup() as tasks:
            life = tasks.create_task(conversation.run())
            await conversation.drain()
            life.cancel()
    except* (StandDown, NotFound):
        log.info("conversation has another agent", conversation_id=conversation_id)


async def _has_user(livekit: api.LiveKitAPI, room: str) -> bool:
    try:
        answer = await livekit.room.list_participants(api.ListParticipantsRequest(room=room))
    except api.TwirpError as error:
        if error.code == api.TwirpErrorCode.NOT_FOUND:
            return False
        raise
    return any(each.kind == api.ParticipantInfo.Kind.STANDARD for each in answer.participants)
