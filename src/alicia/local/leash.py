"""A tiny program that ties a child to its parent and then becomes the program it was asked to start.

    python -I -S leash.py PARENT SIGNAL IDENTITY PROGRAM [ARGUMENT …]

PARENT is the pid of the process that starts us, SIGNAL what the kernel sends us when that process is gone,
IDENTITY one of `same`, `namespace:UID` (a user namespace where root is seen as UID) and `user:UID:GID` (that
user, who may still enter every folder). It is a program of its own rather than code between fork and exec,
because the parent may have threads. It imports the standard library only, to start in hundredths of a second.
"""

import ctypes
import os
import sys
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_KEEPCAPS = 8
PR_SET_SECUREBITS = 28
SECBIT_NO_SETUID_FIXUP = 1 << 2
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_RAISE = 2
CAP_DAC_OVERRIDE = 1
CAPABILITY_VERSION_3 = 0x20080522
CLONE_NEWUSER = 0x10000000

libc = ctypes.CDLL(None, use_errno=True)


def check(result: int, what: str) -> None:
    """Raise OSError if a call into the C library failed."""
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def enter_namespace(uid: int) -> None:
    """Be `uid` in a new user namespace; outside, every file and signal is still root's."""
    check(libc.unshare(CLONE_NEWUSER), "cannot make a user namespace")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} 0 1")
    Path("/proc/self/gid_map").write_text(f"{uid} 0 1")


def become_user(uid: int, gid: int) -> None:
    """Be the user `uid`, keeping from root only the right to enter folders and open files.

    The right is ambient, so it survives exec: without it an unprivileged user could reach neither a program
    nor a data folder below root's own home.
    """
    check(libc.prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0), "cannot keep capabilities")
    # Without this, access(2) forgets the right again for everyone but root, and initdb asks access(2).
    check(libc.prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0), "cannot keep capabilities")
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    bit = 1 << CAP_DAC_OVERRIDE
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    data = (ctypes.c_uint32 * 6)(bit, bit, bit, 0, 0, 0)
    check(libc.capset(header, data), "cannot keep the right to enter folders")
    check(
        libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_DAC_OVERRIDE, 0, 0),
        "cannot pass on the right to enter folders",
    )


def main() -> None:
    """Take the identity, put on the leash, and become the program."""
    parent, signal_number, identity, *command = sys.argv[1:]
    kind, *numbers = identity.split(":")
    try:
        if kind == "namespace":
            enter_namespace(int(numbers[0]))
        elif kind == "user":
            become_user(int(numbers[0]), int(numbers[1]))
        # Last, because a change of credentials clears it.
        check(libc.prctl(PR_SET_PDEATHSIG, int(signal_number), 0, 0, 0), "cannot tie the child to its parent")
        if os.getppid() != int(parent):
            sys.exit("the process that started this one is gone already")
        os.execvp(command[0], command)  # noqa: S606
    except OSError as error:
        sys.exit(f"cannot start {command[0]}: {error}")


if __name__ == "__main__":
    main()
