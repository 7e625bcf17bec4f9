"""Ids that were given, and the conversations that nobody has opened under them yet."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeAlias

import httpx2
import pytest

from alicia import ids
from alicia.api.given_ids import GivenIds
from alicia.config import LiveKitServer as Settings
from alicia.ledger.ledger import Ledger
from alicia.storage.conversations import update_conversation
from alicia.storage.pool import Pool
from support.callers import Open, bearer
from support.servers import LiveKitServer

Knock: TypeAlias = Callable[[str, str | None], Awaitable[httpx2.Response]]


@pytest.fixture
async def live(serving: Open, livekit: LiveKitServer) -> AsyncIterator[httpx2.AsyncClient]:
    """The API with the run's LiveKit."""
    async with serving(livekit=Settings(livekit.url, livekit.api_key, livekit.api_secret)) as client:
        yield client


@pytest.fixture
def knock(live: httpx2.AsyncClient) -> Knock:
    """Ask for a token as this user."""

    async def ask(user: str, conversation_id: str | None = None) -> httpx2.Response:
        return await live.post(
            "/api/v1/tokens", json={"conversationId": conversation_id}, headers=bearer(user)
        )

    return ask


async def test_a_given_id_is_good_again_though_nothing_was_ever_stored(
    live: httpx2.AsyncClient, knock: Knock, user: str
) -> None:
    given = (await knock(user, None)).json()["conversationId"]
    again = await knock(user, given)
    assert again.status_code == 201
    assert (again.json()["conversationId"], again.json()["room"]) == (given, given)
    # Nobody has opened it, so it is in nobody's way.
    listed = await live.get("/api/v1/conversations", headers=bearer(user))
    assert listed.json()["items"] == []


async def test_nobody_learns_whether_an_id_was_given_to_somebody_else(
    knock: Knock, pool: Pool, user: str
) -> None:
    given = (await knock(user, None)).json()["conversationId"]
    stored = await Ledger(pool).create(ids.new(ids.ConversationId), user)
    refusals = [await knock("mallory", each) for each in (given, stored.id, ids.new(ids.ConversationId))]
    assert [refusal.status_code for refusal in refusals] == [404, 404, 404]
    assert len({refusal.text for refusal in refusals}) == 1
    assert (await knock(user, given)).status_code == 201


async def test_a_given_id_that_was_deleted_or_became_anothers_is_refused(
    knock: Knock, pool: Pool, user: str
) -> None:
    deleted, anothers = [(await knock(user, None)).json()["conversationId"] for _ in range(2)]
    ledger = Ledger(pool)
    await ledger.create(deleted, user)
    await ledger.create(anothers, "mallory")
    async with pool.connection() as conn:
        await update_conversation(conn, user, deleted, status="deleted")
    assert [(await knock(user, each)).status_code for each in (deleted, anothers)] == [404, 404]


async def test_an_erased_users_conversations_stay_erased(
    live: httpx2.AsyncClient, knock: Knock, pool: Pool, user: str
) -> None:
    given = (await knock(user, None)).json()["conversationId"]
    await Ledger(pool).create(given, user)
    erased = await live.delete("/api/v1/me", headers=bearer(user))
    assert erased.status_code == 204
    assert (await knock(user, given)).status_code == 404


def test_given_ids_are_ids_that_only_the_same_secret_knows(user: str) -> None:
    ours, theirs = GivenIds("a secret"), GivenIds("another secret")
    given = ours.make(user)
    assert ids.parse(ids.ConversationId, given) == given
    assert ours.make(user) != given
    assert GivenIds("a secret").knows(user, given)
    assert not theirs.knows(user, given)
    assert not ours.knows(f"{user}x", given)
    assert not ours.knows(user, ids.new(ids.ConversationId))
