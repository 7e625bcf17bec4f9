"""Bare FastAPI handlers: the same SQL and the same JSON; no callers, no checks, no limits."""

from typing import Any

import msgspec
from fastapi import FastAPI, Response

from alicia.api.conversations import Conversation, Snippet
from alicia.api.cursors import Place, Ranked, encode
from alicia.api.memories import Memory
from alicia.api.messages import History, Message, Trace
from alicia.api.shapes import Page
from alicia.api.tools import Tool
from alicia.storage import conversations, found, memories, messages, tools, traces
from alicia.storage.pool import Pool
from http_reads.rows import OWNER

_encode = msgspec.json.Encoder().encode


def sent(answer: Any) -> Response:
    return Response(_encode(answer), media_type="application/json")


def bare(pool: Pool) -> FastAPI:
    """An application with the ten commonest reads at the addresses that they have in ours."""
    app = FastAPI()

    @app.get("/api/v1/conversations")
    async def _(status: Any = None, query: str = "", limit: int = 50) -> Response:
        async with pool.connection() as conn:
            if query:
                hits = await found.find_conversations(conn, OWNER, query, limit=limit + 1)
                last = hits[limit - 1] if len(hits) > limit else None
                items = [
                    Conversation(
                        **{name: getattr(each, name) for name in Conversation.__struct_fields__[:-1]},
                        snippet=Snippet(message_id=each.message_id, text=each.snippet or "")
                        if each.message_id
                        else None,
                    )
                    for each in hits[:limit]
                ]
                return sent(Page(items=items, next=last and encode(Ranked(last.rank, last.id))))
            rows = await conversations.conversations(conn, OWNER, status=status, limit=limit + 1)
        end = rows[limit - 1] if len(rows) > limit else None
        return sent(
            Page(
                items=[Conversation.of(each) for each in rows[:limit]],
                next=end and encode(Place(end.updated_at, end.id)),
            )
        )

    @app.get("/api/v1/conversations/{conversation_id}")
    async def _(conversation_id: str) -> Response:
        async with pool.connection() as conn:
            return sent(Conversation.of(await conversations.conversation(conn, OWNER, conversation_id)))

    @app.get("/api/v1/conversations/{conversation_id}/messages")
    async def _(conversation_id: str, limit: int = 50) -> Response:
        async with pool.connection() as conn:
            page = await messages.history(conn, OWNER, conversation_id, limit=limit)
        assert page
        items = [Message.of(each) for each in page.messages]
        return sent(History(items=items, last_server_stanza_id=page.last_server_stanza_id))

    @app.get("/api/v1/conversations/{conversation_id}/messages/{message_id}")
    async def _(conversation_id: str, message_id: str) -> Response:
        async with pool.connection() as conn:
            return sent(Message.of(await messages.message(conn, OWNER, message_id)))

    @app.get("/api/v1/messages/{message_id}/trace")
    async def _(message_id: str) -> Response:
        async with pool.connection() as conn, conn.transaction():
            await conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            return sent(Trace.of(await traces.trace(conn, OWNER, message_id)))

    @app.get("/api/v1/memories")
    async def _(limit: int = 50) -> Response:
        async with pool.connection() as conn:
            rows = await memories.memories(conn, OWNER, limit=limit + 1)
        end = rows[limit - 1] if len(rows) > limit else None
        return sent(
            Page(
                items=[Memory.of(each) for each in rows[:limit]],
                next=end and encode(Place(end.created_at, end.id)),
            )
        )

    @app.get("/api/v1/memories/{memory_id}")
    async def _(memory_id: str) -> Response:
        async with pool.connection() as conn:
            return sent(Memory.of(await memories.memory(conn, OWNER, memory_id)))

    @app.get("/api/v1/tools")
    async def _() -> Response:
        async with pool.connection() as conn:
            return sent(Page(items=[Tool.of(each) for each in await tools.tools(conn)]))

    return app
