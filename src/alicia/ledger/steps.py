"""The writes of what happens inside an answer: reasoning, tools, memories."""

from alicia.ledger.batch import Batch, json, writes
from alicia.ledger.entries import Begun, Nothing, Outcome, Recalled
from alicia.protocol.messages import MemoryTrace, ReasoningStep, ToolUseRequest, ToolUseResult, fields
from alicia.storage.memories import NewMemory, columns


@writes(ReasoningStep)
def write_reasoning_step(batch: Batch, body: ReasoningStep, _: Nothing) -> None:
    """A row of `alicia_reasoning_steps`."""
    batch.add(
        """
        INSERT INTO alicia_reasoning_steps (id, message_id, content, sequence_number)
        VALUES (%(id)s, %(message_id)s, %(content)s, %(sequence)s)
        """,
        fields(body),
    )


@writes(ToolUseRequest, Begun)
def write_tool_use_request(batch: Batch, body: ToolUseRequest, private: Begun) -> None:
    """A row of `alicia_tool_uses`, pending until the tool is known to run."""
    batch.add(
        """
        INSERT INTO alicia_tool_uses (id, conversation_id, message_id, tool_name, tool_arguments, status,
                                      sequence_number)
        VALUES (%(id)s, %(conversation_id)s, %(message_id)s, %(tool_name)s, %(tool_arguments)s, %(status)s,
                %(sequence)s)
        """,
        fields(body)
        | {"tool_arguments": json(body.parameters), "status": "running" if private.running else "pending"},
    )
    batch.note(body.id, execution=body.execution, device=body.device, timeoutMs=body.timeout_ms)


@writes(ToolUseResult, Outcome)
def write_tool_use_result(batch: Batch, body: ToolUseResult, private: Outcome) -> None:
    """Closes its request's row; the first result stays."""
    status = "success" if body.success else "cancelled" if private.cancelled else "error"
    result = body.result if private.result is None else private.result
    batch.add(
        """
        UPDATE alicia_tool_uses
           SET status = %(status)s,
               tool_result = %(tool_result)s,
               error_message = %(error_message)s,
               completed_at = now() AT TIME ZONE 'utc'
         WHERE id = %(request_id)s
           AND conversation_id = %(conversation_id)s
           AND completed_at IS NULL
        """,
        fields(body) | {"status": status, "tool_result": json(result)},
    )
    batch.note(body.request_id, errorCode=body.error_code, truncated=body.truncated)


@writes(MemoryTrace, Recalled)
def write_memory_trace(batch: Batch, body: MemoryTrace, private: Recalled) -> None:
    """A row of `alicia_memory_used`, and the memory itself when it is new or changed."""
    if private.memory:
        _write_memory(batch, body, private.memory)
    batch.add(
        """
        INSERT INTO alicia_memory_used (id, conversation_id, message_id, memory_id, query_prompt,
                                        query_prompt_meta, similarity_score, meta, position_in_results,
                                        memory_type, action, content, confidence, metadata)
        VALUES (%(id)s, %(conversation_id)s, %(previous_id)s, %(memory_id)s, %(query_prompt)s,
                %(query_prompt_meta)s, %(similarity_score)s, %(meta)s, %(position_in_results)s,
                %(memory_type)s, %(action)s, %(content)s, %(confidence)s, %(metadata)s)
        """,
        fields(body)
        | {
            "query_prompt": private.query_prompt,
            "query_prompt_meta": json(private.query_prompt_meta),
            "similarity_score": private.similarity_score,
            "meta": json(private.meta),
            "position_in_results": private.position_in_results,
            "metadata": json(body.metadata or {}),
        },
    )


def _write_memory(batch: Batch, body: MemoryTrace, memory: NewMemory) -> None:
    """The memory is the conversation's owner's; one that exists already is changed only if it is theirs.

    Nothing comes back into one that they have deleted or erased meanwhile.
    """
    params = columns("", body.memory_id, memory) | {
        "conversation_id": body.conversation_id,
        "memory_type": memory.memory_type or body.memory_type,
    }
    batch.add(
        """
        INSERT INTO alicia_memory AS m (id, content, embeddings, embeddings_info, importance, confidence,
                                        user_rating, created_by, source_type, source_info, tags, pinned,
                                        memory_type)
        SELECT %(id)s, %(content)s, %(embeddings)s, %(embeddings_info)s, %(importance)s, %(confidence)s,
               %(user_rating)s, user_id, %(source_type)s, %(source_info)s, %(tags)s, %(pinned)s,
               %(memory_type)s
          FROM alicia_conversations
         WHERE id = %(conversation_id)s
            ON CONFLICT (id) DO UPDATE
           SET content = excluded.content,
               embeddings = excluded.embeddings,
               embeddings_info = excluded.embeddings_info,
               importance = excluded.importance,
               confidence = excluded.confidence,
               source_type = coalesce(excluded.source_type, m.source_type),
               source_info = m.source_info || excluded.source_info,
               tags = excluded.tags,
               memory_type = coalesce(excluded.memory_type, m.memory_type)
         WHERE m.created_by = excluded.created_by
           AND m.deleted_at IS NULL
        """,
        params,
    )
    if memory.supersedes:
        batch.add(
            """
            UPDATE alicia_memory m
               SET superseded_by = %(id)s
              FROM alicia_conversations c
             WHERE m.id = %(supersedes)s
               AND c.id = %(conversation_id)s
               AND m.created_by = c.user_id
            """,
            params,
        )
