"""`/settings`: what a user wants to have the same in all conversations."""

from typing import Annotated, Final

from pydantic import ConfigDict, Field

from alicia.api.calls import Calls
from alicia.api.problems import documented
from alicia.api.scope import Conn, User, Writer
from alicia.api.shapes import NO_NUL, Answer, Json, shown
from alicia.storage.pool import Connection
from alicia.storage.switch import memory_is_on, switch_memory
from alicia.storage.wishes import wish, wishes

routes = Calls("settings")

SPEEDS: Final = (0.5, 2.0)
Name = Annotated[str, Field(max_length=200, pattern=NO_NUL)]


class Settings(Answer, frozen=True, kw_only=True):
    """A conversation's own preferences win over these."""

    memory: Annotated[bool, shown(about="Whether anything is remembered, or recalled.")]
    recording: Annotated[bool, shown(about="Whether what is spoken is kept as sound.")]
    voice: Annotated[str | None, shown("heart", about="Null: the model's own.")]
    speed: Annotated[float, shown(1.2)]
    language: Annotated[str | None, shown("en", about="That is spoken; null: whatever is heard.")]


class SettingsChange(Json):
    """What is left out stays as it is; null is the default."""

    memory: bool | None = None
    recording: bool | None = None
    voice: Name | None = None
    speed: Annotated[float, Field(ge=SPEEDS[0], le=SPEEDS[1])] | None = None
    language: Name | None = None

    model_config = ConfigDict(json_schema_extra={"examples": [{"memory": False, "speed": 1.2}]})


@routes.get("/settings", summary="Read the settings", responses=documented(401, 503))
async def read_settings(user: User, conn: Conn) -> Settings:
    """The caller's."""
    return await _read(conn, user)


@routes.patch("/settings", summary="Change the settings", responses=documented(401, 413, 422, 429, 503))
async def change_settings(change: SettingsChange, user: Writer, conn: Conn) -> Settings:
    """They hold at once, in every conversation and on every device."""
    async with conn.transaction():
        for key, value in change.model_dump(exclude_unset=True).items():
            if key == "memory":
                await switch_memory(conn, user, value is not False)
            else:
                await wish(conn, user, key, value)
    return await _read(conn, user)


async def _read(conn: Connection, user: str) -> Settings:
    made = await wishes(conn, user)
    return Settings(
        memory=await memory_is_on(conn, user),
        recording=made.recording,
        voice=made.voice,
        speed=made.speed,
        language=made.language,
    )
