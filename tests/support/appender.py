"""A program that appends to one conversation until its journal has so many stanzas; tests kill it."""

import asyncio
import sys

from alicia import ids
from alicia.ledger.entries import Entry
from alicia.ledger.ledger import Ledger, session_of
from alicia.protocol.messages import AssistantSentence, ReasoningStep, StartAnswer, UserMessage
from alicia.storage.pool import make_pool


async def main(url: str, conversation_id: ids.ConversationId, count: int) -> None:
    async with make_pool(url, max_size=1) as pool:
        ledger = Ledger(pool)
        session = session_of(await ledger.load(conversation_id))
        print("ready", flush=True)
        while await ledger.missed(conversation_id, 0) < count:
            asked, answer = ids.new(ids.MessageId), ids.new(ids.MessageId)
            question = UserMessage(conversation_id=conversation_id, id=asked, content=f"About {asked}?")
            await ledger.append(session, Entry(question, {"source": "test"}))
            start = StartAnswer(conversation_id=conversation_id, id=answer, previous_id=asked)
            thought = ReasoningStep(
                conversation_id=conversation_id,
                id=ids.new(ids.ReasoningStepId),
                message_id=answer,
                sequence=1,
                content="Hm.",
            )
            await ledger.append(session, start, thought)
            for number in range(1, 8):
                sentence = AssistantSentence(
                    conversation_id=conversation_id,
                    id=ids.new(ids.SentenceId),
                    previous_id=answer,
                    sequence=number,
                    text=f"Sentence {number}.",
                    is_final=number == 7,
                )
                await ledger.append(session, Entry(sentence, {"otel_span_counter": number}))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], ids.ConversationId(sys.argv[2]), int(sys.argv[3])))
