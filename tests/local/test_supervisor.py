"""The order in which a supervisor starts and stops, with parts that only write down what is done to them."""

import asyncio
from pathlib import Path

import pytest

from alicia.errors import AliciaError
from alicia.local.part import PartError
from alicia.local.supervisor import Supervisor


class Silent:
    def starting(self, name: str) -> None:
        pass

    def ready(self, name: str, seconds: float, note: str) -> None:
        pass

    def say(self, line: str) -> None:
        pass


class Recorded:
    """A part that starts when its gate opens."""

    def __init__(self, name: str, journal: list[str], *needs: str, fault: Exception | None = None) -> None:
        self.name = name
        self.needs = needs
        self.log: Path | None = Path(f"/logs/{name}.log")
        self.begun, self.gate = asyncio.Event(), asyncio.Event()
        self._journal = journal
        self._fault = fault

    async def start(self) -> str:
        self._journal.append(f"start {self.name}")
        self.begun.set()
        await self.gate.wait()
        if self._fault is not None:
            raise self._fault
        self._journal.append(f"ready {self.name}")
        return ""

    async def ended(self) -> str:
        return await asyncio.get_running_loop().create_future()

    async def stop(self) -> None:
        self._journal.append(f"stop {self.name}")


async def test_parts_start_when_what_they_need_is_ready_and_stop_in_reverse() -> None:
    journal: list[str] = []
    database, rooms = Recorded("database", journal), Recorded("rooms", journal)
    api = Recorded("api", journal, "database", "rooms")
    for part in (database, rooms, api):
        part.gate.set()
    ready = asyncio.Event()
    run = asyncio.create_task(Supervisor([api, database, rooms], Silent()).run(ready.set))
    await ready.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert journal.index("start api") > max(journal.index("ready database"), journal.index("ready rooms"))
    assert journal[-3] == "stop api"
    assert sorted(journal[-2:]) == ["stop database", "stop rooms"]


async def test_a_failure_stops_what_had_begun_and_says_why_and_where() -> None:
    journal: list[str] = []
    database = Recorded("database", journal)
    rooms = Recorded("rooms", journal, fault=AliciaError("no key"))
    api = Recorded("api", journal, "database")
    rooms.gate.set()
    with pytest.raises(PartError, match=r"^rooms: no key \(see /logs/rooms\.log\)$"):
        await Supervisor([database, rooms, api], Silent()).run(lambda: None)
    assert sorted(journal) == ["start database", "start rooms", "stop database", "stop rooms"]


async def test_cancelling_a_start_stops_what_had_begun() -> None:
    journal: list[str] = []
    database = Recorded("database", journal)
    run = asyncio.create_task(Supervisor([database], Silent()).run(lambda: None))
    await database.begun.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert journal == ["start database", "stop database"]
