"""What the fields of each body hold, and cheap checks of all ids and all texts of a body at once."""

import re
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple, cast

from msgspec import inspect

from alicia import ids
from alicia.protocol.messages import BODIES, Body


class IdField(NamedTuple):
    """A field that holds an id of one of `kinds`, or one of the other values that it `may_be`."""

    name: str
    encoded_name: str
    kinds: tuple[object, ...]
    may_be: tuple[str | None, ...]


class Fields(NamedTuple):
    """The fields of a body, sorted by what must be checked in them beyond their types."""

    ids: list[IdField]
    texts: list[str]
    nested: list[str]


def extra(metadata: inspect.Metadata) -> dict[str, Any]:
    """What `messages` notes about a type besides its constraints."""
    return cast("dict[str, Any]", metadata.extra or {})  # pyright: ignore[reportUnknownMemberType]


def _fields(kind: type[Body]) -> Fields:
    found = Fields([], [], [])
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)  # noqa: S101 (it tells the type checker)
    for field in info.fields:
        types = field.type.types if isinstance(field.type, inspect.UnionType) else (field.type,)
        kinds = [extra(each) for each in types if isinstance(each, inspect.Metadata) and extra(each)]
        if kinds:
            nil = (None,) if len(types) > 1 else ()
            empty = ("",) if kinds[0]["empty"] else ()
            found.ids.append(IdField(field.name, field.encode_name, kinds[0]["kinds"], (*nil, *empty)))
        elif any(isinstance(each, inspect.ListType | inspect.DictType) for each in types):
            found.nested.append(field.name)
        elif any(isinstance(each, inspect.StrType) for each in types):
            found.texts.append(field.name)
    return found


FIELDS: Final = {kind: _fields(kind) for kind in BODIES.values()}


def _joined(names: Iterable[str]) -> Callable[[Any], str]:
    """A function that joins these attributes of its argument into one text."""
    template = " ".join(f"{{body.{name}}}" for name in names)
    # An f-string of our own field names is twice as fast as any formatting that takes the names as data.
    return eval(f"lambda body: f'{template}'")  # noqa: S307


def id_check(kind: type[Body]) -> Callable[[Any], object]:
    """A function that is true of a body of this kind, as msgspec decoded it, if all its ids are well formed.

    One match over all ids joined costs a third of a match for each. That None reads "None" here is no hole:
    the lengths that msgspec has checked keep such a text out.
    """
    fields = FIELDS[kind].ids
    patterns = ["|".join([*map(str, field.may_be), ids.pattern(*field.kinds)]) for field in fields]
    match = re.compile(" ".join(f"(?:{pattern})" for pattern in patterns)).fullmatch
    joined = _joined(field.name for field in fields)
    return lambda body: match(joined(body))


def text_of(kind: type[Body]) -> Callable[[Any], str]:
    """A function that joins all texts of a body of this kind, ids and nested values left out."""
    return _joined(FIELDS[kind].texts)


def bad_id(body: Body) -> str | None:
    """What is wrong with the first ill-formed id of the body, or None."""
    for field in FIELDS[type(body)].ids:
        value: str | None = getattr(body, field.name)
        if value not in field.may_be and not re.fullmatch(ids.pattern(*field.kinds), value or ""):
            prefixes = " or ".join(f"{ids.PREFIXES[kind]}_" for kind in field.kinds)
            return f"`{field.encoded_name}` must be {prefixes} and {ids.LENGTH} characters of A-Z a-z 0-9 _ -"
    return None
