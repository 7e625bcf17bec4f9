"""A conversation with one very long answer, for devices that were away while it was given."""

from alicia import ids
from alicia.ledger.entries import Entry
from alicia.ledger.ledger import Ledger, session_of
from alicia.protocol.messages import AssistantSentence, ReasoningStep, StartAnswer, UserMessage
from alicia.storage.pool import Pool

BATCH = 1_000


async def long_thought(pool: Pool, user: str, room: ids.ConversationId, steps: int) -> ids.MessageId:
    """Store a question and an answer of so many reasoning steps in a new conversation; the answer's id."""
    ledger = Ledger(pool, "the test")
    session = session_of(await ledger.create(room, user))
    assert await ledger.claim(room)
    question = UserMessage(conversation_id=room, id=ids.new(ids.MessageId), content="Much")
    answer = StartAnswer(conversation_id=room, id=ids.new(ids.MessageId), previous_id=question.id)
    await ledger.append(session, Entry(question), Entry(answer))
    for start in range(0, steps, BATCH):
        await ledger.append(session, *(_step(answer, number) for number in range(start, start + BATCH)))
    closing = AssistantSentence(
        conversation_id=room,
        id=ids.new(ids.SentenceId),
        previous_id=answer.id,
        sequence=1,
        text="Done.",
        is_final=True,
        status="completed",
    )
    await ledger.append(session, closing)
    await ledger.release(room)
    return answer.id


def _step(answer: StartAnswer, number: int) -> ReasoningStep:
    return ReasoningStep(
        conversation_id=answer.conversation_id,
        id=ids.new(ids.ReasoningStepId),
        message_id=answer.id,
        sequence=number,
        content=f"Step {number} of a long thought that is stored.",
    )
