"""What happens just while something is on its way is neither lost nor answered wrongly."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any, cast

import pytest
from psycopg import OperationalError

from alicia.errors import DatabaseUnavailable, ErrorCode
from alicia.ledger import journal
from alicia.ledger.entries import Entry
from alicia.memory.learning import Lesson
from alicia.protocol.envelope import Envelope, encode
from alicia.protocol.messages import (
    AssistantSentence,
    Body,
    Configuration,
    Erasure,
    ErrorMessage,
    UserMessage,
)
from alicia.protocol.session import AgentSession
from alicia.storage.conversations import entitle
from alicia.storage.pool import Pool
from alicia.storage.switch import switch_memory
from support.parley import Hold, parley
from support.tables import records


@pytest.mark.parametrize("whole", [False, True], ids=["message", "conversation"])
async def test_a_message_that_is_erased_as_soon_as_it_is_seen_is_not_answered(
    pool: Pool, user: str, forgotten: asyncio.Event, *, whole: bool
) -> None:
    async with parley(pool, user) as here:
        here.model.remembered.clear()
        sending = Hold(lambda body: isinstance(body, UserMessage))
        here.sendings.append(sending)
        question = here.ask("one")
        await here.echo(question)
        if whole:
            await here.ledger.erase_conversation(user, here.id)
        else:
            await here.ledger.erase_message(user, question.id)
        here.conversation.notice()
        await forgotten.wait()
        sending.released.set()
        await here.hears(Erasure)
        here.model.remembered.set()
        await here.answered(here.ask("two"))
        assert here.model.prompts == [["two"]]


async def test_a_message_that_was_stored_when_the_database_went_away_is_answered_when_it_is_sent_again(
    pool: Pool, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with parley(pool, user) as here:
        append = here.ledger.append

        async def lose(
            session: AgentSession, *entries: Entry | Body, accepted: Envelope | None = None
        ) -> list[bytes]:
            await append(session, *entries, accepted=accepted)
            raise DatabaseUnavailable("Away.")

        with monkeypatch.context() as patched:
            patched.setattr(here.ledger, "append", lose)
            question = here.ask("one")
            assert (await here.hears(ErrorMessage)).code == ErrorCode.UNAVAILABLE
        here.submit(question)
        await here.stored(question)
        assert await here.prompted("one") == ["one"]
        here.submit(question)
        assert await here.prompt_for("two") == ["one", "About one", "two"]
        assert len(here.model.prompts) == 2


async def test_who_drains_waits_for_the_answer_to_what_is_just_being_stored(pool: Pool, user: str) -> None:
    async with parley(pool, user) as here:
        sending = Hold(lambda body: isinstance(body, UserMessage))
        here.sendings.append(sending)
        question = here.ask("one")
        await here.echo(question)
        draining = asyncio.create_task(here.conversation.drain())
        for _ in range(50):
            # Time enough to find nothing to wait for.
            await asyncio.sleep(0)
        sending.released.set()
        await draining
        assert any(isinstance(body, AssistantSentence) and body.is_final for body in here.bodies)


async def test_what_was_just_stored_when_an_agent_ends_is_left_for_others_to_find(
    pool: Pool, user: str
) -> None:
    async with parley(pool, user) as here:
        sending = Hold(lambda body: isinstance(body, UserMessage))
        here.sendings.append(sending)
        await here.echo(here.ask("one"))
    (row,) = await records(pool, "SELECT agent_id FROM alicia_conversations WHERE id = %s", here.id)
    assert row["agent_id"]


async def test_a_device_that_has_left_before_it_was_configured_is_not_there(pool: Pool, user: str) -> None:
    async with parley(pool, user) as here:
        tablet = f"{user}:tablet"
        opening = Configuration(conversation_id=here.id, last_sequence_seen=0, features=["voice"])
        here.conversation.joined(tablet)
        here.conversation.receive(
            tablet,
            encode(Envelope(stanza_id=1, conversation_id=here.id, type=opening.CODE, body=opening)),
        )
        here.conversation.left(tablet)
        await here.answered(here.ask("one"))
        assert not here.conversation.talk.listening


async def test_a_database_that_goes_away_while_a_device_catches_up_ends_nothing(
    pool: Pool, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Away:
        def connection(self) -> None:
            raise OperationalError("Away.")

    replay = journal.replay

    def try_to(_: Pool, conversation_id: str, after: int) -> AsyncGenerator[bytes]:
        return replay(cast("Pool", Away()), conversation_id, after)

    async with parley(pool, user) as here:
        await here.answered(here.ask("one"))
        with monkeypatch.context() as patched:
            patched.setattr(journal, "replay", try_to)
            here.bodies.clear()
            here.open()
            await here.hears(Configuration)
            await here.answered(here.ask("two"))


async def test_who_is_heard_after_a_conversation_has_ended_keeps_no_other_from_its_pause(
    pool: Pool, user: str
) -> None:
    async with parley(pool, user) as here:
        await here.answered(here.ask("one"))
    here.conversation.talk.stir()
    assert here.pauses.free(Other())


async def test_what_is_asked_while_a_summary_cannot_be_stored_ends_the_pause_all_the_same(
    pool: Pool, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    storing, released, named = asyncio.Event(), asyncio.Event(), list[bool]()

    async def keep(*_: object) -> None:
        storing.set()
        await released.wait()
        raise OperationalError("Away.")

    monkeypatch.setattr("alicia.engine.summary.keep_in_meta", keep)
    async with parley(pool, user) as here:

        async def name(*_: object) -> str:
            named.append(here.model.remembered.is_set())
            return ""

        monkeypatch.setattr("alicia.engine.afterwards.make_title", name)
        async with pool.connection() as conn:
            await switch_memory(conn, user, on=False)
        here.model.minutes = ["They filled the window."]
        await here.answered(here.ask("long " * 2_000))
        await here.answered(here.ask("one"))
        await storing.wait()
        here.model.remembered.clear()
        await here.stored(here.ask("two"))
        released.set()
        await here.stored(here.ask("three"))
        here.model.remembered.set()
        await here.prompted("three")
        assert False not in named


async def test_a_title_that_is_being_stored_when_somebody_asks_is_not_made_again(
    pool: Pool, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    storing, released, named = asyncio.Event(), asyncio.Event(), list[str]()

    async def name(*_: object) -> str:
        named.append("Counting")
        return named[-1]

    async def give(*given: Any) -> None:
        storing.set()
        await released.wait()
        await entitle(*given)

    monkeypatch.setattr("alicia.engine.afterwards.make_title", name)
    monkeypatch.setattr("alicia.engine.afterwards.entitle", give)
    async with parley(pool, user) as here:
        learned, learn = asyncio.Event(), here.model.learn

        async def note(*given: object, **named: object) -> Lesson:
            learned.set()
            return await learn(*given, **named)

        monkeypatch.setattr(here.model, "learn", note)
        await here.answered(here.ask("one"))
        await storing.wait()
        await here.stored(here.ask("two"))
        released.set()
        await learned.wait()
        assert named == ["Counting"]
        (row,) = await records(pool, "SELECT title FROM alicia_conversations WHERE id = %s", here.id)
        assert row["title"] == "Counting"


class Other:
    """Another conversation."""

    def put_off(self) -> None:
        """It does nothing."""
