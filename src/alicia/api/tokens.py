"""`POST /tokens`: a way into a conversation's room, with an agent in it."""

import secrets
from typing import Annotated

import aiohttp
import structlog
from livekit import api
from pydantic import Field

from alicia import ids
from alicia.api.calls import Calls
from alicia.api.problems import Problem, documented
from alicia.api.rooms import browser_url
from alicia.api.scope import Services, Shared, User
from alicia.api.shapes import Answer, Json, shown
from alicia.ledger.lease import served
from alicia.storage.conversations import conversation

log = structlog.get_logger(__name__)
routes = Calls("tokens")

Device = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,64}$", examples=["kitchen"])]


class TokenRequest(Json):
    """Without a conversation's id, a new conversation."""

    conversation_id: Annotated[str, Field(pattern=f"^{ids.pattern(ids.ConversationId)}$")] | None = None
    device: Device | None = Field(
        default=None, description="A name for this tab or program; made up when absent."
    )


class Token(Answer, frozen=True, kw_only=True):
    """Join `room` at `url` with `token`, as `identity`."""

    url: Annotated[str, shown("wss://livekit.example.org")]
    token: str
    room: str
    conversation_id: str
    identity: Annotated[str, shown("maria:kitchen")]


@routes.post(
    "/tokens",
    status_code=201,
    summary="Enter a conversation",
    responses=documented(401, 404, 413, 422, 429, 503),
)
async def make_token(wanted: TokenRequest, user: User, shared: Shared) -> Token:
    """A short-lived token for one room and one device. An agent is on its way into that room.

    A new conversation's id is good from then on, also if it was left before anything was stored in it.
    """
    shared.limits.tokens.take(user)
    device = wanted.device or secrets.token_hex(6)
    if wanted.conversation_id is None:
        conversation_id, alive = shared.rooms.given.make(user), False
    else:
        conversation_id = ids.parse(ids.ConversationId, wanted.conversation_id)
        alive = await _is_served(shared, user, conversation_id)
    await _ensure(shared, conversation_id, alive)
    identity = f"{user}:{device}"
    return Token(
        url=browser_url(shared.rooms.url),
        token=shared.rooms.token(conversation_id, identity),
        room=conversation_id,
        conversation_id=conversation_id,
        identity=identity,
    )


async def _is_served(shared: Services, user: str, conversation_id: ids.ConversationId) -> bool | None:
    """Whether it has a living agent, None if nobody has opened it yet; Problem 404 if not this user's."""
    async with shared.pool.connection() as conn:
        leases = await served(conn, [conversation_id])
        found = await conversation(conn, user, conversation_id)
    if found is None:
        there = conversation_id not in leases and shared.rooms.given.knows(user, conversation_id)
    else:
        there = found.status != "deleted"
    if not there:
        raise Problem(404, "There is no such conversation.")
    return leases.get(conversation_id)


async def _ensure(shared: Services, room: str, alive: bool | None) -> None:
    try:
        await shared.rooms.ensure(room, agent_is_alive=alive)
    except (api.TwirpError, aiohttp.ClientError, TimeoutError, OSError) as error:
        log.warning("LiveKit away", reason=type(error).__name__)
        raise Problem(
            503, "LiveKit does not answer; try again in a moment.", headers={"Retry-After": "2"}
        ) from error
