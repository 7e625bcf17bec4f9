"""A whole `alicia up`, as a device sees it."""

import os
import signal

import psutil

from support.up import Up


class Embedded:
    """An address and a way in; parts can be killed."""

    def __init__(self, up: Up) -> None:
        self.up = up
        self.url = f"http://127.0.0.1:{up.port}"

    def token(self, user: str) -> str:
        """There is one user here, and nobody asks."""
        return user

    def kill(self, part: str) -> None:
        os.kill(self.up.children()[part], signal.SIGKILL)

    @property
    def database_url(self) -> str:
        return psutil.Process(self.up.children()["API"]).environ()["ALICIA_DATABASE_URL"]
