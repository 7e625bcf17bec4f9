"""Looks at servers that run elsewhere: do they answer, to these keys, and are they new enough?

Each returns a few words about what it found, or raises CheckError with a sentence that names the variable.
"""

from urllib.parse import urlsplit

from alicia.config import LiveKitServer, ModelServer
from alicia.errors import AliciaError

OLDEST_POSTGRES = 16
OLDEST_PGVECTOR = (0, 8)
PATIENCE = 10


class CheckError(AliciaError):
    """A part does not answer as it should; the text says which setting or step mends it."""


async def check_database(url: str, named: str = "ALICIA_DATABASE_URL") -> str:
    """Connect, and see that PostgreSQL and pgvector are new enough."""
    import psycopg

    try:
        async with await psycopg.AsyncConnection.connect(url, connect_timeout=PATIENCE) as connection:
            cursor = await connection.execute(
                """
                SELECT current_setting('server_version'), current_setting('server_version_num')::int / 10000,
                       (SELECT default_version FROM pg_available_extensions WHERE name = 'vector')
                """
            )
            row = await cursor.fetchone()
    except psycopg.Error as error:
        raise CheckError(f"cannot use the database of {named}: {_one_line(error)}") from error
    assert row is not None, "a SELECT without FROM has one row"  # noqa: S101
    version, major, vector = str(row[0]), int(row[1]), row[2]
    if major < OLDEST_POSTGRES:
        raise CheckError(f"PostgreSQL {version} is too old: Alicia needs {OLDEST_POSTGRES} or newer.")
    if vector is None:
        raise CheckError("the extension pgvector is missing: install it on the database's machine.")
    if tuple(int(number) for number in str(vector).split(".")[:2]) < OLDEST_PGVECTOR:
        raise CheckError(f"pgvector {vector} is too old: Alicia needs 0.8 or newer.")
    return f"{version.split()[0]} with pgvector {vector}"


async def count_embedded(url: str, model: str) -> tuple[int, int] | None:
    """How many of how many memories have a vector of this model; None before the database is set up."""
    import psycopg

    from alicia.storage.gaps import progress

    try:
        async with await psycopg.AsyncConnection.connect(url, connect_timeout=PATIENCE) as connection:
            return await progress(connection, model)
    except psycopg.Error:
        return None


async def check_livekit(server: LiveKitServer) -> str:
    """Ask for the list of rooms, which needs a working key."""
    import aiohttp
    from livekit import api

    timeout = aiohttp.ClientTimeout(total=PATIENCE)
    try:
        async with api.LiveKitAPI(server.url, server.api_key, server.api_secret, timeout=timeout) as client:
            rooms = await client.room.list_rooms(api.ListRoomsRequest())
    except api.TwirpError as error:
        raise CheckError(
            f"{server.url} does not accept ALICIA_LIVEKIT_API_KEY and ALICIA_LIVEKIT_API_SECRET: "
            f"{error.message}"
        ) from error
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        raise CheckError(
            f"nothing answers at ALICIA_LIVEKIT_URL ({server.url}): {_one_line(error)}"
        ) from error
    count = len(rooms.rooms)
    return "1 room open" if count == 1 else f"{count} rooms open"


async def check_model(variable: str, server: ModelServer) -> str:
    """Ask an OpenAI-compatible server for its models; one that has no such list still counts as answering."""
    import httpx2

    headers = {"Authorization": f"Bearer {server.api_key}"} if server.api_key else {}
    try:
        async with httpx2.AsyncClient(timeout=PATIENCE, headers=headers) as client:
            answer = await client.get(f"{server.url}/models")
    except httpx2.HTTPError as error:
        reason = _one_line(error) or type(error).__name__
        raise CheckError(f"nothing answers at {variable}_URL ({server.url}): {reason}") from error
    if answer.status_code in (401, 403):
        raise CheckError(f"{server.url} does not accept {variable}_API_KEY.")
    if answer.status_code >= 500:
        raise CheckError(f"{server.url} answers with an error, {answer.status_code}: look at that server.")
    return server.model or "its default model"


async def is_alicia(port: int) -> bool:
    """Whether an API of Alicia's answers at this port of this machine."""
    import httpx2

    try:
        async with httpx2.AsyncClient(timeout=PATIENCE) as client:
            answer = await client.get(f"http://127.0.0.1:{port}/openapi.json")
        return answer.json()["info"]["title"] == "Alicia"
    except (httpx2.HTTPError, ValueError, LookupError, TypeError):
        return False


async def check_answer(server: ModelServer) -> str:
    """Have a language model say one token."""
    import httpx2

    headers = {"Authorization": f"Bearer {server.api_key}"} if server.api_key else {}
    question = {
        "model": server.model or "default",
        "messages": [{"role": "user", "content": "Hello."}],
        "max_tokens": 1,
    }
    try:
        async with httpx2.AsyncClient(timeout=60, headers=headers) as client:
            answer = await client.post(f"{server.url}/chat/completions", json=question)
    except httpx2.HTTPError as error:
        reason = _one_line(error) or type(error).__name__
        raise CheckError(f"no answer from the language model at {server.url}: {reason}") from error
    if answer.status_code != 200:
        raise CheckError(
            f"the language model at {server.url} answers {answer.status_code}: "
            "see ALICIA_LLM_URL, ALICIA_LLM_MODEL and ALICIA_LLM_API_KEY."
        )
    return f"{server.model or 'its default model'} answers"


def place(url: str) -> str:
    """Return where a server is, without the password that its address may hold."""
    parts = urlsplit(url)
    return f"{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}{parts.path}"


def _one_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else ""
