"""Finishes what dead agents left unfinished, where no user is in the room to see it."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Final

import aiohttp
import msgspec
import psycopg
import structlog
from livekit import api
from psycopg_pool import PoolTimeout

from alicia.engine.conversation import Conversation
from alicia.engine.services import Services
from alicia.errors import DatabaseUnavailable, NotFound, StandDown
from alicia.ids import ConversationId
from alicia.ledger.ledger import Ledger
from alicia.storage.lessons import left_unlearned

log = structlog.get_logger(__name__)

SWEEP_SECONDS: Final = 3.0
LESSONS_SECONDS: Final = 15.0
LESSONS: Final = 5
"""How many conversations are learned from in one round."""
TRIES: Final = 3
"""How often a worker tries to learn from one that is never done."""
LONGEST: Final = 300.0
"""For how many seconds it may hold one."""
UNREACHABLE: Final = (
    DatabaseUnavailable,
    psycopg.OperationalError,
    PoolTimeout,
    api.TwirpError,
    aiohttp.ClientError,
    OSError,
)
"""What is raised while PostgreSQL or LiveKit is away."""


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
        except UNREACHABLE as error:
            log.warning("sweep put off", reason=type(error).__name__)
        await asyncio.sleep(SWEEP_SECONDS)


async def sweep_lessons(services: Services, livekit: api.LiveKitAPI, agent_id: str) -> None:
    """Forever: learn what is left to learn in conversations that nobody has open.

    A crash leaves some, and so does a worker that is told to stop. `agent_id` is this work's own: a job of
    the same worker must not take its lease for its own.
    """
    tries: Counter[ConversationId] = Counter()
    while True:
        given_up = [each for each, count in tries.items() if count >= TRIES]
        try:
            async with services.pool.connection() as conn:
                left = await left_unlearned(conn, limit=LESSONS, besides=given_up)
            # Whatever is not left any more was learned: what is given up is only what fails again and again.
            tries = Counter({each: count for each, count in tries.items() if each in (*left, *given_up)})
            for conversation_id in left:
                tries[conversation_id] += 1
                await _learn(services, livekit, conversation_id, agent_id)
        except UNREACHABLE as error:
            log.warning("lessons put off", reason=type(error).__name__)
        await asyncio.sleep(LESSONS_SECONDS)


async def _learn(
    services: Services, livekit: api.LiveKitAPI, conversation_id: ConversationId, agent_id: str
) -> None:
    """What a pause does, in one conversation without a user, until it is done or a user comes."""
    own = msgspec.structs.replace(services, ledger=Ledger(services.pool, agent_id))
    conversation = Conversation(conversation_id, own, EmptyRoom())
    try:
        async with asyncio.TaskGroup() as tasks:
            life = tasks.create_task(conversation.run())
            async with asyncio.timeout(LONGEST):
                await conversation.drain()
                while conversation.busy and not await _has_user(livekit, conversation_id):
                    await asyncio.wait([life], timeout=1.0)
            life.cancel()
    except* (StandDown, NotFound, *UNREACHABLE):
        log.info("lessons left", conversation_id=conversation_id)


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
