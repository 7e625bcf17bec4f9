"""A link that is cut for twenty seconds loses nothing, although nobody is told of the loss."""

import asyncio
import json
import secrets
import sys
from pathlib import Path
from typing import Any

import pytest

from alicia.local.livekit import LiveKit
from alicia.storage.pool import Pool
from support import far_client
from support.namespace import Namespace, Refused, namespace
from support.servers import LiveKitServer
from support.stack import Stack
from support.tables import journal

pytestmark = [pytest.mark.timeout(180), pytest.mark.xdist_group("link")]

CUT_SECONDS = 20
SENTENCES = 60


class NearLiveKit(LiveKit):
    """A LiveKit server on our end of the cable."""

    def __init__(self, home: Path, network: Namespace) -> None:
        super().__init__(home, api_key="far", api_secret=secrets.token_urlsafe(32))
        self._network = network

    @property
    def url(self) -> str:
        return f"ws://{self._network.here}:{self.port}"

    def settings(self) -> dict[str, Any]:
        made = super().settings()
        here = self._network.here
        made["bind_addresses"] = [here, "127.0.0.1"]
        made["rtc"] |= {
            "node_ip": here,
            "interfaces": {"includes": [self._network.cable]},
            "ips": {"includes": [f"{here}/32"]},
        }
        return made


async def test_a_client_behind_a_cut_link_ends_with_the_whole_log(
    tmp_path: Path, database_url: str, pool: Pool, user: str
) -> None:
    try:
        with namespace() as network:
            await cut_and_mend(tmp_path, database_url, pool, user, network)
    except Refused as refusal:
        pytest.skip(f"no network namespace here: {refusal}")


async def cut_and_mend(tmp_path: Path, database_url: str, pool: Pool, user: str, network: Namespace) -> None:
    server = NearLiveKit(tmp_path, network)
    await server.start()
    try:
        await server.ready()
        livekit = LiveKitServer(server.url, server.api_key, server.api_secret)
        with Stack(tmp_path, database_url, livekit, host=network.here) as stack:
            text = " ".join(f"Sentence number {number} is this one." for number in range(SENTENCES))
            stack.model.say(text, every=CUT_SECONDS * 1.5 / len(text.split()))
            client = await asyncio.create_subprocess_exec(
                *network.command(sys.executable, far_client.__file__, stack.url, stack.token(user), "Talk"),
                stdout=asyncio.subprocess.PIPE,
            )
            assert client.stdout is not None
            seen: list[str] = []
            told: dict[str, Any] = {}
            cut: asyncio.Task[None] | None = None
            async for line in client.stdout:
                told = json.loads(line)
                seen.append(told.get("event", ""))
                if cut is None and seen.count("AssistantSentence") == 3:
                    cut = asyncio.create_task(cut_for_a_while(network))
            assert await client.wait() == 0
            assert cut is not None
            await cut
            assert [bytes.fromhex(each) for each in told["log"]] == await journal(pool, told["id"])
            assert seen.count("AssistantSentence") >= SENTENCES
    finally:
        await server.stop()


async def cut_for_a_while(network: Namespace) -> None:
    network.cut()
    await asyncio.sleep(CUT_SECONDS)
    network.mend()
