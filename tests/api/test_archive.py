"""Taking everything away, bringing it back, and erasing it."""

import asyncio
import gc
import io
import json
import secrets
import zipfile
from typing import Any

import httpx2
import pytest
from starlette.requests import ClientDisconnect
from starlette.types import Message

from alicia import ids
from alicia.api import archive
from alicia.api.archive import Pieces
from alicia.protocol.envelope import decode
from alicia.protocol.messages import Tombstone
from alicia.storage.pool import Pool, make_pool
from support.callers import Open, bearer
from support.talk import Talk
from support.turns import TABLES, whole_turn

EXPORT, IMPORT = "/api/v1/export", "/api/v1/import"


def files(archive: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def rebuilt(parts: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as opened:
        for name, data in parts.items():
            opened.writestr(name, data)
    return made.getvalue()


def table(parts: dict[str, bytes], name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in parts[f"{name}.jsonl"].splitlines()]


async def test_an_archive_imported_into_an_empty_database_gives_the_same_archive(
    serving: Open, pool: Pool, user: str, fresh_database_url: str
) -> None:
    for word in ("xylophone", "Ünïcödé \"quoted\"\n'☃'"):
        await whole_turn(await Talk.open(pool, user), word)
    await whole_turn(await Talk.open(pool, f"not-{user}"), "stranger")
    async with serving() as here:
        first = await here.get(EXPORT, headers=bearer(user))
        again = await here.get(EXPORT, headers=bearer(user))
    assert first.status_code == 200
    assert first.headers["content-type"] == "application/zip"
    assert first.content == again.content
    parts = files(first.content)
    assert {f"{name}.jsonl" for name in TABLES} <= set(parts)
    assert all(parts[f"{name}.jsonl"] for name in TABLES)
    everything = b"".join(parts.values())
    assert b"stranger" not in everything
    assert user.encode() not in everything
    sounds = [data for name, data in parts.items() if name.startswith("audio/")]
    assert b"xylophone" * 500 in sounds
    assert len(sounds) == 4

    async with serving(database_url=fresh_database_url) as there:
        brought = await there.post(IMPORT, content=first.content, headers=bearer("other name"))
        assert brought.status_code == 200, brought.text
        counts = brought.json()["imported"]
        assert counts == {name: len(table(parts, name)) for name in counts}
        back = await there.get(EXPORT, headers=bearer("other name"))
        assert back.content == first.content
        twice = await there.post(IMPORT, content=first.content, headers=bearer("other name"))
        assert set(twice.json()["imported"].values()) == {0}
        stolen = await there.post(IMPORT, content=first.content, headers=bearer("a third"))
        assert set(stolen.json()["imported"].values()) == {0}
        listed = (await there.get("/api/v1/conversations", headers=bearer("other name"))).json()
        assert len(listed["items"]) == 2


async def test_a_reader_who_leaves_in_the_middle_leaves_nothing_open(pool: Pool, user: str) -> None:
    await whole_turn(await Talk.open(pool, user), "xylophone")

    async def leave(message: Message) -> None:
        if message.get("body"):
            raise OSError("gone")

    async def nothing_more() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    response = Pieces(archive.write(pool, user))
    scope = {"type": "http", "asgi": {"spec_version": "2.4"}}
    with pytest.raises(ClientDisconnect):
        await response(scope, nothing_more, leave)
    # An open cursor would complain, and an unfinished transaction keep its connection.
    gc.collect()
    stats = pool.get_stats()
    assert stats["pool_available"] == stats["pool_size"]


async def test_an_imported_conversation_goes_on_where_it_was(
    serving: Open, pool: Pool, user: str, fresh_database_url: str
) -> None:
    talk = await Talk.open(pool, user)
    await whole_turn(talk, "xylophone")
    async with serving() as here:
        archive = (await here.get(EXPORT, headers=bearer(user))).content
    async with serving(database_url=fresh_database_url) as there:
        await there.post(IMPORT, content=archive, headers=bearer(user))
    async with make_pool(fresh_database_url, max_size=2) as elsewhere:
        moved = Talk(elsewhere, type(talk.ledger)(elsewhere), talk.session, user)
        stored = [data async for data in moved.ledger.replay(talk.id)]
        assert stored == talk.published
        await moved.exchange("Still there?", "Yes.")


async def test_a_forged_archive_touches_nothing_that_is_anothers(
    anybody: httpx2.AsyncClient, pool: Pool, user: str
) -> None:
    victim, attacker = await Talk.open(pool, user), await Talk.open(pool, f"not-{user}")
    turn = await whole_turn(victim, "xylophone")
    await whole_turn(attacker, "yodel")
    theirs = bearer(attacker.user)
    archive = files((await anybody.get(EXPORT, headers=theirs)).content)
    before = (await anybody.get(EXPORT, headers=bearer(user))).content

    forged_message = {
        **table(archive, "alicia_messages")[0],
        "id": ids.new(ids.MessageId),
        "conversation_id": victim.id,
        "sequence_number": 99,
    }
    forged_note = {
        **table(archive, "alicia_user_conversation_commentaries")[0],
        "id": ids.new(ids.NoteId),
        "conversation_id": victim.id,
        "message_id": turn.asked,
    }
    forged_meta = {**table(archive, "alicia_meta")[0], "id": ids.new(ids.MetaId), "ref": turn.asked}
    for name, row in (
        ("alicia_messages", forged_message),
        ("alicia_user_conversation_commentaries", forged_note),
        ("alicia_meta", forged_meta),
        ("alicia_meta", {**forged_meta, "ref": f"user:{user}"}),
    ):
        forged = {**archive, f"{name}.jsonl": json.dumps(row).encode() + b"\n"}
        answer = await anybody.post(IMPORT, content=rebuilt(forged), headers=theirs)
        assert set(answer.json()["imported"].values()) == {0}, name
    # A conversation of the attacker's own with a message that names the victim's recording.
    (recording,) = table(files(before), "alicia_audio")
    conversation = {
        **table(archive, "alicia_conversations")[0],
        "id": ids.new(ids.ConversationId),
        "livekit_room_name": None,
    }
    message = {
        **forged_message,
        "conversation_id": conversation["id"],
        "previous_id": None,
        "audio_id": recording["id"],
    }
    borrowed = {
        "alicia.json": archive["alicia.json"],
        "alicia_conversations.jsonl": json.dumps(conversation).encode(),
        "alicia_messages.jsonl": json.dumps(message).encode(),
    }
    refused = await anybody.post(IMPORT, content=rebuilt(borrowed), headers=theirs)
    assert refused.status_code == 422
    assert (await anybody.get(EXPORT, headers=bearer(user))).content == before


async def test_what_is_no_archive_is_refused_and_changes_nothing(
    anybody: httpx2.AsyncClient, talk: Talk
) -> None:
    await whole_turn(talk, "xylophone")
    mine = bearer(talk.user)
    good = files((await anybody.get(EXPORT, headers=mine)).content)
    conversation = {**table(good, "alicia_conversations")[0], "id": ids.new(ids.ConversationId)}
    conversation["livekit_room_name"] = None
    lone = {**table(good, "alicia_messages")[0], "id": ids.new(ids.MessageId)}
    orphan = json.dumps(
        {**lone, "conversation_id": conversation["id"], "previous_id": ids.new(ids.MessageId)}
    )
    bad: list[bytes] = [
        b"",
        b"no zip",
        rebuilt({}),
        rebuilt({**good, "alicia.json": b'{"version": 2}'}),
        rebuilt({**good, "alicia_messages.jsonl": b"not json\n"}),
        rebuilt({**good, "alicia_conversations.jsonl": b'{"id": "wrong"}\n'}),
        rebuilt({**good, "alicia_memory.jsonl": b"[1, 2]\n"}),
        rebuilt({**good, "alicia_memory.jsonl": b"\xff\xfe\n"}),
        rebuilt(
            {
                "alicia.json": good["alicia.json"],
                "alicia_conversations.jsonl": json.dumps(conversation).encode(),
                "alicia_messages.jsonl": orphan.encode(),
            }
        ),
    ]
    for body in bad:
        answer = await anybody.post(IMPORT, content=body, headers=mine)
        assert answer.status_code == 422, (bad.index(body), answer.text)
        assert answer.headers["content-type"] == "application/problem+json"
    gone = await anybody.get(f"/api/v1/conversations/{conversation['id']}", headers=mine)
    assert gone.status_code == 404


async def test_a_user_is_erased_with_everything(serving: Open, pool: Pool) -> None:
    word, name = f"secret{secrets.token_hex(6)}", f"name{secrets.token_hex(6)}"
    talk = await Talk.open(pool, name)
    await whole_turn(talk, word)
    async with serving() as client:
        assert (await client.delete("/api/v1/me", headers=bearer(name))).status_code == 204
        assert (await client.get("/api/v1/conversations", headers=bearer(name))).json()["items"] == []
        assert (await client.get("/api/v1/memories", headers=bearer(name))).json()["items"] == []
    for each in TABLES:
        for sought in (word, name):
            statement = f"SELECT count(*) FROM {each} t WHERE t::text LIKE %s OR t::text LIKE %s"
            async with pool.connection() as conn:
                cursor = await conn.execute(statement.encode(), (f"%{sought}%", f"%{sought.encode().hex()}%"))
                assert await cursor.fetchone() == (0,), (each, sought)
    stored = [decode(data).body async for data in talk.ledger.replay(talk.id)]
    assert all(isinstance(body, Tombstone) for body in stored)
