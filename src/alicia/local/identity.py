"""As whom a program runs that refuses to run as root."""

import os
import pwd
import signal
import subprocess
from functools import cache
from pathlib import Path

from alicia.errors import AliciaError
from alicia.local.process import leashed


class IdentityError(AliciaError):
    """This machine offers no way to run the program; the text says what to change."""


@cache
def identity_for(program: Path) -> str:
    """Return the first identity, in the words of `leash`, with which `program` runs here.

    Root tries a user namespace first, where all files stay root's own, and then an unprivileged user, for
    containers that forbid namespaces.
    """
    if os.geteuid() != 0:
        return "same"
    # Someone whom the user database knows, because initdb looks its user up.
    others = [entry for entry in pwd.getpwall() if entry.pw_uid != 0]
    user = min(others, key=lambda entry: entry.pw_name != "nobody")
    for identity in (f"namespace:{user.pw_uid}", f"user:{user.pw_uid}:{user.pw_gid}"):
        attempt = leashed([str(program), "--version"], signal.SIGKILL, identity)
        if subprocess.run(attempt, capture_output=True, check=False).returncode == 0:
            return identity
    raise IdentityError(
        f"{program.name} refuses to run as root, and this machine allows neither a user namespace nor a "
        f"change to the user {user.pw_name}: run Alicia as another user than root, with ALICIA_HOME set to a "
        "folder of that user, or set ALICIA_DATABASE_URL to a PostgreSQL that runs elsewhere."
    )


def own(folder: Path, identity: str) -> None:
    """Give the folder to the user of this identity, should another have made it."""
    if os.geteuid() != 0:
        return
    kind, *numbers = identity.split(":")
    uid, gid = (int(numbers[0]), int(numbers[1])) if kind == "user" else (0, 0)
    if folder.stat().st_uid != uid:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, uid, gid, follow_symlinks=False)
