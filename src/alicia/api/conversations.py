"""`/conversations`: a user's own, listed, searched, renamed, put away and erased."""

from typing import Annotated, Any, Literal

from fastapi import Path, Query, Response
from pydantic import ConfigDict, Field

from alicia import ids
from alicia.api import cursors
from alicia.api.calls import Calls
from alicia.api.cursors import Before, Limit, Place, Ranked
from alicia.api.problems import Problem, documented
from alicia.api.scope import Conn, Shared, User, Writer
from alicia.api.shapes import NO_NUL, Answer, FreeMap, Json, Moment, Page, shown
from alicia.storage import conversations as stored
from alicia.storage.found import FoundConversation, find_conversations, is_erased
from alicia.storage.pool import Connection

routes = Calls("conversations")

ConversationId = Annotated[str, Path(pattern=f"^{ids.pattern(ids.ConversationId)}$")]
LONGEST_TITLE = 2_000
"""As long as the protocol lets it be."""


class Snippet(Answer, frozen=True, kw_only=True):
    """Where the words of a search are."""

    message_id: str
    text: str


class Conversation(Answer, frozen=True, kw_only=True):
    """A conversation without its messages."""

    id: Annotated[str, shown("ac_V1StGXR8_Z5jdHi6B-myT")]
    title: Annotated[str, shown("A walk in the Alps")]
    status: Literal["active", "archived", "deleted"]
    preferences: dict[str, Any]
    last_client_stanza_id: int
    last_server_stanza_id: int
    created_at: Moment
    updated_at: Moment
    snippet: Annotated[Snippet | None, shown(about="With `query`: the message that fits best.")] = None


class ConversationChange(Json):
    """What is left out stays as it is; `preferences` are replaced as a whole."""

    title: str | None = Field(default=None, max_length=LONGEST_TITLE, pattern=NO_NUL)
    status: Literal["active", "archived"] | None = None
    preferences: FreeMap | None = None

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"title": "A walk in the Alps", "status": "archived"}]}
    )


async def owned(conn: Connection, user: str, conversation_id: str) -> stored.Conversation:
    """The conversation, or Problem 404: other people's and erased ones are not there."""
    found = await stored.conversation(conn, user, conversation_id)
    if found is None or (found.status == "deleted" and await is_erased(conn, conversation_id)):
        raise Problem(404, "There is no such conversation.")
    return found


@routes.get("/conversations", summary="List or search conversations", responses=documented(401, 422, 503))
async def list_conversations(
    user: User,
    conn: Conn,
    status: Literal["active", "archived", "deleted"] | None = None,
    query: Annotated[
        str, Query(max_length=1_000, pattern=NO_NUL, description="Words of titles and messages.")
    ] = "",
    before: Before = None,
    limit: Limit = 50,
) -> Page[Conversation]:
    """Latest activity first, or with `query` the best fit first. Deleted ones only by `status=deleted`."""
    if query.strip():
        return await _search(conn, user, query, status, before, limit)
    place = cursors.decode(Place, before)
    found = await stored.conversations(conn, user, status=status, before=place and place.key, limit=limit + 1)
    page = found[:limit]
    kept = page if status != "deleted" else [each for each in page if not await is_erased(conn, each.id)]
    return Page(
        items=[Conversation.of(each) for each in kept],
        next=cursors.encode(Place(page[-1].updated_at, page[-1].id)) if len(found) > limit else None,
    )


async def _search(
    conn: Connection, user: str, query: str, status: stored.Status | None, before: str | None, limit: int
) -> Page[Conversation]:
    place = cursors.decode(Ranked, before)
    found = await find_conversations(
        conn, user, query, status=status, before=place and (place.rank, place.id), limit=limit + 1
    )
    page = found[:limit]
    return Page(
        items=[_with_snippet(each) for each in page],
        next=cursors.encode(Ranked(page[-1].rank, page[-1].id)) if len(found) > limit else None,
    )


def _with_snippet(found: FoundConversation) -> Conversation:
    snippet = Snippet(message_id=found.message_id, text=found.snippet or "") if found.message_id else None
    fields = {name: getattr(found, name) for name in Conversation.__struct_fields__ if name != "snippet"}
    return Conversation(**fields, snippet=snippet)


@routes.get(
    "/conversations/{conversation_id}",
    summary="Read a conversation",
    responses=documented(401, 404, 422, 503),
)
async def read_conversation(conversation_id: ConversationId, user: User, conn: Conn) -> Conversation:
    """Title, status, preferences, and where its journal stands."""
    return Conversation.of(await owned(conn, user, conversation_id))


@routes.patch(
    "/conversations/{conversation_id}",
    summary="Change a conversation",
    responses=documented(401, 404, 413, 422, 429, 503),
)
async def change_conversation(
    conversation_id: ConversationId, change: ConversationChange, user: Writer, conn: Conn
) -> Conversation:
    """Set its title, status or preferences. Devices in the conversation hear of it within a second."""
    await owned(conn, user, conversation_id)
    changed = await stored.update_conversation(
        conn,
        user,
        conversation_id,
        title=change.title,
        status=change.status,
        preferences=change.preferences,
    )
    return Conversation.of(changed)


@routes.delete(
    "/conversations/{conversation_id}",
    status_code=204,
    response_class=Response,
    summary="Delete or erase a conversation",
    responses=documented(401, 404, 422, 429, 503),
)
async def delete_conversation(
    conversation_id: ConversationId,
    user: Writer,
    conn: Conn,
    shared: Shared,
    erase: Annotated[
        bool, Query(description="Really: nothing of it remains, and nothing brings it back.")
    ] = False,
) -> None:
    """Put it away as deleted, from where setting its status brings it back; or erase it for good."""
    await owned(conn, user, conversation_id)
    if erase:
        await shared.ledger.erase_conversation(user, conversation_id)
    else:
        await stored.update_conversation(conn, user, conversation_id, status="deleted")
