"""Every call of the description: who may make it, and what others see."""

import time
from typing import Any

import httpx2
import pytest

from alicia.api import description
from alicia.storage.pool import Pool
from support.callers import SECRET, Open, bearer, token
from support.talk import Talk
from support.turns import whole_turn

CALLS = [
    (method.upper(), path, call)
    for path, methods in description.make().openapi()["paths"].items()
    for method, call in methods.items()
]
OPEN_TO_ALL = {("POST", "/api/v1/session"), ("DELETE", "/api/v1/session")}
"""Signing in takes a token as its body, and signing out takes a cookie away, whoever's it is."""
BODIES: dict[str, Any] = {
    "POST /api/v1/tokens": {},
    "POST /api/v1/memories": {"content": "x"},
    "POST /api/v1/memories/search": {"query": "x"},
    "PATCH /api/v1/tools/{name}": {"enabled": True},
}


async def ask(
    client: httpx2.AsyncClient, method: str, path: str, ids: dict[str, str], headers: dict[str, str]
) -> httpx2.Response:
    body = BODIES.get(f"{method} {path}", {}) if method in ("POST", "PATCH") else None
    return await client.request(method, path.format(**ids), json=body, headers=headers)


@pytest.fixture
async def ids(pool: Pool, user: str) -> dict[str, str]:
    """Of things that are this user's."""
    talk = await Talk.open(pool, user)
    turn = await whole_turn(talk, "xylophone")
    sentence = await talk.row("SELECT id FROM alicia_sentences WHERE message_id = %s", turn.answer)
    audio = await talk.row("SELECT id FROM alicia_audio WHERE message_id = %s", turn.asked)
    return {
        "conversation_id": talk.id,
        "message_id": turn.answer,
        "memory_id": turn.memory,
        "sentence_id": sentence["id"],
        "audio_id": audio["id"],
        "name": "search",
    }


@pytest.mark.parametrize("kind", ["missing", "expired", "forged", "wrong audience"])
async def test_no_call_is_answered_without_a_good_token(
    serving: Open, user: str, ids: dict[str, str], kind: str
) -> None:
    headers = {
        "missing": {},
        "expired": bearer(user, aud="alicia", exp=int(time.time()) - 3600),
        "forged": {"Authorization": f"Bearer {token(user, SECRET[::-1], aud='alicia')}"},
        "wrong audience": bearer(user, aud="somebody else"),
    }[kind]
    async with serving(auth_audience="alicia") as client:
        for method, path, _ in CALLS:
            if (method, path) not in OPEN_TO_ALL:
                answer = await ask(client, method, path, ids, headers)
                assert answer.status_code == 401, (method, path, answer.text)
                assert answer.headers["content-type"] == "application/problem+json"
        assert (await client.get("/api/v1/me", headers=bearer(user, aud="alicia"))).status_code == 200


async def test_no_call_shows_or_changes_what_is_another_users(
    anybody: httpx2.AsyncClient, user: str, ids: dict[str, str]
) -> None:
    stranger = bearer(f"not-{user}")
    tried = 0
    for method, path, _ in CALLS:
        if "_id}" in path:
            answer = await ask(anybody, method, path, ids, stranger)
            assert answer.status_code == 404, (method, path, answer.text)
            assert "xylophone" not in answer.text
            tried += 1
    assert tried > 10
    for listed in ("/conversations", "/conversations?query=xylophone", "/memories"):
        assert (await anybody.get(f"/api/v1{listed}", headers=stranger)).json()["items"] == []
    mine = f"/api/v1/messages/{ids['message_id']}/trace"
    assert "xylophone" in (await anybody.get(mine, headers=bearer(user))).text


async def test_no_call_breaks_over_a_body_that_is_not_json(api: httpx2.AsyncClient) -> None:
    for method, path, call in CALLS:
        if "application/json" in call.get("requestBody", {}).get("content", {}):
            address = path.removeprefix("/api/v1").replace("{name}", "x")
            address = address.replace("{conversation_id}", "ac_" + "0" * 21)
            address = address.replace("{memory_id}", "amem_" + "0" * 21)
            for bad in (b"{", b"\xff\xfe", b"[" * 100_000, b'{"a": NaN}', b'"\\ud800"', b""):
                answer = await api.request(
                    method, address, content=bad, headers={"Content-Type": "application/json"}
                )
                assert 400 <= answer.status_code < 500, (method, path, bad[:10], answer.text)
                assert answer.headers["content-type"] == "application/problem+json"
