"""`/memories`."""

import httpx2

from alicia import ids
from support.callers import Letters, Open, bearer


async def test_memories_are_stored_listed_changed_and_forgotten(api: httpx2.AsyncClient) -> None:
    one = await api.post("/memories", json={"content": "Plays the cello.", "tags": ["music"]})
    assert one.status_code == 201, one.text
    (first,) = one.json()["ids"]
    many = await api.post(
        "/memories",
        json=[
            {"content": "Lives in Bergen.", "memoryType": "fact", "importance": 0.9},
            {
                "content": "Likes rain.",
                "sourceType": "import",
                "sourceInfo": {"document": "d", "position": 1},
            },
        ],
    )
    second, third = many.json()["ids"]
    listed = (await api.get("/memories", params={"limit": 2})).json()
    rest = (await api.get("/memories", params={"limit": 2, "before": listed["next"]})).json()
    found = [each["id"] for each in listed["items"] + rest["items"]]
    assert sorted(found) == sorted([first, second, third])
    assert rest["next"] is None
    tagged = (await api.get("/memories", params={"tag": "music"})).json()
    assert [each["id"] for each in tagged["items"]] == [first]
    typed = (await api.get("/memories", params={"memoryType": "fact"})).json()
    assert [(each["id"], each["importance"]) for each in typed["items"]] == [(second, 0.9)]

    changed = await api.patch(
        f"/memories/{first}", json={"pinned": True, "userRating": 4, "tags": ["strings"]}
    )
    assert changed.status_code == 200
    assert changed.json()["content"] == "Plays the cello."
    assert (changed.json()["pinned"], changed.json()["userRating"]) == (True, 4)
    unrated = await api.patch(f"/memories/{first}", json={"userRating": None, "content": "Plays the viola."})
    assert (unrated.json()["userRating"], unrated.json()["content"]) == (None, "Plays the viola.")
    assert (await api.get(f"/memories/{first}")).json() == unrated.json()
    assert (await api.patch(f"/memories/{first}", json={"archived": True})).json()["archived"]
    archived = (await api.get("/memories", params={"archived": "true"})).json()
    assert [each["id"] for each in archived["items"]] == [first]

    assert (await api.delete(f"/memories/{second}")).status_code == 204
    assert (await api.delete(f"/memories/{third}", params={"erase": "true"})).status_code == 204
    for gone in (second, third, ids.new(ids.MemoryId)):
        assert (await api.get(f"/memories/{gone}")).status_code == 404
        assert (await api.get(f"/memories/{gone}/uses")).status_code == 404
        assert (await api.patch(f"/memories/{gone}", json={"pinned": True})).status_code == 404
        assert (await api.delete(f"/memories/{gone}")).status_code == 404


async def test_a_search_answers_best_first_and_says_why(serving: Open, user: str) -> None:
    async with serving(Letters()) as client:
        client.headers.update(bearer(user))
        contents = ["The cello stands in the hall.", "Peanuts are dangerous.", "Bergen is rainy."]
        made = await client.post("/api/v1/memories", json=[{"content": each} for each in contents])
        memory = (await client.get(f"/api/v1/memories/{made.json()['ids'][0]}")).json()
        assert memory["embeddingsInfo"] == {"model": "letters", "dimension": 8}
        found = (await client.post("/api/v1/memories/search", json={"query": "Where is the cello?"})).json()
        best = found["items"][0]
        assert best["content"] == contents[0]
        assert set(best["parts"]) >= {"meaning", "words", "standing"}
        scores = [each["score"] for each in found["items"]]
        assert scores == sorted(scores, reverse=True)
        # New words take a new vector.
        await client.patch(f"/api/v1/memories/{memory['id']}", json={"content": "The drum is loud."})
        changed = (await client.get(f"/api/v1/memories/{memory['id']}")).json()
        assert changed["embeddingsInfo"]["model"] == "letters"
        stranger = await client.post(
            "/api/v1/memories/search", json={"query": "cello"}, headers=bearer(f"not-{user}")
        )
        assert stranger.json() == {"items": []}


async def test_without_a_model_memories_are_found_by_their_words(api: httpx2.AsyncClient) -> None:
    await api.post(
        "/memories", json=[{"content": "Plays the cello."}, {"content": "Likes rain.", "tags": ["x"]}]
    )
    found = (await api.post("/memories/search", json={"query": "cello", "limit": 1})).json()
    assert [each["content"] for each in found["items"]] == ["Plays the cello."]
    tagged = (await api.post("/memories/search", json={"query": "rain", "tags": ["x"]})).json()
    assert [each["content"] for each in tagged["items"]] == ["Likes rain."]


async def test_another_users_memory_is_not_there(anybody: httpx2.AsyncClient, user: str) -> None:
    mine, theirs = bearer(user), bearer(f"not-{user}")
    made = await anybody.post("/api/v1/memories", json={"content": "Mine."}, headers=mine)
    at = f"/api/v1/memories/{made.json()['ids'][0]}"
    for method, path in (
        ("GET", at),
        ("PATCH", at),
        ("DELETE", at),
        ("DELETE", f"{at}?erase=true"),
        ("GET", f"{at}/uses"),
    ):
        body = {"pinned": True} if method == "PATCH" else None
        answer = await anybody.request(method, path, headers=theirs, json=body)
        assert answer.status_code == 404, (method, path)
    assert (await anybody.get("/api/v1/memories", headers=theirs)).json()["items"] == []
    assert (await anybody.get(at, headers=mine)).json()["pinned"] is False


async def test_broken_memories_are_refused_all_together(api: httpx2.AsyncClient) -> None:
    for bad in (
        [],
        [{"content": "Good."}, {"content": ""}],
        {"content": "x" * 20_001},
        {"content": "x", "importance": 1.5},
        {"content": "a\0b"},
        {"content": "x", "tags": ["\0"]},
        {"content": "x", "sourceInfo": {"a": "\0"}},
        [{"content": "x"}] * 1_001,
        "text",
        None,
    ):
        answer = await api.post("/memories", json=bad)
        assert answer.status_code == 422, (str(bad)[:60], answer.text)
    assert (await api.get("/memories")).json()["items"] == []
