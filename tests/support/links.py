"""Links that can be cut: a network of the program's own, where nothing gets through to a port for a while."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from itertools import count

MARK = "ALICIA_TEST_NETWORK"
NETWORK = (
    "link set lo up",
    # WebRTC wants an interface that is not loopback.
    "link add alicia0 type veth peer name alicia1",
    "address add 10.97.0.1/24 dev alicia0",
    "link set alicia0 up",
    "link set alicia1 up",
    "route add default via 10.97.0.2",
    # The machine's own addresses are looked up after the cuts.
    "rule add pref 100 lookup local",
    "rule del pref 0",
)


class Refused(Exception):
    """This machine does not let us have a network of our own; the text says why."""


def move_to_own_network() -> None:
    """Start this program again in a network that has only loopback; Refused where that can't be had."""
    if MARK in os.environ:
        return
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        raise Refused("there is no `unshare` or no `ip` (Debian: util-linux, iproute2)")
    rights = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    unshare = ["unshare", *rights, "--net"]
    _run([*unshare, "ip", *NETWORK[1].split()])
    os.environ[MARK] = "new"
    sys.stdout.flush()
    os.execvp(unshare[0], [*unshare, sys.executable, *sys.argv])


def in_own_network() -> bool:
    """Whether links can be cut here."""
    return MARK in os.environ


class Links:
    """Cuts and mends. Use as a context manager, which mends all in the end."""

    def __init__(self) -> None:
        self._places = count(1)
        self._cut: set[str] = set()

    def __enter__(self) -> "Links":
        if os.environ[MARK] == "new":
            for words in NETWORK:
                _run(["ip", *words.split()])
            os.environ[MARK] = "made"
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(Refused):
            self.mend(self._cut)

    def cut(self, *, tcp: Iterable[int] = (), udp: Iterable[int] = ()) -> list[str]:
        """Let nothing through to these ports or from them; what to hand to `mend`."""
        places: list[str] = []
        for protocol, ports in (("tcp", tcp), ("udp", udp)):
            for port in ports:
                for end in ("dport", "sport"):
                    place = str(next(self._places) % 90 + 1)
                    rule = ["ipproto", protocol, end, str(port), "unreachable"]
                    _run(["ip", "rule", "add", "pref", place, *rule])
                    places.append(place)
        self._cut |= set(places)
        return places

    def mend(self, places: Iterable[str]) -> None:
        for place in list(places):
            _run(["ip", "rule", "del", "pref", place])
            self._cut.discard(place)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Refused(done.stderr.strip())
