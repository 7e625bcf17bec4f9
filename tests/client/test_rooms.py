"""Participants that tests put into real rooms."""

import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from livekit import rtc

from support.rooms import Packet, participant
from support.servers import LiveKitServer


async def test_two_participants_see_and_hear_each_other(livekit: LiveKitServer, room: str, user: str) -> None:
    async with participant(livekit, room, f"{user}:a") as a, participant(livekit, room, f"{user}:b") as b:
        await a.sees(b.identity)
        await b.sees(a.identity)
        await a.send(b"to all")
        assert await b.receive() == Packet(b"to all", "alicia", a.identity)
        await b.send(b"to one", to=[a.identity])
        assert await a.receive() == Packet(b"to one", "alicia", b.identity)


async def test_a_participant_may_leave_before_the_end_and_twice(livekit: LiveKitServer, room: str) -> None:
    async with participant(livekit, room, "user:a") as a:
        await a.leave()
        assert not a.room.isconnected()


# In a program of its own: what is tested is that the SDK does not abort the whole process.
_SPEAK = """
import asyncio, sys
from livekit import rtc
from support.rooms import participant
from support.servers import LiveKitServer

async def main():
    async with participant(LiveKitServer(*sys.argv[1:4]), sys.argv[4], "user:a") as speaker:
        source = await speaker.publish_microphone()
        fed = asyncio.Event()

        async def feed():
            while True:
                await source.capture_frame(rtc.AudioFrame.create(48_000, 1, 4_800))
                fed.set()

        speaker.start(feed())
        await fed.wait()

asyncio.run(main())
print("left in peace")
"""


def test_leaving_while_a_frame_is_being_captured_is_no_panic(livekit: LiveKitServer, room: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    words = [sys.executable, "-c", _SPEAK, *asdict(livekit).values(), room]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "left in peace\n"), done.stderr


async def test_a_published_track_reaches_the_others(livekit: LiveKitServer, room: str) -> None:
    async with participant(livekit, room, "user:a") as a, participant(livekit, room, "user:b") as b:
        await a.publish_microphone()
        seen = await b.sees(a.identity)
        assert seen.kind == rtc.ParticipantKind.PARTICIPANT_KIND_STANDARD
