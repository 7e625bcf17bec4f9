"""Hypothesis strategies for bodies and envelopes, read off the message types themselves."""

from functools import cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from msgspec import inspect

from alicia import ids
from alicia.protocol.envelope import Envelope
from alicia.protocol.fields import extra
from alicia.protocol.messages import BODIES, INT32_MAX, TRANSIENT, Body, Configuration, Tombstone

CONVERSATION = ids.ConversationId("ac_" + "c" * ids.LENGTH)

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
free_values: SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
free_maps = st.dictionaries(texts, free_values, max_size=4)


def id_strategy(*kinds: object) -> SearchStrategy[str]:
    letters = st.text(ids.ALPHABET, min_size=ids.LENGTH, max_size=ids.LENGTH)
    prefixes = st.sampled_from([ids.PREFIXES[kind] for kind in kinds])
    return st.tuples(prefixes, letters).map("_".join)


def _typed(of: inspect.Type) -> SearchStrategy[Any]:
    match of:
        case inspect.Metadata():
            kinds: tuple[object, ...] = extra(of).get("kinds", ())
            return id_strategy(*kinds) if kinds else _typed(of.type)
        case inspect.UnionType(types=types):
            return st.one_of(*map(_typed, types))
        case inspect.IntType(ge=least, le=most):
            return st.integers(least, most)
        case inspect.FloatType(ge=least, le=most):
            return st.floats(least, most)
        case inspect.LiteralType(values=values):
            return st.sampled_from(values)
        case inspect.ListType(item_type=item):
            return st.lists(_typed(item), max_size=4)
        case inspect.DictType():
            return free_maps
        case inspect.StrType():
            return texts
        case inspect.BytesType():
            return st.binary(max_size=64)
        case inspect.BoolType():
            return st.booleans()
        case inspect.NoneType():
            return st.none()
        case _:
            raise TypeError(of)


@cache
def bodies(kind: type[Body]) -> SearchStrategy[Body]:
    """Any body of this kind in one conversation."""
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    drawn = {field.name: _typed(field.type) for field in info.fields}
    drawn |= {name: free_values for name in kind.DYNAMIC if name == "result"}
    drawn["conversation_id"] = st.just(CONVERSATION)
    return st.fixed_dictionaries(drawn).map(lambda fields: kind(**fields))


@st.composite
def envelopes(draw: st.DrawFn) -> Envelope:
    """Any envelope that may travel."""
    kind = draw(st.sampled_from(list(BODIES.values())))
    body: Body | Tombstone = draw(bodies(kind))
    stanza_id = draw(st.integers(1, INT32_MAX))
    previous = None
    if draw(st.booleans()):
        if kind not in TRANSIENT and draw(st.booleans()):
            previous = -draw(st.integers(0, stanza_id - 1))
            if draw(st.integers(0, 9)) == 0:
                body = Tombstone(id=draw(texts))
        stanza_id = -stanza_id
    elif kind is Configuration and draw(st.booleans()):
        body = Configuration()
    return Envelope(
        type=kind.CODE,
        stanza_id=stanza_id,
        previous_stanza_id=previous,
        conversation_id=body.conversation_id if isinstance(body, Body) else CONVERSATION,
        meta=draw(st.none() | free_maps),
        body=body,
    )
