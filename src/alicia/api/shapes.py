"""How JSON looks outside: camelCase names, text that the database can hold, and pages of a list."""

from typing import Annotated, Any, Generic, TypeVar

import msgspec
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from alicia.protocol import values

T = TypeVar("T")


class Json(BaseModel):
    """camelCase outside, snake_case inside. What is sent here must have the right types as it is."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", from_attributes=True, strict=True
    )


class Answer(Json):
    """What is sent; clients ignore fields that they do not know."""

    model_config = ConfigDict(extra="ignore", strict=False)


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


class Page(Answer, Generic[T]):
    """A part of a list; `next` is the `before` of the next part, absent at the end."""

    items: list[T]
    next: str | None = Field(default=None, description="Pass it as `before` to go on; null at the end.")
