"""Everything that made a message, and its sound."""

import base64
import hashlib
import re

import httpx2

from alicia import ids
from alicia.ledger.entries import Entry, Recalled, Recording, Spoken
from alicia.protocol.messages import (
    AudioChunk,
    ToolUseResult,
    Transcription,
)
from alicia.storage.memories import NewMemory
from support.callers import bearer
from support.talk import Talk
from support.turns import whole_turn

SAMPLES = bytes(range(256)) * 50


async def test_a_trace_is_complete_for_a_spoken_turn_with_tools_and_memory(
    api: httpx2.AsyncClient, talk: Talk
) -> None:
    audio_id, memory_id = ids.new(ids.AudioId), ids.new(ids.MemoryId)
    asked = talk.user_message("What time is it?", audio_id=audio_id)
    answer = talk.start_answer(asked.id)
    spoken = talk.sentence(answer, 1, "Noon.", final=True)
    step = talk.thought(answer.id, 1, "Look at the clock.")
    request = talk.tool_use(answer.id, 2, "clock", parameters={"zone": "UTC"})
    result = ToolUseResult(conversation_id=talk.id, request_id=request.id, success=True, result="12:00")
    trace = talk.memory_use(
        asked.id, memory_id, "stored", "Asks for the time", metadata={"answerId": answer.id}
    )
    note = talk.note(answer.id, "Right.")
    clip = AudioChunk(
        conversation_id=talk.id, id=audio_id, message_id=asked.id, format="pcm_s16le_16000", duration_ms=400
    )
    chunk = AudioChunk(conversation_id=talk.id, id=spoken.id, format="pcm_s16le_24000", duration_ms=267)
    await talk.append(
        Transcription(conversation_id=talk.id, id=audio_id, text="What time is it?", final=True),
        asked,
        Entry(clip, None, Recording(data=SAMPLES)),
        Entry(answer, {"model": "m"}),
        Entry(trace, None, Recalled(memory=NewMemory(content="Asks for the time"), similarity_score=0.5)),
        step,
        request,
        result,
        Entry(spoken, {"otel_span": "s"}, Spoken(meta={"firstTokenMs": 40})),
        Entry(chunk, None, Recording(data=SAMPLES)),
        note,
    )
    found = (await api.get(f"/messages/{answer.id}/trace")).json()
    assert found["message"]["content"] == "Noon."
    (sentence,) = found["sentences"]
    assert (sentence["text"], sentence["durationMs"], sentence["meta"]) == (
        "Noon.",
        267,
        {"firstTokenMs": 40},
    )
    assert [each["content"] for each in found["reasoning"]] == ["Look at the clock."]
    (used,) = found["toolUses"]
    assert (used["toolName"], used["toolArguments"], used["status"]) == ("clock", {"zone": "UTC"}, "success")
    assert used["toolResult"] == "12:00"
    (remembered,) = found["memories"]
    assert (remembered["memoryId"], remembered["similarityScore"]) == (memory_id, 0.5)
    assert [each["content"] for each in found["notes"]] == ["Right."]
    assert {"model", "otel_span"} <= {each["key"] for each in found["meta"]}
    assert {each["type"] for each in found["stanzas"]} == {13, 14, 5, 6, 7, 16, 10, 15}
    question = (await api.get(f"/messages/{asked.id}/trace")).json()
    (heard,) = question["audio"]
    assert (heard["transcription"], heard["audioBytesize"]) == ("What time is it?", len(SAMPLES))
    uses = (await api.get(f"/memories/{memory_id}/uses")).json()
    (use,) = uses["items"]
    assert (use["messageId"], use["messageContent"], use["action"]) == (asked.id, asked.content, "stored")

    for path, rate in ((f"/sentences/{spoken.id}/audio", 24_000), (f"/audio/{audio_id}", 16_000)):
        await _is_a_wav_file_in_ranges(api, path, rate)
        stranger = await api.get(path, headers=bearer("stranger"))
        assert stranger.status_code == 404


async def test_a_trace_is_told_event_by_event_as_text(api: httpx2.AsyncClient, talk: Talk) -> None:
    turn = await whole_turn(talk, "xylophone")
    told = await api.get(f"/messages/{turn.answer}/trace", params={"format": "text"})
    assert told.headers["content-type"] == "text/plain; charset=utf-8"
    events = [line.split()[2] for line in told.text.splitlines() if line.startswith("  ")]
    assert set(events) == {
        *("heard", "asked", "answered", "learned", "waited", "thought", "tool", "said", "spoke", "ended"),
        "noted",
    }
    assert events.count("learned") == 1
    (wait,) = (await api.get(f"/messages/{turn.answer}/trace")).json()["waits"]
    assert wait["askedAt"] <= wait["firstTokenAt"]
    assert re.search(rf"for the model's first token .*\[{wait['ref']}\]", told.text)
    for told_of in (turn.asked, turn.answer, turn.memory, 'search {"q":"xylophone"}', "looked for by"):
        assert told_of in told.text
    whole = await api.get(f"/conversations/{talk.id}/trace", params={"format": "text"})
    assert whole.text == told.text


async def test_an_answer_that_is_being_given_has_not_ended(api: httpx2.AsyncClient, talk: Talk) -> None:
    asked = talk.user_message()
    answer = talk.start_answer(asked.id)
    await talk.append(asked)
    await talk.append(answer)
    await talk.append(talk.sentence(answer, 1, "It is"))
    address, text = f"/messages/{answer.id}/trace", {"format": "text"}
    assert " ended " not in (await api.get(address, params=text)).text
    await talk.append(talk.sentence(answer, 2, " Everest.", final=True))
    assert " ended " in (await api.get(address, params=text)).text


async def test_a_trace_is_a_page_that_needs_nothing_else_and_runs_nothing(
    api: httpx2.AsyncClient, talk: Talk
) -> None:
    turn = await whole_turn(talk, "<script>alert(1)</script>")
    page = await api.get(f"/messages/{turn.answer}/trace", params={"format": "html"})
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    (policy,) = page.headers.get_list("content-security-policy")
    (style,) = re.findall("<style>(.*?)</style>", page.text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'"
    assert "<script" not in page.text
    assert "&lt;script&gt;alert(1)" in page.text
    assert not re.search(r"(src|href|url)\s*[=(]", page.text)
    assert "waited: for the model&#x27;s first token" in page.text
    assert page.text.count("<rect ") == page.text.count("<tr>") - 1


async def test_a_conversations_trace_is_read_page_by_page(api: httpx2.AsyncClient, talk: Talk) -> None:
    for number in range(3):
        await talk.exchange(f"Q{number}", f"A{number}")
    at = f"/conversations/{talk.id}/trace"
    newest = (await api.get(at, params={"limit": 4})).json()
    assert [each["message"]["content"] for each in newest["items"]] == ["Q1", "A1", "Q2", "A2"]
    older = (await api.get(at, params={"limit": 4, "before": newest["next"]})).json()
    assert [each["message"]["content"] for each in older["items"]] == ["Q0", "A0"]
    assert older["next"] is None


async def _is_a_wav_file_in_ranges(api: httpx2.AsyncClient, path: str, rate: int) -> None:
    whole = await api.get(path)
    assert whole.status_code == 200
    assert whole.headers["content-type"] == "audio/wav"
    assert whole.headers["accept-ranges"] == "bytes"
    file = whole.content
    assert file[:4] == b"RIFF"
    assert file[44:] == SAMPLES
    assert int.from_bytes(file[24:28], "little") == rate
    assert int.from_bytes(file[4:8], "little") == len(file) - 8
    size = len(file)
    for asked, start, end in (
        ("bytes=0-", 0, size),
        ("bytes=0-0", 0, 1),
        ("bytes=10-99", 10, 100),
        ("bytes=44-143", 44, 144),
        ("bytes=1000-", 1000, size),
        ("bytes=-5", size - 5, size),
        ("bytes=5-9999999", 5, size),
        ("bytes=-9999999", 0, size),
    ):
        part = await api.get(path, headers={"Range": asked})
        assert part.status_code == 206, asked
        assert part.content == file[start:end], asked
        assert part.headers["content-range"] == f"bytes {start}-{end - 1}/{size}"
    for asked in (f"bytes={size}-", "bytes=9-5", "bytes=-0", "bytes=-", "lines=1-2"):
        refused = await api.get(path, headers={"Range": asked})
        assert refused.status_code == 416
        assert refused.headers["content-range"] == f"bytes */{size}"
    etag = whole.headers["etag"]
    assert (await api.get(path, headers={"If-None-Match": etag})).status_code == 304
    changed = await api.get(path, headers={"Range": "bytes=0-0", "If-Range": '"old"'})
    assert (changed.status_code, changed.content) == (200, file)


async def test_stored_files_are_served_as_what_they_are(api: httpx2.AsyncClient, talk: Talk) -> None:
    asked = talk.user_message()
    await talk.append(asked)
    for data, media_type in (
        (b"OggS\0\2" + bytes(60), "audio/ogg"),
        (b"RIFF\0\0\0\0WAVE" + bytes(60), "audio/wav"),
        (b"\x1aE\xdf\xa3" + bytes(60), "audio/webm"),
        (b"<html>", "application/octet-stream"),
    ):
        clip = AudioChunk(
            conversation_id=talk.id,
            id=ids.new(ids.AudioId),
            message_id=asked.id,
            format="opus",
            duration_ms=1,
        )
        await talk.append(Entry(clip, None, Recording(data=data)))
        answer = await api.get(f"/audio/{clip.id}")
        assert (answer.content, answer.headers["content-type"]) == (data, media_type)
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert (await api.get(f"/audio/{ids.new(ids.AudioId)}")).status_code == 404
