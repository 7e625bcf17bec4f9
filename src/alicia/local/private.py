"""Files that only their owner may read."""

import os
from pathlib import Path


def write_private(path: Path, text: str) -> None:
    """Write a file that is its owner's alone from the first byte on, and is never seen half written."""
    unfinished = path.with_name(path.name + ".new")
    unfinished.unlink(missing_ok=True)
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    unfinished.replace(path)
