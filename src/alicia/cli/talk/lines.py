"""Events as lines of text: for a person one each, for a program as JSON."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from alicia.client import Branch, Event, LogRestarted, StateChange
from alicia.ids import MessageId
from alicia.protocol.envelope import Envelope
from alicia.protocol.messages import (
    AssistantMessage,
    AssistantSentence,
    MemoryTrace,
    ReasoningStep,
    StartAnswer,
    ToolUseRequest,
    ToolUseResult,
    UserMessage,
    UserNote,
)

WIDTH: Final = 100
"""What a line beside the answer may hold; the whole is in the trace."""


def as_json(event: Event) -> str:
    """One line; `type` names the kind of event, the rest are its fields as they travel."""
    match event:
        case StateChange(state, reason):
            fields: dict[str, Any] = {"state": state.value, "reason": reason}
        case LogRestarted():
            fields = {}
        case _:
            fields = msgspec.to_builtins(event)
    return json.dumps({"type": type(event).__name__, **fields}, ensure_ascii=False)


def aside(event: Event) -> str | None:
    """The dim line for what happens beside the answer's text; None for everything else."""
    match event:
        case MemoryTrace():
            sure = "" if event.confidence is None else f" ({event.confidence:.2f})"
            return f"memory  {short(event.content)}{sure}"
        case ReasoningStep():
            return f"thought {short(event.content)}"
        case _:
            return None


def tool_line(request: ToolUseRequest, result: ToolUseResult) -> str:
    """A tool's use in one line: what it was given, and what it gave."""
    given = short(json.dumps(request.parameters, ensure_ascii=False))
    gave = _plain(result.result) if result.success else f"failed: {result.error_message or ''}"
    return f"tool    {request.tool_name} {given} → {short(gave)}"


def branch_lines(branches: Sequence[Branch]) -> list[str]:
    """The branches by number, each with what it does not share with all others."""
    shared = set[MessageId].intersection(*({each.id for each in branch.messages} for branch in branches))
    lines: list[str] = []
    for number, branch in enumerate(branches, 1):
        own = [each for each in branch.messages if each.id not in shared] or branch.messages[-1:]
        told = " → ".join(short(each.text, WIDTH // 2) for each in own[:2])
        lines.append(f"{number:>2}  {told}{'  ← now' if branch.live else ''}")
    return lines


def branch_turns(branch: Branch) -> list["Turn"]:
    """What was said in a branch."""
    return [Turn(each.id, each.role, each.text, each.status or "streaming") for each in branch.messages]


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def short(text: str, width: int = WIDTH) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1] + "…"


@dataclass(slots=True)
class Turn:
    """What was said, by whom."""

    id: str
    role: str
    text: str
    status: str = ""


def transcript(log: Iterable[Envelope]) -> list[Turn]:
    """The messages and notes of a log in their order, without what was edited away, given again or erased."""
    turns: dict[str, Turn] = {}
    for envelope in log:
        match envelope.body:
            case UserMessage() as body:
                _leave_branch(turns, body.supersedes)
                turns[body.id] = Turn(body.id, "user", body.content)
            case StartAnswer() as body:
                _leave_branch(turns, body.supersedes)
                turns[body.id] = Turn(body.id, "assistant", "", "streaming")
            case AssistantSentence() as body if body.previous_id in turns:
                turn = turns[body.previous_id]
                turn.text += body.text
                turn.status = body.status or turn.status
            case AssistantMessage() as body:
                turns[body.id] = Turn(body.id, "assistant", body.content, body.status)
            case UserNote() as body:
                turns[body.id] = Turn(body.id, "note", body.content)
            case _:
                pass
    return list(turns.values())


def _leave_branch(turns: dict[str, Turn], superseded: str | None) -> None:
    """What followed a superseded message belongs to a branch that was left."""
    if superseded in turns:
        ids = list(turns)
        for each in ids[ids.index(superseded) :]:
            del turns[each]
