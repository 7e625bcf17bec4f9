"""Everything that made a message, or a conversation: as JSON, as text, or as a page with the waterfall."""

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

from fastapi import Query, Response
from fastapi.responses import HTMLResponse, PlainTextResponse

from alicia.api import cursors
from alicia.api.calls import Calls, as_json, described
from alicia.api.conversations import ConversationId, owned
from alicia.api.cursors import Before, Limit, Numbered
from alicia.api.messages import MessageId, Trace, no_message
from alicia.api.problems import documented
from alicia.api.scope import Conn, User
from alicia.api.shapes import Page
from alicia.api.timeline_views import POLICY, as_page, as_text
from alicia.storage import messages as stored
from alicia.storage import traces
from alicia.storage.pool import Connection

routes = Calls("traces")

Format = Annotated[
    Literal["json", "text", "html"],
    Query(description="JSON; lines of text, event by event; or a page that needs nothing else."),
]
SNAPSHOT: Final = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
"""So that an answer that is under way is shown as it was at one moment."""


def _answers(kind: Any) -> dict[int | str, dict[str, Any]]:
    answer = described(kind)
    for media_type in ("text/plain", "text/html"):
        answer["content"][media_type] = {"schema": {"type": "string"}}
    return {200: answer, **documented(401, 404, 422, 503)}


@routes.get(
    "/messages/{message_id}/trace",
    summary="Read everything that made a message",
    response_class=Response,
    responses=_answers(Trace),
)
async def read_trace(message_id: MessageId, user: User, conn: Conn, format: Format = "json") -> Response:  # noqa: A002
    """Reasoning, tools, memories, sentences with timings, sound, notes, meta, and the journal's entries.

    As text or as a page, an answer comes with its question.
    """
    async with conn.transaction():
        await conn.execute(SNAPSHOT)
        found = await traces.trace(conn, user, message_id)
        if found is None:
            raise no_message()
        if format == "json":
            return as_json(Trace.of(found))
        turn = await _turn(conn, user, found)
    return _shown(format, message_id, [turn])


@routes.get(
    "/conversations/{conversation_id}/trace",
    summary="Read everything that made a conversation",
    response_class=Response,
    responses=_answers(Page[Trace]),
)
async def read_conversation_trace(
    conversation_id: ConversationId,
    user: User,
    conn: Conn,
    before: Before = None,
    limit: Limit = 20,
    format: Format = "json",  # noqa: A002
) -> Response:
    """The traces of its newest messages, oldest of them first; `next` leads to older ones."""
    place = cursors.decode(Numbered, before)
    async with conn.transaction():
        await conn.execute(SNAPSHOT)
        await owned(conn, user, conversation_id)
        page = await stored.history(
            conn, user, conversation_id, before=place and place.number, limit=limit, superseded=True
        )
        messages = page.messages if page else []
        found = [trace for each in messages if (trace := await traces.trace(conn, user, each.id))]
    if format == "json":
        next_page = cursors.encode(Numbered(page.next)) if page and page.next is not None else None
        return as_json(Page(items=[Trace.of(each) for each in found], next=next_page))
    return _shown(format, conversation_id, _turns(found))


async def _turn(conn: Connection, user: str, answer: traces.Trace) -> list[traces.Trace]:
    """An answer's trace after its question's."""
    asked_by = answer.message.previous_id if answer.message.message_role == "assistant" else None
    question = await traces.trace(conn, user, asked_by) if asked_by else None
    return [question, answer] if question else [answer]


def _turns(found: Sequence[traces.Trace]) -> list[list[traces.Trace]]:
    """Each question with the answers to it."""
    turns: dict[str, list[traces.Trace]] = {}
    for trace in found:
        message = trace.message
        asked_by = message.previous_id if message.message_role == "assistant" else None
        turns.setdefault(asked_by or message.id, []).append(trace)
    return list(turns.values())


def _shown(format: str, title: str, turns: list[list[traces.Trace]]) -> Response:  # noqa: A002
    if format == "text":
        return PlainTextResponse(as_text(turns))
    page = as_page(f"How {title} came about", turns)
    return HTMLResponse(page, headers={"Content-Security-Policy": POLICY})
