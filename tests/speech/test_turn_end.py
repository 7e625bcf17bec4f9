"""When a silence ends a turn: as soon as nothing more need follow, and not in the middle of a sentence."""

import pytest
from livekit.agents import AgentSession, LanguageCode, stt

from alicia.speech.turn_end import OPEN, USUAL, WHOLE, Ending, ending, heed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What time is it?", "whole"),
        ("It was the age of wisdom.", "whole"),
        ("He said “stop.”", "whole"),
        ("Wie spät ist es?", "whole"),
        ("今何時ですか。", "whole"),
        ("Who are you talking to?", "whole"),
        ("It was the age of.", "open"),
        ("I would like to", "open"),
        ("Remind me to call my…", "open"),
        ("Well, I'm", "open"),
        ("Turn it on and, um.", "open"),
        ("We had everything before us,", "unknown"),
        ("go forward ten meters", "unknown"),
        ("", "unknown"),
        ("…", "unknown"),
    ],
)
def test_the_last_words_tell_whether_more_must_follow(text: str, expected: Ending) -> None:
    assert ending(text) == expected


def event(text: str, kind: stt.SpeechEventType = stt.SpeechEventType.PREFLIGHT_TRANSCRIPT) -> stt.SpeechEvent:
    return stt.SpeechEvent(type=kind, alternatives=[stt.SpeechData(language=LanguageCode("en"), text=text)])


async def test_a_session_waits_as_long_as_the_newest_words_ask_for() -> None:
    session: AgentSession[None] = AgentSession(turn_handling={"endpointing": USUAL})
    waits: list[tuple[float | None, float | None]] = []
    for each in (
        event("Remind me to call my"),
        event(""),
        event("Remind me to call my mother.", stt.SpeechEventType.INTERIM_TRANSCRIPT),
        event("Remind me to call my mother.", stt.SpeechEventType.FINAL_TRANSCRIPT),
        event("and my father"),
    ):
        heed(session, each)
        delays = session.options.endpointing
        waits.append((delays.get("min_delay"), delays.get("max_delay")))
    asked = (OPEN, OPEN, OPEN, WHOLE, USUAL)
    assert waits == [(each.get("min_delay"), each.get("max_delay")) for each in asked]
