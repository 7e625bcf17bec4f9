"""Free ports, on the loopback interface unless told otherwise."""

import socket

LOOPBACK = "127.0.0.1"


def is_free(port: int, kind: socket.SocketKind = socket.SOCK_STREAM, *, host: str = LOOPBACK) -> bool:
    """Whether a server could listen on this port now."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, kind) as probe:
        if kind == socket.SOCK_STREAM:
            # What a server does as well: a connection that lingers after a restart does not hold the port.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def choose(kind: socket.SocketKind = socket.SOCK_STREAM) -> int:
    """Return a loopback port that nobody uses at this moment."""
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])
