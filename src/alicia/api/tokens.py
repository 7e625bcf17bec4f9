"""`POST /tokens`: a way into a conversation's room, with an agent in it."""

import re
import secrets
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from alicia import ids
from alicia.api.auth import Auth
from alicia.api.problems import Problem
from alicia.api.rooms import Rooms, browser_url
from alicia.errors import InvalidId
from alicia.ledger.lease import served
from alicia.storage.conversations import conversation
from alicia.storage.pool import Pool

DEVICE = re.compile(r"[A-Za-z0-9_.-]{1,64}\Z")


class Json(BaseModel):
    """camelCase outside, snake_case inside."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")


class TokenRequest(Json):
    """Without a conversation's id, a new conversation."""

    conversation_id: str | None = None
    device: str | None = Field(None, description="A name for this tab or program; made up when absent.")


class Token(Json):
    """Join `room` at `url` with `token`, as `identity`."""

    url: str
    token: str
    room: str
    conversation_id: str
    identity: str


def router(auth: Auth, pool: Pool) -> APIRouter:
    """The rooms are the application's, since they are opened in its loop."""
    routes = APIRouter()

    async def make_token(body: TokenRequest, request: Request, user: Annotated[str, Depends(auth)]) -> Token:
        rooms: Rooms = request.app.state.rooms
        device = body.device or secrets.token_hex(6)
        if not DEVICE.match(device):
            raise Problem(422, "device: use up to 64 of A-Z a-z 0-9 _ . -")
        alive = False
        if body.conversation_id is None:
            conversation_id = ids.new(ids.ConversationId)
        else:
            conversation_id = _parsed(body.conversation_id)
            async with pool.connection() as conn:
                found = await conversation(conn, user, conversation_id)
                if found is None or found.status == "deleted":
                    raise Problem(404, "There is no such conversation.")
                alive = (await served(conn, [conversation_id]))[conversation_id]
        await rooms.ensure(conversation_id, agent_is_alive=alive)
        identity = f"{user}:{device}"
        return Token(
            url=browser_url(rooms.url),
            token=rooms.token(conversation_id, identity),
            room=conversation_id,
            conversation_id=conversation_id,
            identity=identity,
        )

    routes.add_api_route("/tokens", make_token, methods=["POST"], status_code=201)
    return routes


def _parsed(text: str) -> ids.ConversationId:
    try:
        return ids.parse(ids.ConversationId, text)
    except InvalidId as error:
        raise Problem(422, f"conversationId: {error}") from None
