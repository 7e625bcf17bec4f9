"""Who knew what when: the events of messages, in the order in which they came about."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

import msgspec

from alicia.storage.traces import Trace
from alicia.telemetry import tracing

Heard = Literal["heard", "asked", "noted"]
Made = Literal["answered", "remembered", "learned", "waited", "thought", "tool", "said", "spoke", "ended"]
What = Heard | Made


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened, from when to when, and what is known of it."""

    what: What
    start: datetime
    end: datetime
    text: str
    detail: str = ""
    ref: str


def events(traces: Sequence[Trace]) -> list[Event]:
    """What happened in these messages. Times are those at which things were stored, but for the model's."""
    found = [event for trace in traces for event in _of(trace)]
    # A memory that a question prompted is told both of the question and of its answer.
    unique = {(event.what, event.ref, event.start): event for event in found}
    return sorted(unique.values(), key=lambda event: event.start)


def trace_id(trace: Trace) -> str | None:
    """The OpenTelemetry trace that the message belongs to, if it was traced."""
    own = (row.value for row in trace.meta if row.ref == trace.message.id and row.key == tracing.TRACE_ID)
    return next(own, None)


def _of(trace: Trace) -> Iterator[Event]:
    message = trace.message
    if message.message_role == "assistant":
        yield _at("answered", message.created_at, "", message.id, f"to {message.previous_id}")
    yield from _heard(trace)
    if message.message_role != "assistant":
        yield _at("asked", message.created_at, message.contents, message.id)
    yield from _remembered(trace)
    for wait in trace.waits:
        yield Event(
            what="waited",
            start=wait.asked_at,
            end=wait.first_token_at,
            text="for the model's first token",
            ref=wait.ref,
        )
    for step in trace.reasoning:
        yield _at("thought", step.created_at, step.content, step.id)
    for use in trace.tool_uses:
        yield Event(
            what="tool",
            start=use.created_at,
            end=use.completed_at or use.updated_at,
            text=f"{use.tool_name} {_json(use.tool_arguments)}",
            detail=f"{use.status}: {use.error_message or _json(use.tool_result)}",
            ref=use.id,
        )
    yield from _said(trace)
    for note in trace.commentaries:
        yield _at("noted", note.created_at, note.content, note.id, f"by {note.created_by}")


def _heard(trace: Trace) -> Iterator[Event]:
    for each in trace.audio:
        length = timedelta(milliseconds=each.duration_ms or 0)
        detail = ", ".join(filter(None, [each.audio_format, _json(each.transcription_meta)]))
        yield Event(
            what="heard",
            start=each.created_at - length,
            end=each.created_at,
            text=each.transcription or "",
            detail=detail,
            ref=each.id,
        )


def _remembered(trace: Trace) -> Iterator[Event]:
    for use in trace.memories:
        scores = {"confidence": use.confidence, "similarity": use.similarity_score, **use.meta}
        told = [f"{name} {value:.2f}" for name, value in scores.items() if isinstance(value, int | float)]
        detail = f"{use.memory_id}, {use.action}" + "".join(f", {each}" for each in told)
        if use.query_prompt:
            detail += f", looked for by {use.query_prompt!r}"
        what = "remembered" if use.action == "retrieved" else "learned"
        yield _at(what, use.created_at, use.content, use.id, detail)


def _said(trace: Trace) -> Iterator[Event]:
    spoken_until = datetime.min.replace(tzinfo=trace.message.created_at.tzinfo)
    before = trace.message.created_at
    for sentence in trace.sentences:
        # A sentence was being made since the one before it was ready, or since a tool gave its result.
        ends = [use.completed_at for use in trace.tool_uses if use.completed_at]
        start = max([before, *(each for each in ends if each <= sentence.created_at)])
        before = sentence.created_at
        yield Event(what="said", start=start, end=before, text=sentence.text, ref=sentence.id)
        if sentence.duration_ms:
            begun = max(spoken_until, sentence.created_at)
            spoken_until = begun + timedelta(milliseconds=sentence.duration_ms)
            detail = f"{sentence.audio_format}, {sentence.duration_ms} ms"
            yield Event(what="spoke", start=begun, end=spoken_until, text="", detail=detail, ref=sentence.id)
    status = trace.message.completion_status
    if trace.message.message_role == "assistant" and status not in ("pending", "streaming"):
        text = "" if trace.sentences else trace.message.contents
        yield _at("ended", max(before, trace.message.updated_at), text, trace.message.id, status)


def _at(what: What, moment: datetime, text: str, ref: str, detail: str = "") -> Event:
    return Event(what=what, start=moment, end=moment, text=text, detail=detail, ref=ref)


def _json(value: Any) -> str:
    return "" if value in (None, {}) else msgspec.json.encode(value).decode()
