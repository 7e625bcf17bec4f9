"""An answer's way out: its first sentence is told ahead, and nothing is said before it is stored."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

from alicia import ids
from alicia.engine.broadcast import Broadcast
from alicia.engine.history import History
from alicia.engine.prompt import Turn
from alicia.engine.turn import Answer, Question
from alicia.ledger.entries import Entry
from alicia.llm.messages import Delta, TextDelta
from alicia.memory.memory import Recalled
from alicia.protocol.messages import AssistantSentence
from alicia.tools.box import Toolbox
from alicia.tools.client import ClientTools
from alicia.tools.decision.calling import CallingModel


class Line:
    """Where an answer is stored; notes what happens in which order."""

    def __init__(self) -> None:
        self.session = SimpleNamespace(conversation_id=ids.new(ids.ConversationId))
        self.told: list[tuple[str, str]] = []

    async def emit(self, *entries: Entry) -> None:
        for entry in entries:
            if isinstance(entry.body, AssistantSentence):
                self.note("stored")(entry.body)

    def note(self, what: str) -> Any:
        def note(sentence: AssistantSentence) -> None:
            self.told.append((what, sentence.text))

        return note


class Forgetful:
    async def recall(self, *_: object, **__: object) -> list[Recalled]:
        return []


class Model:
    async def stream(self, *_: object, **__: object) -> AsyncGenerator[Delta, None]:
        for word in ("Tea is ", "a drink. ", "It is hot. ", "Drink it."):
            yield TextDelta(word)


async def test_the_first_sentence_is_told_once_before_it_is_stored_and_every_one_is_said_after_that() -> None:
    line, history = Line(), History(lambda: 4096)
    asked = Turn(id=ids.new(ids.MessageId), role="user", text="What is tea?", at=datetime.now(UTC))
    history.add(asked)
    answer = Answer(
        Question(message_id=ids.MessageId(asked.id), answer_id=ids.new(ids.MessageId)),
        user_id="ada",
        line=cast("Broadcast", line),
        history=history,
        model=cast("CallingModel", Model()),
        recall=Forgetful(),
        tools=Toolbox([]),
        client_tools=ClientTools(),
        time_zone=None,
        budget=4096,
        max_tokens=100,
        streaming=True,
        expect=line.note("foreseen"),
        say=line.note("said"),
    )
    await answer.run()

    first = answer.text.partition(".")[0] + "."
    (told, text), stored = line.told[0], line.told[1]
    assert (told, text.strip()) == ("foreseen", first)
    assert stored == ("stored", text)
    assert [what for what, _ in line.told].count("foreseen") == 1
    assert [text for what, text in line.told if what == "said"] == [
        text for what, text in line.told if what == "stored"
    ]
    assert "".join(text for what, text in line.told if what == "said") == answer.text
