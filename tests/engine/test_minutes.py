"""Minutes: points that only grow, until older ones are told in fewer."""

from collections.abc import Sequence
from typing import Any

import pytest

from alicia.engine.minutes import SHARE, write_minutes
from alicia.engine.prompt import Turn, estimate
from alicia.llm.messages import Message

BUDGET = 800


class Writer:
    """A model that answers with these points, and keeps what it was asked."""

    def __init__(self, *points: list[str]) -> None:
        self.points = list(points)
        self.asked: list[str] = []
        self.most: list[int] = []

    async def complete(
        self, messages: Sequence[Message], *, schema: dict[str, Any], max_tokens: int | None = None
    ) -> Any:
        self.asked.append(messages[-1].content)
        self.most.append(schema["properties"]["points"]["maxItems"])
        return {"points": self.points.pop(0) if self.points else []}


def turns(*texts: str) -> list[Turn]:
    return [
        Turn(id=str(number), role="assistant" if number % 2 else "user", text=text)
        for number, text in enumerate(texts)
    ]


async def test_what_was_said_becomes_further_points() -> None:
    model = Writer(["The user  has a dog.", "- "])
    minutes = await write_minutes(model, "- The user has a cat.", turns("I have a dog.", "Nice."), BUDGET)
    assert minutes == "- The user has a cat.\n- The user has a dog."
    assert "The user says:\nI have a dog.\n\nThe assistant says:\nNice." in model.asked[0]
    assert "cat" not in model.asked[0]


async def test_where_there_is_nothing_to_note_the_subjects_are_kept() -> None:
    minutes = await write_minutes(Writer(), "", turns("Tell me of the sea.", "It is wet."), BUDGET)
    assert minutes == "- The user said: Tell me of the sea."


@pytest.mark.parametrize("fewer", [["The user told of points."], []])
async def test_too_many_points_are_told_in_fewer_oldest_first(fewer: list[str]) -> None:
    before = "\n".join(f"- Point {number} is rather long, as points are." for number in range(12))
    model = Writer(["The newest point."], fewer)
    minutes = await write_minutes(model, before, turns("Well?", "Well."), BUDGET)
    assert estimate(minutes) <= BUDGET // SHARE
    assert minutes.endswith("- The newest point.")
    assert minutes.startswith("- The user told of points." if fewer else "- Point 0")
    assert model.most[1] == 3


async def test_a_message_longer_than_the_window_is_read_by_its_ends() -> None:
    model = Writer(["Long."])
    await write_minutes(model, "", turns("a" * 9000 + "b" * 9000, "Well."), BUDGET)
    assert estimate(model.asked[0]) < BUDGET // 2
    assert "a … b" in model.asked[0]
