"""Values without a fixed shape (`meta`, `parameters`, `result`…): only what JSON in PostgreSQL can hold."""

from math import isfinite
from typing import Any, Final, cast

from msgspec import Struct

MAX_DEPTH: Final = 32
"""How deeply maps and lists may nest, the outermost counted."""

_HARMLESS: Final = frozenset({str, int, bool, type(None)})


class Unstorable(ValueError):
    """The value would not survive a round trip through the database; the text says why."""


def check_map(value: dict[str, Any]) -> None:
    """Refuse what cannot be stored, except NUL characters in a flat map, which `check_texts` finds."""
    # Nearly every map is flat and without floats; this one call in C then replaces the walk.
    if not _HARMLESS.issuperset(map(type, value.values())):
        check(value)


def check_texts(struct: Struct) -> None:
    """Refuse NUL characters in any text that the struct holds."""
    for name in struct.__struct_fields__:
        value = getattr(struct, name)
        if isinstance(value, str | list | dict):
            check(cast("Any", value))


def check(value: Any, depth: int = 1) -> None:
    """Refuse, at any depth, all that is not a finite number, clean text, a boolean, nil, a list or a map."""
    kind = cast("type[object]", type(value))
    if kind is str:
        if "\0" in value:
            raise Unstorable("text must not contain NUL characters")
    elif kind is float:
        if not isfinite(value):
            raise Unstorable("numbers must be finite")
    elif kind is dict or kind is list:
        if depth > MAX_DEPTH:
            raise Unstorable(f"maps and lists must not nest more than {MAX_DEPTH} deep")
        if kind is dict:
            for key in value:
                if type(key) is not str:
                    raise Unstorable(f"map keys must be strings, not {type(key).__name__}")
                check(key)
            value = value.values()
        for item in value:
            check(item, depth + 1)
    elif kind not in _HARMLESS:
        raise Unstorable(
            f"a value must be text, a number, a boolean, nil, a list or a map, not {kind.__name__}"
        )
