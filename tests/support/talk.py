"""A conversation for ledger tests: bodies with fresh ids, and looks at the rows that they leave."""

from dataclasses import dataclass, field
from typing import Any, LiteralString

from psycopg.rows import dict_row

from alicia import ids
from alicia.ledger.entries import Entry
from alicia.ledger.ledger import Ledger, session_of
from alicia.protocol.messages import (
    AssistantSentence,
    Body,
    MemoryAction,
    MemoryTrace,
    ReasoningStep,
    StartAnswer,
    ToolUseRequest,
    UserMessage,
    UserNote,
)
from alicia.protocol.session import AgentSession
from alicia.storage.pool import Pool


@dataclass
class Talk:
    """One conversation and its agent's end."""

    pool: Pool
    ledger: Ledger
    session: AgentSession
    user: str
    published: list[bytes] = field(default_factory=list[bytes])

    @classmethod
    async def open(cls, pool: Pool, user: str, agent_id: str | None = None) -> "Talk":
        ledger = Ledger(pool, agent_id)
        row = await ledger.create(ids.new(ids.ConversationId), user)
        return cls(pool, ledger, session_of(row), user)

    @property
    def id(self) -> ids.ConversationId:
        return self.session.conversation_id

    async def append(self, *entries: Entry | Body) -> list[bytes]:
        data = await self.ledger.append(self.session, *entries)
        self.published += data
        return data

    def user_message(self, content: str = "What is the tallest mountain?", **fields: Any) -> UserMessage:
        given = {"id": ids.new(ids.MessageId), **fields}
        return UserMessage(conversation_id=self.id, content=content, **given)

    def start_answer(self, previous_id: ids.MessageId, **fields: Any) -> StartAnswer:
        given = {"id": ids.new(ids.MessageId), **fields}
        return StartAnswer(conversation_id=self.id, previous_id=previous_id, **given)

    def sentence(
        self, answer: StartAnswer, sequence: int, text: str, final: bool = False, **fields: Any
    ) -> AssistantSentence:
        return AssistantSentence(
            conversation_id=self.id,
            id=ids.new(ids.SentenceId),
            previous_id=answer.id,
            sequence=sequence,
            text=text,
            is_final=final,
            **fields,
        )

    def thought(self, message_id: ids.MessageId, sequence: int, content: str) -> ReasoningStep:
        return ReasoningStep(
            conversation_id=self.id,
            id=ids.new(ids.ReasoningStepId),
            message_id=message_id,
            sequence=sequence,
            content=content,
        )

    def tool_use(
        self, message_id: ids.MessageId, sequence: int, tool_name: str, **fields: Any
    ) -> ToolUseRequest:
        given: dict[str, Any] = {"parameters": {}, "execution": "server", **fields}
        return ToolUseRequest(
            conversation_id=self.id,
            id=ids.new(ids.ToolUseId),
            message_id=message_id,
            sequence=sequence,
            tool_name=tool_name,
            **given,
        )

    def memory_use(
        self,
        previous_id: ids.MessageId,
        memory_id: ids.MemoryId,
        action: MemoryAction,
        content: str,
        **fields: Any,
    ) -> MemoryTrace:
        return MemoryTrace(
            conversation_id=self.id,
            id=ids.new(ids.MemoryUseId),
            previous_id=previous_id,
            memory_id=memory_id,
            action=action,
            content=content,
            **fields,
        )

    def note(self, message_id: ids.MessageId, content: str, **fields: Any) -> UserNote:
        return UserNote(
            conversation_id=self.id, id=ids.new(ids.NoteId), message_id=message_id, content=content, **fields
        )

    async def exchange(self, question: str, *answer: str) -> tuple[UserMessage, StartAnswer]:
        """A question and its whole answer, at once: an agent that saw it begun would go on with it."""
        asked = self.user_message(question)
        started = self.start_answer(asked.id)
        said = [
            self.sentence(started, number, text, final=number == len(answer))
            for number, text in enumerate(answer, 1)
        ]
        await self.append(asked, started, *said)
        return asked, started

    async def rows(self, sql: LiteralString, *params: Any) -> list[dict[str, Any]]:
        async with self.pool.connection() as conn, conn.cursor(row_factory=dict_row) as cursor:
            await cursor.execute(sql, params)
            return await cursor.fetchall()

    async def row(self, sql: LiteralString, *params: Any) -> dict[str, Any]:
        (only,) = await self.rows(sql, *params)
        return only

    async def meta(self, ref: str) -> dict[str, str]:
        rows = await self.rows("SELECT key, value FROM alicia_meta WHERE ref = %s ORDER BY created_at", ref)
        return {row["key"]: row["value"] for row in rows}
