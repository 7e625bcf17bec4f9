"""The time of day, anywhere."""

import difflib
import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final
from zoneinfo import ZoneInfo, available_timezones

from alicia.errors import ErrorCode
from alicia.tools.definition import Caller, Definition, Hint, ToolError
from alicia.tools.outcome import ToolOutcome, succeeded

_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "time_zone": {
            "type": "string",
            "maxLength": 64,
            "description": "an IANA name such as Europe/Vienna; leave it out for the user's own time",
        }
    },
    "additionalProperties": False,
}
_WORDS: Final = re.compile(
    r"\b(?:time(?!s)|clock|o'?clock|hour|today|tonight|tomorrow|yesterday|now|currently|current|date|day|weekday|week|"
    r"weekend|month|year|monday|tuesday|wednesday|thursday|friday|saturday|sunday|morning|noon|afternoon|evening|night|midnight|late|early|"
    r"uhr|uhrzeit|spät|heute|morgen|gestern|datum|tag|jetzt|heure|aujourd'hui|demain|hier|jour|maintenant|"
    r"hora|hoy|mañana|ayer|fecha|día|ahora|ora|oggi|domani|ieri|giorno|adesso|hoje|amanhã|ontem|agora)s?\b",
    re.IGNORECASE,
)


def _applies(text: str) -> bool:
    return _WORDS.search(text) is not None


_HINT: Final = Hint(
    applies=_applies,
    # Most people ask for their own time: without two examples of it, small models take the zone of the third.
    examples=(
        ("How late is it?", {}),
        ("What time is it in Lima?", {"time_zone": "America/Lima"}),
        ("Which weekday is it?", {}),
    ),
)


def _utc_now() -> datetime:
    return datetime.now(UTC)


def current_time(now: Callable[[], datetime] = _utc_now) -> Definition:
    """The tool; `now` is the clock that it reads, in any zone."""

    async def run(caller: Caller, arguments: dict[str, Any]) -> ToolOutcome:
        zone = find_zone(arguments.get("time_zone") or caller.time_zone or "UTC")
        moment = now().astimezone(zone)
        return succeeded(
            {
                "timeZone": zone.key,
                "iso": moment.isoformat(timespec="seconds"),
                "date": f"{moment.day} {moment:%B %Y}",
                "time": f"{moment:%H:%M}",
                "weekday": f"{moment:%A}",
            }
        )

    return Definition(
        name="current_time",
        description="Tells the date, the day of the week and the time of day right now, in any time zone.",
        schema=_SCHEMA,
        run=run,
        hint=_HINT,
        timeout=5.0,
    )


def find_zone(name: str) -> ZoneInfo:
    """The zone of that name in any spelling, or of the city of that name; ToolError names similar ones."""
    wanted = _plain(name)
    zones = _zones()
    if wanted in zones:
        return ZoneInfo(zones[wanted])
    near = difflib.get_close_matches(wanted, zones, 3)
    hint = f" Did you mean {' or '.join(zones[key] for key in near)}?" if near else ""
    raise ToolError(f"There is no time zone {name[:64]!r}.{hint}", ErrorCode.INVALID_PARAMETERS)


@cache
def _zones() -> dict[str, str]:
    """Every zone by its plain name and, after those, by its city."""
    names = sorted(available_timezones())
    whole = {_plain(name): name for name in names}
    # Areas such as Etc and posix repeat what stands elsewhere.
    cities = {_plain(name.rpartition("/")[2]): name for name in reversed(names) if "/" in name}
    return cities | whole


def _plain(name: str) -> str:
    return re.sub(r"[\s_]+", "_", name.strip().casefold())
