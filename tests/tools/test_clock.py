"""The clock: anywhere, by the name that the model happens to use."""

from datetime import UTC, datetime

import pytest

from alicia.llm.messages import ToolCall
from alicia.tools.box import Toolbox
from alicia.tools.builtin.clock import current_time, find_zone
from alicia.tools.definition import Caller, ToolError
from alicia.tools.outcome import ToolOutcome

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


async def ask(arguments: str, time_zone: str | None = None) -> ToolOutcome:
    box = Toolbox([current_time(lambda: NOON)])
    async with box.open():
        caller = Caller(user_id="anna", time_zone=time_zone)
        return await box.run(caller, ToolCall("1", "current_time", arguments))


async def test_the_time_is_told_in_the_zone_that_was_asked_for() -> None:
    outcome = await ask('{"time_zone": "Asia/Tokyo"}')
    assert outcome.result == {
        "timeZone": "Asia/Tokyo",
        "iso": "2026-03-01T21:00:00+09:00",
        "date": "1 March 2026",
        "time": "21:00",
        "weekday": "Sunday",
    }


async def test_without_a_zone_the_time_is_the_users_own() -> None:
    assert (await ask("{}", "Europe/Vienna")).result["time"] == "13:00"
    assert (await ask("{}")).result["timeZone"] == "UTC"


@pytest.mark.parametrize(
    ("name", "zone"),
    [
        ("Europe/Berlin", "Europe/Berlin"),
        ("europe/berlin", "Europe/Berlin"),
        ("America/New York", "America/New_York"),
        ("new york", "America/New_York"),
        ("Tokyo", "Asia/Tokyo"),
        ("utc", "UTC"),
        ("Japan", "Japan"),
    ],
)
def test_zones_are_found_by_the_names_that_models_use(name: str, zone: str) -> None:
    assert find_zone(name).key == zone


async def test_an_unknown_zone_is_the_callers_mistake_and_names_similar_ones() -> None:
    outcome = await ask('{"time_zone": "Europe/Berlim"}')
    assert outcome.error_code == 302
    assert "Europe/Berlin" in (outcome.error_message or "")


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/localtime", "", "\0", "x" * 500])
def test_nothing_but_a_zone_can_be_named(name: str) -> None:
    with pytest.raises(ToolError):
        find_zone(name)
