"""What operators ask afterwards, answered from the rows alone and, the same, by the message's trace."""

from typing import NamedTuple

from alicia.protocol.messages import AssistantSentence, StartAnswer
from alicia.storage.pool import Pool
from alicia.telemetry import tracing
from support.device import device
from support.memories import known
from support.scripted import Gate, Script, Text, ToolCall
from support.stack import Stack
from support.tables import records, rows

WRONG = "The user is a vegetarian."


class Asked(NamedTuple):
    """A turn that went wrong: the memory was false, and the tool failed."""

    conversation: str
    question: str
    answer: str
    memory: str
    trace: str
    """What the server tells of the answer, as text."""


async def asked(stack: Stack, user: str, pool: Pool) -> Asked:
    (memory,) = await known(pool, user, WRONG)
    gate, about = Gate(), "vegetarian user like steak"
    stack.model.chat(Script(ToolCall("calculator", {"expression": "1 / 0"})), when=about)
    stack.model.chat(Script(Text("No steak for a vegetarian. The"), gate, Text(" sum failed.")), when=about)
    async with device(stack, user) as alone:
        question = await alone.say("Does a vegetarian user like steak?")
        await alone.hears(AssistantSentence)
        gate.open()
        await alone.answered(question)
        (answer,) = alone.all(StartAnswer)
    async with stack.caller(user) as api:
        told = await api.get(f"/messages/{answer.id}/trace", params={"format": "text"})
    return Asked(alone.id, question.id, answer.id, memory, told.text)


async def test_a_wrong_answer_is_explained_by_the_memories_that_were_used(
    stack: Stack, user: str, pool: Pool
) -> None:
    turn = await asked(stack, user, pool)
    used = await rows(
        pool,
        """
        SELECT u.memory_id, u.query_prompt, m.content
          FROM alicia_memory_used u
          JOIN alicia_memory m ON m.id = u.memory_id
         WHERE u.message_id = %s
        """,
        turn.question,
    )
    assert used == [(turn.memory, "Does a vegetarian user like steak?", WRONG)]
    assert WRONG in turn.trace


async def test_a_tool_that_failed_is_found_by_its_conversation(stack: Stack, user: str, pool: Pool) -> None:
    turn = await asked(stack, user, pool)
    (use,) = await records(
        pool, "SELECT * FROM alicia_tool_uses WHERE conversation_id = %s", turn.conversation
    )
    assert (use["tool_name"], use["tool_arguments"]) == ("calculator", {"expression": "1 / 0"})
    assert (use["status"], use["message_id"]) == ("error", turn.answer)
    assert use["error_message"]
    assert use["completed_at"] >= use["created_at"]
    assert use["error_message"] in turn.trace


async def test_how_fast_an_answer_streamed_is_seen_from_its_sentences(
    stack: Stack, user: str, pool: Pool
) -> None:
    turn = await asked(stack, user, pool)
    sentences = await rows(
        pool,
        """
        SELECT s.text, s.created_at - q.created_at
          FROM alicia_sentences s
          JOIN alicia_messages a ON a.id = s.message_id
          JOIN alicia_messages q ON q.id = a.previous_id
         WHERE s.message_id = %s
         ORDER BY s.sentence_sequence_number
        """,
        turn.answer,
    )
    assert "".join(str(text) for text, _ in sentences) == "No steak for a vegetarian. The sum failed."
    first, second = (after for _, after in sentences)
    assert first < second  # pyright: ignore[reportOperatorIssue]
    assert "for the model's first token" in turn.trace


async def test_everything_of_a_turn_names_the_trace_that_its_spans_have(
    stack: Stack, user: str, pool: Pool
) -> None:
    turn = await asked(stack, user, pool)
    found = await rows(
        pool,
        "SELECT ref, value FROM alicia_meta WHERE key = %s AND ref = ANY(%s)",
        tracing.TRACE_ID,
        [turn.question, turn.answer],
    )
    traces = {value for _, value in found}
    assert {ref for ref, _ in found} == {turn.question, turn.answer}
    assert len(traces) == 1
    assert f"trace {traces.pop()}" in turn.trace
