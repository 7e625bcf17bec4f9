"""`/voices`: what Alicia can sound like."""

from contextlib import aclosing
from typing import Annotated

from alicia.api.calls import Calls
from alicia.api.problems import documented
from alicia.api.scope import Shared, User
from alicia.api.shapes import Answer, Page, shown
from alicia.config import ModelServer
from alicia.speech import hibari

routes = Calls("settings")


class Voice(Answer, frozen=True, kw_only=True):
    """A voice, for the setting `voice` or a conversation's preference."""

    name: Annotated[str, shown("heart")]


class Voices(Page[Voice], frozen=True, kw_only=True):
    """The voices that are known of, in one page."""

    others: Annotated[bool, shown(about="Whether the text-to-speech server may have more than it tells.")]


@routes.get("/voices", summary="List voices", responses=documented(401, 503))
async def list_voices(user: User, shared: Shared) -> Voices:
    """Of the local model, or of the text-to-speech server, if that one tells them."""
    server = shared.text_to_speech
    names = [hibari.VOICE] if server is None else await _told(server)
    return Voices(items=[Voice(name=name) for name in names], others=server is not None)


async def _told(server: ModelServer) -> list[str]:
    # The OpenAI client takes half a second to import, which only those wait for who have such a server.
    from alicia.speech.servers import SpeechServer

    async with aclosing(SpeechServer(server.url, server.model, server.voice, server.api_key)) as speech:
        return await speech.voices()
