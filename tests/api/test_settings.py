"""`/settings`, `/voices`, and memories that come back."""

import httpx2

from alicia.config import ModelServer
from alicia.storage.pool import Pool
from alicia.storage.switch import memory_is_on
from support.callers import Open, bearer
from support.scripted import ScriptedServer

DEFAULTS = {"memory": True, "recording": True, "voice": None, "speed": 1.0, "language": None}


async def test_settings_are_kept_and_go_back_to_their_defaults(api: httpx2.AsyncClient) -> None:
    assert (await api.get("/settings")).json() == DEFAULTS
    wanted = {"memory": False, "recording": False, "voice": "heart", "speed": 1.25, "language": "en"}
    for key, value in wanted.items():
        changed = await api.patch("/settings", json={key: value})
        assert changed.status_code == 200, changed.text
    assert (await api.get("/settings")).json() == wanted
    assert (await api.patch("/settings", json=dict.fromkeys(wanted))).json() == DEFAULTS


async def test_a_setting_that_makes_no_sense_is_refused(api: httpx2.AsyncClient) -> None:
    for wrong in ({"speed": 9}, {"speed": "fast"}, {"memory": "no"}, {"colour": "red"}):
        assert (await api.patch("/settings", json=wrong)).status_code == 422
    assert (await api.get("/settings")).json() == DEFAULTS


async def test_the_local_model_has_one_voice(api: httpx2.AsyncClient) -> None:
    assert (await api.get("/voices")).json() == {"items": [{"name": "heart"}], "next": None, "others": False}


async def test_the_voices_of_a_speech_server_are_told_where_it_tells_them(
    serving: Open, user: str, scripted: ScriptedServer
) -> None:
    async with serving(tts=ModelServer(scripted.url)) as client:
        for told, names in ((None, []), ({"voices": ["nova"]}, [{"name": "nova"}])):
            scripted.voices = told
            answer = await client.get("/api/v1/voices", headers=bearer(user))
            assert answer.json() == {"items": names, "next": None, "others": True}


async def test_memory_switched_off_is_off_for_the_agent(
    api: httpx2.AsyncClient, pool: Pool, user: str
) -> None:
    await api.patch("/settings", json={"memory": False})
    async with pool.connection() as conn:
        assert not await memory_is_on(conn, user)
        assert await memory_is_on(conn, f"{user}-other")


async def test_a_deleted_memory_comes_back_and_an_erased_one_does_not(api: httpx2.AsyncClient) -> None:
    kept, lost = (await api.post("/memories", json=[{"content": "a"}, {"content": "b"}])).json()["ids"]
    before = (await api.get(f"/memories/{kept}")).json()
    assert (await api.post(f"/memories/{kept}/restore")).status_code == 404
    await api.delete(f"/memories/{kept}")
    await api.delete(f"/memories/{lost}", params={"erase": "true"})
    back = await api.post(f"/memories/{kept}/restore")
    assert back.status_code == 200
    assert back.json()["content"] == before["content"]
    assert (await api.get(f"/memories/{kept}")).status_code == 200
    assert (await api.post(f"/memories/{lost}/restore")).status_code == 404
