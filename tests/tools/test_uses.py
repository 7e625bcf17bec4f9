"""The outcome rule: whatever happens in whatever order, a use ends exactly once."""

import itertools
import random
from collections.abc import Iterable
from typing import Literal

from hypothesis import given, settings
from hypothesis import strategies as st

from alicia.tools.outcome import cancelled, failed, succeeded
from alicia.tools.uses import ToolUse

Event = Literal["call", "result", "failure", "stop", "time-out", "crash", "restart"]
EVENTS: tuple[Event, ...] = ("call", "result", "failure", "stop", "time-out", "crash", "restart")
ENDINGS = {"success", "error", "cancelled"}


class World:
    """One use as everybody sees it: the worker's memory, the rows that outlive it, what devices were told."""

    def __init__(self) -> None:
        self.use: ToolUse | None = ToolUse()
        self.row = ToolUse()
        self.told: list[str] = []
        self.runs = 0

    def happen(self, event: Event) -> None:
        if event == "crash":
            self.use = None
        elif event == "restart" and self.use is None:
            self.use = ToolUse(self.row.status, self.row.outcome)
            if self.use.abandon():
                self._store()
        elif self.use is not None:
            self._worker(self.use, event)

    def _worker(self, use: ToolUse, event: Event) -> None:
        match event:
            case "call":
                if use.begin():
                    self.runs += 1
                    self.row.begin()
                ended = False
            case "result":
                ended = use.end(succeeded(1))
            case "failure":
                ended = use.end(failed(303, "no"))
            case "stop":
                ended = use.stop()
            case "time-out":
                ended = use.time_out(1)
            case _:
                ended = False
        if ended:
            self._store()

    def _store(self) -> None:
        assert self.use is not None
        assert self.use.outcome is not None
        # As the ledger does it: the row and the stanza in one transaction, and the first result stays.
        if self.row.end(self.use.outcome):
            self.told.append(self.use.status)

    def close(self) -> None:
        """What always happens in the end: somebody starts again, and a time-out runs off."""
        for event in ("restart", "time-out"):
            self.happen(event)


def check(events: Iterable[Event]) -> None:
    world = World()
    first: str | None = None
    for event in events:
        world.happen(event)
        if first is None and world.row.ended:
            first = world.row.status
        assert first is None or world.row.status == first
    world.close()
    assert world.row.ended
    assert world.row.status in ENDINGS
    assert first in (None, world.row.status)
    assert world.told == [world.row.status]
    assert world.runs <= 1


def test_every_order_of_six_events_ends_in_exactly_one_outcome() -> None:
    count = 0
    for length in range(7):
        for events in itertools.product(EVENTS, repeat=length):
            check(events)
            count += 1
    assert count > 100_000


def test_thousands_of_long_random_orders_end_in_exactly_one_outcome() -> None:
    dice = random.Random(6)
    for _ in range(5_000):
        check(dice.choices(EVENTS, k=dice.randrange(40)))


@settings(max_examples=500)
@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from(EVENTS)), max_size=60))
def test_uses_side_by_side_do_not_disturb_each_other(events: list[tuple[int, Event]]) -> None:
    for use in range(5):
        check(event for one, event in events if one == use)


def test_a_second_result_is_ignored_and_says_so() -> None:
    use = ToolUse()
    assert use.begin()
    assert use.end(succeeded({"n": 1}))
    assert not use.end(failed(303, "late"))
    assert not use.stop()
    assert not use.time_out(1)
    assert not use.abandon()
    assert not use.begin()
    assert use.status == "success"
    assert use.outcome == succeeded({"n": 1})


def test_a_use_that_was_stopped_before_it_began_is_not_run() -> None:
    use = ToolUse()
    assert use.stop()
    assert not use.begin()
    assert use.status == "cancelled"


def test_a_use_whose_worker_died_is_cancelled_and_not_run_again() -> None:
    found = ToolUse("running")
    assert not found.begin()
    assert found.abandon()
    assert found.outcome is not None
    assert found.outcome.status == "cancelled"
    assert found.outcome.error_code is None
    assert cancelled().status == "cancelled"
