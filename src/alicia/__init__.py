"""Alicia: a conversational AI that stores every event before it says it."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from alicia.client import connect as connect


def __getattr__(name: str) -> Any:
    # LiveKit's library takes a third of a second to load, and most of the package needs it not at all.
    if name == "connect":
        from alicia.client import connect

        return connect
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
