"""Asking the model what the user's statements tell of their life, and believing it only as far as they go.

The model is given the statements one by one and says of each what kind it is, and what it tells. Which
statement a fact comes from is thus known without the model's quoting it, which small ones do badly.
"""

from collections.abc import Sequence
from typing import Any, Final, Protocol

import msgspec

from alicia.llm.messages import Message
from alicia.memory.comparing import denied_in, denies, stem, values_of, word_set, words_of
from alicia.memory.guard import is_order
from alicia.memory.statements import speaks, statements

KINDS: Final = {
    "about the user": "profile_attribute",
    "likes and dislikes": "user_preference",
    "people and things": "world_fact",
    "plan": "long_term_note",
    "request": None,
    "small talk": None,
    "story": None,
    "general": None,
}
"""The kinds of statements, with the type of the memories that come of them; None for no memory."""
MOST: Final = 3
"""How many facts one statement may tell."""
_LONGEST: Final = 160
_CONTEXT: Final = 300

_SYSTEM: Final = """\
You keep the long-term memory of an assistant. You are given what the user has just said, in numbered \
statements. For each statement say what kind it is, and note the facts of the user's life that it tells, \
each as one short sentence in the third person.

Kinds with facts:
about the user: name, age, home, work, health, origin, languages, habits, belongings
likes and dislikes: what the user likes, dislikes or prefers, and how the user wants to be talked to
people and things: family, friends, pets, colleagues and neighbours of the user
plan: what the user is going to do or wants to do some day
Kinds without facts:
request: the assistant is to do, find or explain something now
small talk: thanks, greetings, opinions, guesses, moods of the moment
story: fiction, games, jokes, what-ifs
general: about the world, not about the user's life"""

# What varies comes last, so that a server that keeps what it has read reads the rest once.
_EXAMPLES: Final[tuple[tuple[Sequence[str], Sequence[tuple[str, Sequence[str]]]], ...]] = (
    (
        ["I'm Noah, 28", "I really can't stand mushrooms."],
        [
            ("about the user", ["The user's name is Noah.", "The user is 28 years old."]),
            ("likes and dislikes", ["The user can't stand mushrooms."]),
        ],
    ),
    (["Write me a short poem about autumn."], [("request", [])]),
    (
        ["By the way, we moved to Madrid last week.", "I never eat breakfast."],
        [
            ("about the user", ["The user lives in Madrid."]),
            ("about the user", ["The user never eats breakfast."]),
        ],
    ),
    (
        ["I guess this winter will be cold.", "I need the result in metres."],
        [("small talk", []), ("request", [])],
    ),
    (
        ["My brother Sam is a pilot.", "We want to visit him in Texas next summer."],
        [
            ("people and things", ["The user's brother Sam is a pilot."]),
            ("plan", ["The user wants to visit Sam in Texas next summer."]),
        ],
    ),
    (
        ["Let's pretend that I am a wizard.", "Please be brief with me, I prefer that."],
        [("story", []), ("likes and dislikes", ["The user prefers brief answers."])],
    ),
)

_PEOPLE: Final = word_set("""
    mother mum mom father dad parents brother sister son daughter child children kids baby wife husband
    partner girlfriend boyfriend friend uncle aunt cousin nephew niece grandmother grandfather grandma grandpa
    boss colleague neighbour neighbor roommate flatmate teacher doctor landlord
""")
_NUMBERS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


class Completer(Protocol):
    """A model that answers in JSON; `alicia.llm.chat.ChatModel` is one."""

    async def complete(
        self, messages: Sequence[Message], *, schema: dict[str, Any], max_tokens: int | None = None
    ) -> Any:
        """An answer that fits the schema, or ModelUnavailable."""
        ...


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """Something that the user has said: as a memory has it, and the statement that it comes from."""

    content: str
    type: str
    statement: str


class _Told(msgspec.Struct, frozen=True):
    kind: str
    facts: list[str]


class _Answer(msgspec.Struct, frozen=True):
    statements: list[_Told]


async def extract(model: Completer, said: str, before: Sequence[Message]) -> list[Fact]:
    """What the model finds in the user's words, less what they do not bear out and what gives orders.

    A message without a statement about the user costs nothing: the model is not asked.
    """
    asked = next((one.content for one in reversed(before) if one.role == "assistant"), "")
    own = statements(said, asked=asked.rstrip().endswith("?"))
    if not own:
        return []
    request = [*_beginning(), Message("user", _shown(own, asked))]
    answer = await model.complete(request, schema=_schema(len(own)), max_tokens=80 * len(own) + 160)
    found = [
        Fact(content=content.strip(), type=type_, statement=_source(content, own, listed))
        for listed, told in zip(own, msgspec.convert(answer, _Answer).statements, strict=False)
        if (type_ := KINDS.get(told.kind))
        for content in told.facts[:MOST]
    ]
    return _distinct([fact for fact in found if holds(fact, own)])


def holds(fact: Fact, own: Sequence[str]) -> bool:
    """Whether the user's own statements say this, and whether it is about them and no order to us."""
    spoken = {word for statement in own for word in _heads(statement)}
    told = _heads(fact.content)
    values = [_head(word) for word in values_of(fact.content)]
    if not told or is_order(fact.content) or any(word not in spoken for word in values):
        return False
    if _head("assistant") in told or not _names_whom(fact):
        return False
    # A sentence made of a name or a number that was said may use other words around it, but no other name.
    share = 0.3 if values else 0.5
    if sum(word in spoken for word in told) < share * len(told):
        return False
    # The model may have lost a "not" on the way.
    denied = {_head(word) for word in denied_in(fact.statement)}
    return denies(fact.content) or denied.isdisjoint(told)


def _source(content: str, own: Sequence[str], listed: str) -> str:
    """The statement that a fact comes from. Small models list some under the statement before or after."""
    told = set(_heads(content))
    return max([listed, *own], key=lambda statement: len(told & set(_heads(statement))))


def _distinct(facts: Sequence[Fact]) -> list[Fact]:
    """Without those that say no more than another one does."""
    words = [set(_heads(fact.content)) for fact in facts]
    return [
        fact
        for n, fact in enumerate(facts)
        if not any(words[n] < other or (words[n] == other and m < n) for m, other in enumerate(words))
    ]


def _names_whom(fact: Fact) -> bool:
    """What is said only of a person near the user must not become the user's own."""
    people = set(words_of(fact.statement)) & _PEOPLE
    return not people or speaks(fact.statement) or not people.isdisjoint(words_of(fact.content))


def _beginning() -> list[Message]:
    messages = [Message("system", _SYSTEM)]
    for own, told in _EXAMPLES:
        answer = {"statements": [{"kind": kind, "facts": facts} for kind, facts in told]}
        messages += [Message("user", _shown(own)), Message("assistant", msgspec.json.encode(answer).decode())]
    return messages


def _shown(own: Sequence[str], asked: str = "") -> str:
    context = f"The assistant had said:\n{asked[-_CONTEXT:]}\n\n" if asked else ""
    return f"{context}Statements:\n" + "\n".join(f"{n}. {each}" for n, each in enumerate(own, 1))


def _schema(count: int) -> dict[str, Any]:
    facts = {"type": "array", "maxItems": MOST, "items": {"type": "string", "maxLength": _LONGEST}}
    told = {
        "type": "object",
        "properties": {"kind": {"enum": list(KINDS)}, "facts": facts},
        "required": ["kind", "facts"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"statements": {"type": "array", "minItems": count, "maxItems": count, "items": told}},
        "required": ["statements"],
        "additionalProperties": False,
    }


def _heads(text: str) -> list[str]:
    return [_head(word) for word in words_of(text)]


def _head(word: str) -> str:
    """The beginning of a word, which its forms share; numbers as digits."""
    return str(_NUMBERS.index(word) + 1) if word in _NUMBERS else stem(word)[:5]
