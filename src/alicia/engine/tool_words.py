"""Tool uses in words: for the wire, for the prompt of their own answer, and for those of later ones."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from alicia import ids
from alicia.ledger.entries import Entry, Outcome
from alicia.llm.messages import ToolCall
from alicia.protocol.messages import Map, ToolUseResult
from alicia.tools.definition import ToolError
from alicia.tools.outcome import ToolOutcome
from alicia.tools.results import cut, plain

WIRE_BYTES: Final = 50_000
"""What a request's parameters or a result may have on the wire, so that it fits into a packet."""
LONGEST_COMPLAINT: Final = 10_000
LONGEST_NOTE: Final = 240
MOST_NOTES: Final = 6
"""How much later prompts know of the tools that an answer used."""


def parameters_of(call: ToolCall) -> Map:
    """A call's arguments as the request shows them; what is no JSON object is shown as the model wrote it."""
    try:
        shown: Map = plain(msgspec.json.decode(call.arguments or "{}", type=dict[str, Any]))
    except (msgspec.MsgspecError, UnicodeError, RecursionError, ToolError):
        shown = {"arguments": plain(call.arguments)}
    return cut(shown, WIRE_BYTES)[0]


def as_json(value: Any) -> str:
    """A plain value as a model reads it."""
    return msgspec.json.encode(value).decode()


def result_entry(conversation_id: ids.ConversationId, use_id: ids.ToolUseId, outcome: ToolOutcome) -> Entry:
    """The one result of a use: on the wire cut to a packet, in the database whole."""
    shown, truncated = cut(outcome.result, WIRE_BYTES)
    complaint = outcome.error_message
    body = ToolUseResult(
        conversation_id=conversation_id,
        request_id=use_id,
        success=outcome.success,
        result=shown,
        error_code=outcome.error_code,
        error_message=None if complaint is None else plain(complaint)[:LONGEST_COMPLAINT],
        truncated=truncated or None,
    )
    whole = outcome.result if truncated else None
    return Entry(body, private=Outcome(result=whole, cancelled=outcome.status == "cancelled"))


def answer_of(outcome: ToolOutcome, limit: int) -> str:
    """What the model is told, in about `limit` bytes.

    It stands between marks that it cannot contain itself, because whoever wrote it may want to be obeyed: the
    system prompt says that nothing between them is an instruction.
    """
    value = outcome.result if outcome.success else {"error": outcome.error_message}
    kept, truncated = cut(value, limit)
    told = quoted(kept if isinstance(kept, str) else as_json(kept))
    return f"{told} (cut: only the beginning is here)" if truncated else told


def quoted(text: str) -> str:
    """Text of somebody else's as data."""
    return "<data>" + text.replace("</data", "<\\/data") + "</data>"


def notes_on(uses: Sequence[tuple[ToolCall, ToolOutcome]]) -> str:
    """What the prompts of later answers are told of these uses."""
    return "\n".join(
        note(call.name, call.arguments, answer_of(outcome, LONGEST_NOTE))
        for call, outcome in uses[:MOST_NOTES]
    )


def note(name: str, arguments: str, answer: str) -> str:
    """One use, on one line."""
    given = " ".join(arguments.split())
    given = given if len(given) <= LONGEST_NOTE else f"{given[:LONGEST_NOTE]}…"
    return f"[You used {name}({given}): {' '.join(answer.split())}]"
