"""The end of a program that talked."""

import subprocess
import sys

PROGRAM = """
import alicia.client.closing as closing
from livekit import rtc
from livekit.rtc._ffi_client import FfiClient

disposed = FfiClient._dispose
FfiClient._dispose = lambda self: (print("farewell"), disposed(self))
closing.time.sleep = lambda _: print("last words")
rtc.AudioSource(16_000, 1)
"""


def test_a_program_ends_only_when_the_sdk_has_nothing_more_to_say() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n") == ["farewell", "last words", ""]
