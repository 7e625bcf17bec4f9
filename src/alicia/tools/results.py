"""Results: made plain JSON that every part can hold, and cut to what fits into a packet."""

from typing import Any, cast

import msgspec

from alicia.errors import ErrorCode
from alicia.protocol.values import MAX_DEPTH
from alicia.tools.definition import ToolError

DEEPEST = MAX_DEPTH
"""How far a result may be nested: what the wire can carry."""
_MARK = "…"
_LEAST = 16
"""Bytes under which a piece of a cut result is not worth keeping."""


def plain(value: Any) -> Any:
    """The same value in lists, maps, text, numbers, booleans and null; ToolError if it has no such form.

    What PostgreSQL's jsonb or MessagePack cannot hold is replaced: a NUL in text by U+FFFD, a whole number
    beyond 64 bits by its digits, a number that is none by null.
    """
    try:
        encoded = msgspec.json.encode(value)
        # Escaped or not, only text can hold a NUL; a backslash before it makes this a false alarm at worst.
        if b"\\u0000" not in encoded:
            decoded = msgspec.json.decode(encoded)
            # Fails on whole numbers that are too large for it.
            msgspec.msgpack.encode(decoded)
            if _depth(decoded) <= DEEPEST:
                return decoded
            raise ToolError("The result is nested too deeply.")
    except (TypeError, ValueError, OverflowError, msgspec.MsgspecError, RecursionError):
        pass
    return _plain(value, 0)


def _depth(value: Any) -> int:
    """How many containers stand inside each other, as far as it matters."""
    depth, level = 0, _children([value])
    while level and depth <= DEEPEST:
        depth += 1
        level = _children([child for one in level for child in _items(one)])
    return depth


def _children(values: list[Any]) -> list[Any]:
    return [value for value in values if isinstance(value, dict | list)]


def _items(value: Any) -> list[Any]:
    return list(cast("dict[str, Any]", value).values()) if isinstance(value, dict) else value


def _plain(value: Any, depth: int) -> Any:
    if depth > DEEPEST:
        raise ToolError("The result is nested too deeply.")
    match value:
        case None | bool():
            return value
        case int():
            return int(value) if -(2**63) <= value < 2**64 else str(value)
        case float():
            return value if value - value == 0 else None
        case str():
            return value.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
        case dict():
            items = cast("dict[Any, Any]", value).items()
            return {_plain(str(key), depth): _plain(item, depth + 1) for key, item in items}
        case list() | tuple():
            return [_plain(item, depth + 1) for item in cast("list[Any]", value)]
        case _:
            try:
                built = msgspec.to_builtins(value)
            except (TypeError, ValueError, msgspec.MsgspecError):
                built = value
            if built is value:
                kind = type(value).__name__
                raise ToolError(f"The tool gave a {kind}, which is not JSON.", ErrorCode.TOOL_FAILED)
            return _plain(built, depth + 1)


def cut(value: Any, limit: int) -> tuple[Any, bool]:
    """A plain value of at most `limit` bytes of MessagePack, and whether anything was left out.

    Small fields stay whole and large ones share what is left; lists keep their beginning.
    """
    if _size(value) <= limit:
        return value, False
    return _shrink(value, limit), True


def _size(value: Any) -> int:
    return len(msgspec.msgpack.encode(value))


def _shrink(value: Any, limit: int) -> Any:
    """Something like `value` in at most `limit` bytes, or null where nothing sensible fits."""
    if limit < _LEAST:
        return None
    match value:
        case str():
            kept = value.encode()[: limit - 5 - len(_MARK.encode())].decode(errors="ignore")
            return kept + _MARK
        case dict():
            return _shrink_map(cast("dict[str, Any]", value), limit - 5)
        case list():
            return _shrink_list(cast("list[Any]", value), limit - 5)
        case _:
            return None


def _shrink_list(values: list[Any], left: int) -> list[Any]:
    kept: list[Any] = []
    for item in values:
        size = _size(item)
        if size > left:
            # The rest would be null: better a shorter list than one that ends in holes.
            if left >= _LEAST and isinstance(item, str | dict | list):
                kept.append(_shrink(item, left))
            break
        kept.append(item)
        left -= size
    return kept


def _shrink_map(values: dict[str, Any], left: int) -> dict[str, Any]:
    sizes = sorted((_size(item) + _size(key), key) for key, item in values.items())
    kept: dict[str, Any] = {}
    for number, (size, key) in enumerate(sizes):
        share = left // (len(sizes) - number)
        if size <= share:
            kept[key] = values[key]
            left -= size
        elif share - _size(key) >= _LEAST:
            kept[key] = _shrink(values[key], share - _size(key))
            left -= _size(kept[key]) + _size(key)
    return {key: kept[key] for key in values if key in kept}
