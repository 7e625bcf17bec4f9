"""The registry of tools, and how their uses went."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

from msgspec import Struct
from psycopg.types.json import Jsonb

from alicia.ids import ConversationId, MessageId, ToolId, ToolUseId
from alicia.storage.meta import set_meta
from alicia.storage.pool import Connection
from alicia.storage.rows import fetch_all, fetch_one


class Tool(Struct, frozen=True, kw_only=True):
    """A row of `alicia_tools`."""

    id: ToolId
    name: str
    description: str
    schema: dict[str, Any]
    enabled: bool
    created_at: datetime
    updated_at: datetime


class ToolUse(Struct, frozen=True, kw_only=True):
    """A row of `alicia_tool_uses`."""

    id: ToolUseId
    conversation_id: ConversationId | None
    message_id: MessageId
    tool_name: str
    tool_arguments: dict[str, Any]
    tool_result: Any
    status: Literal["pending", "running", "success", "error", "cancelled"]
    error_message: str | None
    sequence_number: int
    completed_at: datetime | None
    created_at: datetime
    updated_at: datetime


async def tools(conn: Connection, *, enabled_only: bool = False) -> list[Tool]:
    """The tools by name."""
    return await fetch_all(
        conn,
        Tool,
        """
        SELECT id, name, description, schema, enabled, created_at, updated_at
          FROM alicia_tools
         WHERE (enabled OR NOT %s)
           AND deleted_at IS NULL
         ORDER BY name
        """,
        (enabled_only,),
    )


class RegisteredTool(Struct, frozen=True, kw_only=True):
    """A row of `alicia_tools`, retired or not, and where the tool comes from, if that was noted."""

    name: str
    description: str
    schema: dict[str, Any]
    enabled: bool
    deleted: bool
    source: str | None


async def registered_tools(conn: Connection) -> list[RegisteredTool]:
    """Every tool that ever was registered, by name."""
    return await fetch_all(
        conn,
        RegisteredTool,
        """
        SELECT t.name, t.description, t.schema, t.enabled, t.deleted_at IS NOT NULL AS deleted,
               (SELECT m.value
                  FROM alicia_meta m
                 WHERE m.ref = t.id
                   AND m.key = 'source'
                   AND m.deleted_at IS NULL
                 ORDER BY m.created_at DESC
                 LIMIT 1) AS source
          FROM alicia_tools t
         ORDER BY t.name
        """,
    )


async def register_tool(
    conn: Connection, name: str, description: str, schema: dict[str, Any], source: str | None = None
) -> None:
    """Add a tool, or renew its description and schema; whether it is enabled stays as it was.

    `source` notes where it comes from, so that it can be retired when it is no longer there.
    """
    cursor = await conn.execute(
        """
        INSERT INTO alicia_tools (name, description, schema)
        VALUES (%s, %s, %s)
            ON CONFLICT (name) DO UPDATE
           SET description = excluded.description, schema = excluded.schema, deleted_at = NULL
        RETURNING id
        """,
        (name, description, Jsonb(schema)),
    )
    row = await cursor.fetchone()
    if row is not None and source is not None:
        await set_meta(conn, row[0], "source", source)


async def retire_tools(conn: Connection, names: Sequence[str]) -> None:
    """Delete softly; should they come back, they are enabled or not as they were."""
    await conn.execute(
        """
        UPDATE alicia_tools
           SET deleted_at = now() AT TIME ZONE 'utc'
         WHERE name = ANY(%s)
           AND deleted_at IS NULL
        """,
        (list(names),),
    )


async def enable_tool(conn: Connection, name: str, enabled: bool) -> Tool | None:
    """Switch a tool on or off; None if there is none of that name."""
    return await fetch_one(
        conn,
        Tool,
        """
           UPDATE alicia_tools
              SET enabled = %s
            WHERE name = %s
              AND deleted_at IS NULL
        RETURNING id, name, description, schema, enabled, created_at, updated_at
        """,
        (enabled, name),
    )


async def failed_tool_uses(
    conn: Connection, owner: str, *, within: timedelta = timedelta(days=7), limit: int = 100
) -> list[ToolUse]:
    """The uses that ended in an error, latest first."""
    return await fetch_all(
        conn,
        ToolUse,
        """
        SELECT tu.id, m.conversation_id, tu.message_id, tu.tool_name, tu.tool_arguments, tu.tool_result,
               tu.status, tu.error_message, tu.sequence_number, tu.completed_at, tu.created_at, tu.updated_at
          FROM alicia_tool_uses tu
          JOIN alicia_messages m ON m.id = tu.message_id
          JOIN alicia_conversations c ON c.id = m.conversation_id
         WHERE tu.status = 'error'
           AND tu.deleted_at IS NULL
           AND tu.created_at > (now() AT TIME ZONE 'utc') - %s
           AND c.user_id = %s
         ORDER BY tu.created_at DESC
         LIMIT %s
        """,
        (within, owner, limit),
    )


async def tool_uses_of_conversation(conn: Connection, owner: str, conversation_id: str) -> list[ToolUse]:
    """Every use in a conversation, in order of time."""
    return await fetch_all(
        conn,
        ToolUse,
        """
        SELECT tu.id, tu.conversation_id, tu.message_id, tu.tool_name, tu.tool_arguments, tu.tool_result,
               tu.status, tu.error_message, tu.sequence_number, tu.completed_at, tu.created_at, tu.updated_at
          FROM alicia_tool_uses tu
          JOIN alicia_conversations c ON c.id = tu.conversation_id
         WHERE tu.conversation_id = %s
           AND tu.deleted_at IS NULL
           AND c.user_id = %s
         ORDER BY tu.created_at, tu.sequence_number
        """,
        (conversation_id, owner),
    )


class UseNote(Struct, frozen=True, kw_only=True):
    """The beginnings of what a tool was given and of what it gave, as text."""

    message_id: MessageId
    tool_name: str
    arguments: str
    result: str


async def use_notes(conn: Connection, answer_ids: Sequence[str], *, longest: int, most: int) -> list[UseNote]:
    """The first `most` uses of each of these answers, cut to `longest` characters; answer by answer."""
    return await fetch_all(
        conn,
        UseNote,
        """
        SELECT message_id, tool_name, left(tool_arguments::text, %(longest)s) AS arguments,
               left(coalesce(tool_result #>> '{}', error_message, status), %(longest)s) AS result
          FROM (SELECT *, row_number() OVER (PARTITION BY message_id ORDER BY sequence_number) AS number
                  FROM alicia_tool_uses
                 WHERE message_id = ANY(%(ids)s)
                   AND deleted_at IS NULL) use
         WHERE number <= %(most)s
         ORDER BY message_id, number
        """,
        {"ids": list(answer_ids), "longest": longest, "most": most},
    )
