"""Remembering, forgetting and looking up, as the model asks for it."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from alicia import ids
from alicia.ids import MemoryId
from alicia.llm.messages import ToolCall
from alicia.tools.box import Toolbox
from alicia.tools.builtin.memories import Forgotten, KeptMemory, Remembered, memory_tools
from alicia.tools.definition import Caller
from alicia.tools.outcome import ToolOutcome

ANNA, BEN = Caller(user_id="anna"), Caller(user_id="ben")


class Notebook:
    """Memories by user, found by shared words."""

    def __init__(self) -> None:
        self.kept: dict[str, dict[MemoryId, KeptMemory]] = {"anna": {}, "ben": {}}

    async def remember(self, caller: Caller, content: str, importance: float | None) -> Remembered:
        memory = KeptMemory(
            memory_id=ids.new(MemoryId), content=content, created_at=datetime(2026, 1, 1, tzinfo=UTC)
        )
        self.kept[caller.user_id][memory.memory_id] = memory
        return Remembered(memory=memory, effects=("trace", importance))

    async def forget(self, caller: Caller, memory_id: MemoryId) -> Forgotten:
        memory = self.kept[caller.user_id].pop(memory_id, None)
        return Forgotten(memories=(memory,) if memory else ())

    async def search(self, caller: Caller, query: str, limit: int) -> Sequence[KeptMemory]:
        words = set(query.split())
        found = [
            msgspec.structs.replace(memory, score=len(words & set(memory.content.split())) / len(words))
            for memory in self.kept[caller.user_id].values()
        ]
        return sorted(found, key=lambda memory: -(memory.score or 0))[:limit]


class Talk:
    def __init__(self) -> None:
        self.notebook = Notebook()
        self.box = Toolbox(memory_tools(self.notebook))

    async def run(self, caller: Caller, name: str, /, **arguments: Any) -> ToolOutcome:
        async with self.box.open():
            return await self.box.run(caller, ToolCall("1", name, msgspec.json.encode(arguments).decode()))


async def test_what_is_remembered_is_found_by_its_owner_only() -> None:
    talk = Talk()
    kept = await talk.run(ANNA, "remember", content="Anna plays the cello", importance=0.9)
    assert kept.success
    assert kept.effects == ("trace", 0.9)
    found = await talk.run(ANNA, "search_memory", query="cello")
    assert found.result["memories"][0]["content"] == "Anna plays the cello"
    assert found.result["memories"][0]["memoryId"] == kept.result["remembered"]["memoryId"]
    assert (await talk.run(BEN, "search_memory", query="cello")).result == {"memories": []}


async def test_a_memory_is_forgotten_by_its_id_or_by_what_it_says() -> None:
    talk = Talk()
    first = (await talk.run(ANNA, "remember", content="Anna likes jazz")).result["remembered"]
    await talk.run(ANNA, "remember", content="Anna has a dog")
    gone = await talk.run(ANNA, "forget", memory_id=first["memoryId"])
    assert [memory["content"] for memory in gone.result["forgotten"]] == ["Anna likes jazz"]
    gone = await talk.run(ANNA, "forget", content="Anna has a dog")
    assert [memory["content"] for memory in gone.result["forgotten"]] == ["Anna has a dog"]
    assert talk.notebook.kept["anna"] == {}


async def test_nothing_is_forgotten_that_was_not_clearly_meant() -> None:
    talk = Talk()
    kept = (await talk.run(ANNA, "remember", content="Anna likes jazz")).result["remembered"]
    unsure = await talk.run(ANNA, "forget", content="the car that Anna sold")
    assert unsure.error_code == 302
    assert "Anna likes jazz" in (unsure.error_message or "")
    assert (await talk.run(BEN, "forget", memory_id=kept["memoryId"])).error_code == 302
    assert (await talk.run(ANNA, "forget")).error_code == 302
    assert len(talk.notebook.kept["anna"]) == 1
