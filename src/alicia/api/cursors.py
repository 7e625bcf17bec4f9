"""Opaque cursors: where a list was left, as text that a client hands back unread."""

import base64
import binascii
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

import msgspec
from fastapi import Query

from alicia.api.problems import Problem

T = TypeVar("T")

Before = Annotated[
    str | None,
    Query(max_length=400, description="The `next` of the page before; the newest items if absent."),
]
Limit = Annotated[int, Query(ge=1, le=200, description="How many items at most.")]


class Place(msgspec.Struct, frozen=True, array_like=True):
    """An item by the moment that the list is ordered by, and its id."""

    moment: datetime
    id: str

    @property
    def key(self) -> tuple[datetime, str]:
        return self.moment, self.id


class Ranked(msgspec.Struct, frozen=True, array_like=True):
    """An item of a search by its rank and its id."""

    rank: float
    id: str


class Numbered(msgspec.Struct, frozen=True, array_like=True):
    """An item by its sequence number."""

    number: Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]


def encode(place: msgspec.Struct) -> str:
    """The cursor of this place."""
    return base64.urlsafe_b64encode(msgspec.json.encode(place)).decode().rstrip("=")


def decode(kind: type[T], cursor: str | None) -> T | None:
    """The place that a cursor names; Problem when no list of this kind ever gave it out."""
    if cursor is None:
        return None
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        place = msgspec.json.decode(raw, type=kind)
    except (binascii.Error, ValueError):
        raise _unknown() from None
    return _checked(place)


def _checked(place: Any) -> Any:
    if isinstance(place, Place) and (place.moment.tzinfo is None or place.moment.astimezone(UTC).year < 1970):
        raise _unknown()
    if "\0" in getattr(place, "id", ""):
        raise _unknown()
    return place


def _unknown() -> Problem:
    return Problem(422, "before: this is no cursor of this list.")
