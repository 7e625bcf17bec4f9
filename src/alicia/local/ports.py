"""Free ports, on the loopback interface unless told otherwise."""

import errno
import socket

LOOPBACK = "127.0.0.1"


def obstacle(port: int, kind: socket.SocketKind = socket.SOCK_STREAM, *, host: str = LOOPBACK) -> str | None:
    """Return what keeps a server from listening on this port now, as the rest of a sentence, or None."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, kind) as probe:
        if kind == socket.SOCK_STREAM:
            # What a server does as well: a connection that lingers after a restart does not hold the port.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return "is taken by another program"
            return f"cannot be used at {host} ({error.strerror})"
    return None


def choose(kind: socket.SocketKind = socket.SOCK_STREAM) -> int:
    """Return a loopback port that nobody uses at this moment."""
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])
