"""Two devices and an agent on a network that drops, delays, repeats and cuts, and an agent that crashes."""

import os
from collections import deque
from collections.abc import Callable

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from support.world import CrashPoint, Device, World

STEPS = int(os.environ.get("ALICIA_MODEL_STEPS", "10000"))
STEPS_PER_RUN = 100

devices = st.integers(0, 1)
mishaps = st.sampled_from(["lost", "repeated", "delayed"])
crash_points = st.sampled_from(["never"] * 9 + ["before commit", "after commit", "after echo"])


class Conversation(RuleBasedStateMachine):
    steps = 0

    def __init__(self) -> None:
        super().__init__()
        self.world = World()

    def device(self, which: int) -> Device:
        return self.world.devices[which]

    def queue(self, which: int, inbound: bool) -> deque[bytes]:
        return self.device(which).inbox if inbound else self.device(which).outgoing

    @rule(which=devices, kinds=st.lists(st.integers(0, 3), min_size=1, max_size=3))
    def a_user_speaks(self, which: int, kinds: list[int]) -> None:
        for kind in kinds:
            self.device(which).submit(self.world.new_body(kind))

    @rule(which=devices, packets=st.integers(1, 4))
    def the_device_hears(self, which: int, packets: int) -> None:
        for _ in range(min(packets, len(self.device(which).inbox))):
            self.device(which).receive(self.device(which).inbox.popleft())

    @rule(which=devices, packets=st.integers(1, 3), crash=crash_points)
    def the_agent_hears(self, which: int, packets: int, crash: CrashPoint) -> None:
        for _ in range(min(packets, len(self.device(which).outgoing))):
            self.world.agent_takes(self.device(which), self.device(which).outgoing.popleft(), crash)

    @rule()
    def all_is_well_for_a_moment(self) -> None:
        self.world.deliver()

    @rule(sentences=st.integers(1, 3))
    def the_agent_speaks(self, sentences: int) -> None:
        self.world.answer(sentences)

    @rule(what=st.sampled_from([World.state_head, World.murmur, World.fail_to_commit, World.start_agent]))
    def something_happens_to_the_agent(self, what: Callable[[World], None]) -> None:
        what(self.world)

    @rule(which=devices, inbound=st.booleans(), what=mishaps, places=st.integers(1, 4))
    def something_happens_to_a_packet(self, which: int, inbound: bool, what: str, places: int) -> None:
        queue = self.queue(which, inbound)
        if not queue:
            return
        if what == "lost":
            queue.popleft()
        elif what == "repeated":
            queue.insert(places, queue[0])
        else:
            queue.insert(places, queue.popleft())

    @rule(
        which=devices, what=st.sampled_from([Device.cut, Device.restart, Device.try_again, Device.try_again])
    )
    def something_happens_to_a_device(self, which: int, what: Callable[[Device], None]) -> None:
        what(self.device(which))

    @invariant()
    def what_a_device_holds_is_how_the_log_begins(self) -> None:
        Conversation.steps += 1
        for device in self.world.devices:
            assert device.log == self.world.database.journal[: len(device.log)]

    def teardown(self) -> None:
        self.world.settle()
        self.world.check_at_rest()


@pytest.mark.timeout(120 + STEPS // 100)
def test_both_devices_end_with_exactly_the_agents_log() -> None:
    runs = 3 * STEPS // (2 * STEPS_PER_RUN)  # some runs are cut short
    run_state_machine_as_test(
        Conversation, settings=settings(max_examples=runs, stateful_step_count=STEPS_PER_RUN)
    )
    assert Conversation.steps >= STEPS
