"""Pauses that conversations share where the model serves one request at a time."""

import asyncio

import pytest

from alicia.engine.pauses import Pauses


class Conversation:
    """Counts how often its work was put off."""

    def __init__(self) -> None:
        self.put = 0

    def put_off(self) -> None:
        self.put += 1


@pytest.mark.parametrize(("one_by_one", "put"), [(True, 1), (False, 0)])
def test_a_question_ends_the_work_of_the_others_where_the_model_serves_one_at_a_time(
    one_by_one: bool, put: int
) -> None:
    pauses, one, other, idle = Pauses(one_by_one=one_by_one), Conversation(), Conversation(), Conversation()
    pauses.begin(one)
    pauses.begin(other)
    pauses.asked(one)
    assert (one.put, other.put, idle.put) == (0, put, 0)
    assert pauses.free(one)
    assert pauses.free(other) is not one_by_one
    pauses.end(other)
    pauses.asked(one)
    assert other.put == put


async def test_who_waits_for_the_others_looks_again_whenever_somebody_asks_or_is_answered() -> None:
    pauses, one, other = Pauses(one_by_one=True), Conversation(), Conversation()
    pauses.asked(other)
    for happen, free in ((pauses.asked, False), (pauses.answered, False), (pauses.answered, True)):
        waiting = asyncio.create_task(pauses.change())
        await asyncio.sleep(0)
        assert not waiting.done()
        happen(other if free else one)
        await waiting
        assert pauses.free(one) is free
