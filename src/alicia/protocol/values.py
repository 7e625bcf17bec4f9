"""Values without a fixed shape (`meta`, `parameters`, `result`…): only what JSON in PostgreSQL can hold."""

import sys
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias, Union, cast

from msgspec import Meta

MAX_DEPTH: Final = 32
"""How deeply maps and lists may nest, the outermost counted."""

MAX_KEY: Final = 600
"""Characters in a key of `meta`, which is indexed and so must fit into a page of the index."""

_SCALARS: Final = frozenset({str, int, bool, type(None)})


def _quickly_checked(depth: int) -> Any:
    largest = sys.float_info.max
    finite = Annotated[float, Meta(ge=-largest, le=largest)]
    value: Any = Union[None, bool, int, finite, str]  # noqa: UP007
    scalar = value
    for _ in range(depth):
        value = Union[scalar, list[value], dict[str, value]]  # noqa: UP007
    return value


if TYPE_CHECKING:
    Value: TypeAlias = Any
else:
    # msgspec checks this in C for nothing, but its types cannot recur, and each level doubles them. The few
    # values that nest deeper are left to `check`.
    Value = _quickly_checked(5)

Map: TypeAlias = dict[str, Value]


class Unstorable(ValueError):
    """The value would not survive a round trip through the database; the text says why."""


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
    elif kind not in _SCALARS:
        raise Unstorable(
            f"a value must be text, a number, a boolean, nil, a list or a map, not {kind.__name__}"
        )


def check_keys(meta: Map) -> None:
    """Refuse keys of `meta` that are too long to be indexed."""
    if any(len(key) > MAX_KEY for key in meta):
        raise Unstorable(f"a key of `meta` has at most {MAX_KEY} characters")
