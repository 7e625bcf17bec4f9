"""What was heard of answers is known again to whoever takes a conversation over."""

from alicia.engine.taking_on import read_turns
from alicia.protocol.messages import AssistantSentence, ControlStop, StopType
from alicia.storage.pool import Pool
from support.talk import Talk


async def stopped(talk: Talk, stop_type: StopType, characters: int | None) -> int | None:
    """How much counts as heard of an answer of three sentences that was stopped in the second."""
    asked = talk.user_message()
    started = talk.start_answer(asked.id)
    sentences = [
        talk.sentence(started, number, text, final=number == 3)
        for number, text in enumerate(("It is high.", " It is very cold.", " Nobody lives there."), 1)
    ]
    await talk.append(asked, started, *sentences)
    await talk.append(_stop(talk, stop_type, sentences[1], characters))
    async with talk.pool.connection() as conn:
        turns = await read_turns(conn, talk.user, talk.id)
    return next(turn.heard for turn in turns if turn.id == started.id)


def _stop(
    talk: Talk, stop_type: StopType, sentence: AssistantSentence, characters: int | None
) -> ControlStop:
    return ControlStop(
        conversation_id=talk.id,
        target_id=sentence.previous_id,
        stop_type=stop_type,
        sentence_id=sentence.id if characters is not None else None,
        heard_characters=characters,
    )


async def test_an_answer_that_was_talked_into_counts_up_to_the_word_reached(pool: Pool, user: str) -> None:
    talk = await Talk.open(pool, user)
    assert await stopped(talk, "all", 6) == len("It is high.") + 6


async def test_who_only_wanted_silence_has_read_on(pool: Pool, user: str) -> None:
    assert await stopped(await Talk.open(pool, user), "speech", 6) is None


async def test_an_answer_that_was_never_said_aloud_counts_whole(pool: Pool, user: str) -> None:
    assert await stopped(await Talk.open(pool, user), "all", None) is None


async def test_what_was_not_said_any_more_is_stored_as_unspoken(pool: Pool, user: str) -> None:
    talk = await Talk.open(pool, user)
    await stopped(talk, "all", 6)
    rows = await talk.rows(
        """
        SELECT s.text, s.meta
          FROM alicia_sentences s
          JOIN alicia_messages m ON m.id = s.message_id
         WHERE m.conversation_id = %s
        """,
        talk.id,
    )
    assert {row["text"]: row["meta"].get("unspoken", False) for row in rows} == {
        "It is high.": False,
        " It is very cold.": False,
        " Nobody lives there.": True,
    }
