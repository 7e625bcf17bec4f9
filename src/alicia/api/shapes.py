"""How JSON looks outside: camelCase names, text that the database can hold, and pages of a list."""

from datetime import datetime
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from pydantic import AfterValidator, BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from alicia.protocol import values

T = TypeVar("T")
A = TypeVar("A", bound="Answer")


class Json(BaseModel):
    """camelCase outside, snake_case inside. What is sent here must have the right types as it is."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", from_attributes=True, strict=True
    )


class Answer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What is sent. A field is named like the attribute that it comes from, and `name` says it otherwise."""

    @classmethod
    def of(cls: type[A], row: object) -> A:
        """What is shown of a row: of its attributes, those that are fields here."""
        return msgspec.convert(row, cls, from_attributes=True)


Moment = Annotated[datetime, msgspec.Meta(tz=True)]


def shown(*examples: Any, about: str | None = None) -> msgspec.Meta:
    """What the description says about a field."""
    return msgspec.Meta(examples=list(examples) or None, description=about)


def _storable(value: dict[str, Any]) -> dict[str, Any]:
    values.check(value)
    try:
        msgspec.msgpack.encode(value)
    except (UnicodeEncodeError, OverflowError):
        raise ValueError("text must be valid Unicode, and integers must fit into 64 bits") from None
    return value


FreeMap = Annotated[dict[str, Any], AfterValidator(_storable)]
"""A map of any JSON values that the database and the protocol can hold."""
NO_NUL = r"^[^\x00]*$"


class Page(Answer, Generic[T], frozen=True, kw_only=True):
    """A part of a list; `next` is the `before` of the next part, absent at the end."""

    items: list[T]
    next: Annotated[str | None, shown(about="Pass it as `before` to go on; null at the end.")] = None
