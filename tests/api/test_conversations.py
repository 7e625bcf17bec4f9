"""`/conversations` and their messages."""

import httpx2

from alicia import ids
from alicia.storage.found import MOST
from alicia.storage.pool import Pool
from support.callers import bearer
from support.talk import Talk


async def test_conversations_are_listed_page_by_page_latest_first(
    api: httpx2.AsyncClient, pool: Pool, user: str
) -> None:
    talks = [await Talk.open(pool, user) for _ in range(5)]
    for number, talk in enumerate(talks):
        changed = await api.patch(f"/conversations/{talk.id}", json={"title": f"Talk {number}"})
        assert changed.status_code == 200, changed.text
    titles: list[str] = []
    query: dict[str, str] = {"limit": "2"}
    while True:
        page = (await api.get("/conversations", params=query)).json()
        assert len(page["items"]) <= 2
        titles += [each["title"] for each in page["items"]]
        if page["next"] is None:
            break
        query["before"] = page["next"]
    assert titles == ["Talk 4", "Talk 3", "Talk 2", "Talk 1", "Talk 0"]


async def test_a_conversation_is_renamed_archived_deleted_and_brought_back(
    api: httpx2.AsyncClient, talk: Talk
) -> None:
    await talk.exchange("Hello.", "Hi.")
    at = f"/conversations/{talk.id}"
    change = {"title": "Greetings", "status": "archived", "preferences": {"voice": "heart"}}
    changed = (await api.patch(at, json=change)).json()
    assert change.items() <= changed.items()
    assert (await api.get(at)).json() == changed
    archived = (await api.get("/conversations", params={"status": "archived"})).json()
    assert [each["id"] for each in archived["items"]] == [talk.id]
    assert (await api.delete(at)).status_code == 204
    assert (await api.get("/conversations")).json()["items"] == []
    deleted = (await api.get("/conversations", params={"status": "deleted"})).json()
    assert [each["id"] for each in deleted["items"]] == [talk.id]
    assert (await api.patch(at, json={"status": "active"})).json()["status"] == "active"


async def test_an_erased_conversation_is_nowhere(api: httpx2.AsyncClient, talk: Talk) -> None:
    asked, _ = await talk.exchange("Hello.", "Hi.")
    at = f"/conversations/{talk.id}"
    assert (await api.delete(at, params={"erase": "true"})).status_code == 204
    for path in (at, f"{at}/messages", f"{at}/messages/{asked.id}", f"/messages/{asked.id}/trace"):
        assert (await api.get(path)).status_code == 404
    for status in ("active", "deleted"):
        listed = (await api.get("/conversations", params={"status": status})).json()
        assert listed["items"] == []


async def test_a_search_finds_titles_and_messages_best_first_with_a_snippet(
    api: httpx2.AsyncClient, pool: Pool, user: str
) -> None:
    walk, cooking, named = [await Talk.open(pool, user) for _ in range(3)]
    asked, _ = await walk.exchange("Which path leads over the glacier?", "The eastern one.")
    await walk.exchange("Thanks.", "Enjoy the hike.")
    await cooking.exchange("How long does rice take?", "Twelve minutes, on a path of patience.")
    await api.patch(f"/conversations/{named.id}", json={"title": "Glacier path"})
    stranger = await Talk.open(pool, f"not-{user}")
    await stranger.exchange("A glacier path of my own?", "Yes.")

    found = (await api.get("/conversations", params={"query": "glacier path"})).json()
    assert [each["id"] for each in found["items"]] == [named.id, walk.id, cooking.id]
    assert found["items"][0]["snippet"] is None
    assert found["items"][1]["snippet"] == {"messageId": asked.id, "text": asked.content}
    typed = (await api.get("/conversations", params={"query": "glaci"})).json()
    assert {each["id"] for each in typed["items"]} == {named.id, walk.id}
    one = (await api.get("/conversations", params={"query": "glacier path", "limit": "1"})).json()
    rest = (await api.get("/conversations", params={"query": "glacier path", "before": one["next"]})).json()
    assert [each["id"] for each in rest["items"]] == [walk.id, cooking.id]
    for nothing in ("'", "&|!", "the", "zyzzyva"):
        assert (await api.get("/conversations", params={"query": nothing})).json()["items"] == []


async def test_an_old_message_with_all_words_ranks_before_thousands_of_newer_ones_with_some(
    api: httpx2.AsyncClient, pool: Pool, user: str
) -> None:
    old, newer = await Talk.open(pool, user), await Talk.open(pool, user)
    asked, _ = await old.exchange("Is the glacier near the lighthouse?", "No.")
    async with pool.connection() as conn:
        await conn.execute(
            """
            INSERT INTO alicia_messages (conversation_id, sequence_number, message_role, contents)
            SELECT %s, n, 'user', 'A glacier, number ' || n
              FROM generate_series(1, %s) n
            """,
            (newer.id, 2 * MOST),
        )

    found = (await api.get("/conversations", params={"query": "glacier lighthouse"})).json()["items"]

    assert [each["id"] for each in found] == [old.id, newer.id]
    assert found[0]["snippet"]["messageId"] == asked.id


async def test_a_history_is_read_page_by_page_with_the_head_of_the_journal(
    api: httpx2.AsyncClient, talk: Talk
) -> None:
    for number in range(3):
        await talk.exchange(f"Q{number}", f"A{number}")
    at = f"/conversations/{talk.id}/messages"
    newest = (await api.get(at, params={"limit": 4})).json()
    assert [each["content"] for each in newest["items"]] == ["Q1", "A1", "Q2", "A2"]
    assert [each["role"] for each in newest["items"]] == ["user", "assistant"] * 2
    assert newest["lastServerStanzaId"] == talk.session.last_server_stanza_id
    older = (await api.get(at, params={"limit": 4, "before": newest["next"]})).json()
    assert [each["content"] for each in older["items"]] == ["Q0", "A0"]
    assert older["next"] is None
    one = older["items"][0]
    assert (await api.get(f"{at}/{one['id']}")).json() == one


async def test_notes_come_with_the_history_until_they_are_erased(api: httpx2.AsyncClient, talk: Talk) -> None:
    asked, answer = await talk.exchange("Q", "A")
    note = talk.note(answer.id, "I like this one.")
    await talk.append(note)
    at = f"/conversations/{talk.id}/messages"
    notes = {each["id"]: each["notes"] for each in (await api.get(at)).json()["items"]}
    assert notes[asked.id] == []
    (kept,) = notes[answer.id]
    assert (kept["id"], kept["content"], kept["createdBy"]) == (note.id, "I like this one.", talk.user)
    assert (await api.delete(f"{at}/{answer.id}")).status_code == 204
    assert "I like this one." not in (await api.get(at)).text


async def test_an_erased_message_leaves_its_conversation(api: httpx2.AsyncClient, talk: Talk) -> None:
    asked, answer = await talk.exchange("My secret.", "I see.")
    at = f"/conversations/{talk.id}/messages"
    assert (await api.delete(f"{at}/{asked.id}")).status_code == 204
    assert [each["id"] for each in (await api.get(at)).json()["items"]] == [answer.id]
    assert (await api.get(f"{at}/{asked.id}")).status_code == 404


async def test_a_message_is_not_found_in_another_conversation(
    api: httpx2.AsyncClient, talk: Talk, pool: Pool
) -> None:
    asked, _ = await talk.exchange("Hello.", "Hi.")
    other = await Talk.open(pool, talk.user)
    assert (await api.get(f"/conversations/{other.id}/messages/{asked.id}")).status_code == 404


async def test_another_users_conversation_is_not_there(
    anybody: httpx2.AsyncClient, talk: Talk, user: str
) -> None:
    asked, _ = await talk.exchange("Hello.", "Hi.")
    stranger = bearer(f"not-{user}")
    at = f"/api/v1/conversations/{talk.id}"
    gone = ids.new(ids.ConversationId)
    for method, path in (
        ("GET", at),
        ("PATCH", at),
        ("DELETE", at),
        ("DELETE", f"{at}?erase=true"),
        ("GET", f"{at}/messages"),
        ("GET", f"{at}/messages/{asked.id}"),
        ("DELETE", f"{at}/messages/{asked.id}"),
        ("GET", f"/api/v1/messages/{asked.id}/trace"),
        ("GET", f"/api/v1/conversations/{gone}"),
    ):
        body = {"title": "Mine"} if method == "PATCH" else None
        answer = await anybody.request(method, path, headers=stranger, json=body)
        assert answer.status_code == 404, (method, path)
        assert answer.headers["content-type"] == "application/problem+json"
    mine = await anybody.get(at, headers=bearer(user))
    assert mine.json()["title"] == ""
    listed = await anybody.get("/api/v1/conversations", headers=stranger, params={"query": "hello"})
    assert listed.json()["items"] == []


async def test_what_the_database_cannot_hold_is_refused(api: httpx2.AsyncClient, talk: Talk) -> None:
    at = f"/conversations/{talk.id}"
    headers = {"Content-Type": "application/json"}
    for bad in (
        rb'{"title": "a\u0000b"}',
        rb'{"title": "\ud800"}',
        rb'{"preferences": {"a": "\u0000"}}',
        rb'{"preferences": {"\ud800": 1}}',
        b'{"preferences": {"a": 1e999}}',
        b'{"preferences": {"a": ' + b"9" * 40 + b"}}",
        b'{"preferences": ' + b'{"a":' * 100 + b"1" + b"}" * 101,
        b'{"title": "' + b"x" * 2_001 + b'"}',
        b'{"status": "deleted"}',
        b'{"unknown": 1}',
        b'{"title": ',
        b"\xff\xfe",
        b"[" * 100_000,
    ):
        answer = await api.patch(at, content=bad, headers=headers)
        assert answer.status_code == 422 or answer.status_code == 400, (bad[:60], answer.text)
        assert answer.headers["content-type"] == "application/problem+json"
    assert (await api.get("/conversations", params={"query": "a\0b"})).status_code == 422
    for cursor in ("x", "W10", "WyJhIiwxXQ", "WyIyMDI1LTAxLTAxVDAwOjAwOjAwIiwiYSJd"):
        assert (await api.get("/conversations", params={"before": cursor})).status_code == 422
