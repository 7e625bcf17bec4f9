"""The journal and the rows of a conversation, held against each other."""

from collections import Counter
from typing import Final, LiteralString

from alicia.protocol.envelope import decode
from alicia.protocol.messages import (
    AssistantMessage,
    AssistantSentence,
    MemoryTrace,
    ReasoningStep,
    StartAnswer,
    UserMessage,
)
from alicia.storage.pool import Pool
from support.tables import rows

Named = UserMessage | StartAnswer | AssistantSentence | AssistantMessage | ReasoningStep | MemoryTrace


class Told:
    """What the stanzas of a journal say that there is."""

    @staticmethod
    def name(body: object) -> str | None:
        """What tells a stanza from all others; None for those that no row has the id of."""
        return f"{type(body).__name__} {body.id}" if isinstance(body, Named) else None

    def __init__(self, journal: list[bytes]) -> None:
        self.messages: dict[str, str] = {}
        self.sentences: list[tuple[object, ...]] = []
        self.thoughts: list[tuple[object, ...]] = []
        self.uses: list[tuple[object, ...]] = []
        self.ended: Counter[str] = Counter()
        self.order: list[str] = []
        """The names of the stanzas, as they came."""
        for data in journal:
            body = decode(data).body
            if (name := self.name(body)) is not None:
                self.order.append(name)
            self._take(body)

    def _take(self, body: object) -> None:
        match body:
            case UserMessage():
                self.messages[body.id] = body.content
            case StartAnswer():
                self.messages.setdefault(body.id, "")
            case AssistantSentence():
                self.sentences.append((body.id, body.previous_id, body.sequence, body.text))
                self.messages[body.previous_id] = self.messages.get(body.previous_id, "") + body.text
                self.ended[body.previous_id] += body.is_final
            case AssistantMessage():
                self.messages[body.id] = body.content
                self.ended[body.id] += 1
            case ReasoningStep():
                self.thoughts.append((body.id, body.content))
            case MemoryTrace():
                self.uses.append((body.id, body.content))
            case _:
                pass


ROWS: Final[dict[str, LiteralString]] = {
    "messages": "SELECT id, contents FROM alicia_messages WHERE conversation_id = %s",
    "sentences": """
        SELECT s.id, s.message_id, s.sentence_sequence_number, s.text
          FROM alicia_sentences s
          JOIN alicia_messages m ON m.id = s.message_id
         WHERE m.conversation_id = %s
    """,
    "thoughts": """
        SELECT r.id, r.content
          FROM alicia_reasoning_steps r
          JOIN alicia_messages m ON m.id = r.message_id
         WHERE m.conversation_id = %s
    """,
    "memories used": "SELECT id, content FROM alicia_memory_used WHERE conversation_id = %s",
}


async def compare(pool: Pool, conversation_id: str, journal: list[bytes]) -> list[str]:
    """Where the rows are not what the journal says, or the journal says something twice."""
    told = Told(journal)
    said = {
        "messages": {(each, text) for each, text in told.messages.items()},
        "sentences": set(told.sentences),
        "thoughts": set(told.thoughts),
        "memories used": set(told.uses),
    }
    wrong = [
        f"{times} times in the journal: {name}" for name, times in Counter(told.order).items() if times > 1
    ]
    wrong += [f"{answer} ended {times} times" for answer, times in told.ended.items() if times != 1]
    for what, sql in ROWS.items():
        stored = set(await rows(pool, sql, conversation_id))
        wrong += [f"{what}: {row} only in the journal" for row in said[what] - stored]
        wrong += [f"{what}: {row} only in the table" for row in stored - said[what]]
    return wrong
