"""Another host, in a network namespace of its own, whose link a test can cut."""

import contextlib
import os
import secrets
import shutil
import subprocess
from collections.abc import Generator
from contextlib import contextmanager


class Refused(Exception):
    """This machine does not let us make namespaces; the text says why."""


class Namespace:
    """A host at the other end of a cable; `here` is our own address on it."""

    def __init__(self) -> None:
        mark = secrets.token_hex(3)
        self.name = f"alicia-{mark}"
        self.cable, self._far = f"al{mark}a", f"al{mark}b"
        number = secrets.randbelow(60_000)
        self.here = f"10.99.{number // 250}.{1 + number % 250}"
        self.there = f"10.98.{number // 250}.{1 + number % 250}"

    def make(self) -> None:
        """Lay the cable."""
        ip("netns", "add", self.name)
        ip("link", "add", self.cable, "type", "veth", "peer", "name", self._far, "netns", self.name)
        self.mend()
        inside = ("-n", self.name)
        ip(*inside, "address", "add", self.there, "peer", self.here, "dev", self._far)
        ip(*inside, "link", "set", self._far, "up")
        ip(*inside, "link", "set", "lo", "up")

    def cut(self) -> None:
        """Nothing gets through any more, in either direction, and nobody is told."""
        ip("link", "set", self.cable, "down")

    def mend(self) -> None:
        """All as before."""
        with contextlib.suppress(Refused):
            ip("address", "add", self.here, "peer", self.there, "dev", self.cable)
        ip("link", "set", self.cable, "up")

    def remove(self) -> None:
        with contextlib.suppress(Refused):
            ip("netns", "delete", self.name)

    def command(self, *words: str) -> list[str]:
        """A command line that runs over there."""
        return ["ip", "netns", "exec", self.name, *words]


def ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Refused(done.stderr.strip())


@contextmanager
def namespace() -> Generator[Namespace]:
    """Make a namespace, and remove it."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        raise Refused("network namespaces need root and the command `ip` (Debian: iproute2)")
    made = Namespace()
    try:
        made.make()
        yield made
    finally:
        made.remove()
