"""`alicia export`, `alicia import`, `alicia erase` and `alicia token`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from alicia.cli.manage.server import AsJson, Server, Token, Url, connected
from alicia.cli.manage.tables import show, show_json
from alicia.errors import AliciaError, ConfigError

PLACES = {"ac_": "/conversations/{}", "amem_": "/memories/{}"}


def export(
    file: Annotated[Path, typer.Argument(help="Where to; it must not be there yet.")] = Path("alicia.zip"),
    url: Url = None,
    token: Token = None,
) -> None:
    """Take everything that is yours away, as one archive."""
    try:
        with connected(url, token) as server, server.download("/export") as pieces, file.open("xb") as out:
            for piece in pieces:
                out.write(piece)
    except FileExistsError:
        raise AliciaError(f"{file} is there already; name another file.") from None
    print(f"{file}: {file.stat().st_size} bytes.")


def import_(
    file: Annotated[Path, typer.Argument(help="An archive made by `alicia export`.", exists=True)],
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Bring an archive in. What is there already stays as it is."""
    with connected(url, token) as server, file.open("rb") as archive:
        added = server.upload("/import", archive)["imported"]
    if as_json:
        show_json(added)
    else:
        show(("rows", "new"), list(added.items()), "Nothing.")


def erase(
    what: Annotated[
        str | None, typer.Argument(help="A conversation, message or memory; everything with --everything.")
    ] = None,
    everything: Annotated[bool, typer.Option("--everything", help="All that is yours.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    url: Url = None,
    token: Token = None,
) -> None:
    """Erase for good.

    Nothing is left in the tables, the journal, the indexes and the database's files.
    """
    if (what is None) == (not everything):
        raise AliciaError("Name what to erase, or say --everything.")
    if not yes and not typer.confirm(f"Erase {what or 'everything that is yours'} for good?"):
        raise typer.Exit(1)
    with connected(url, token) as server:
        if what is None:
            server.delete("/me")
        else:
            _erase(server, what)
    _scrub(url)


def _erase(server: Server, what: str) -> None:
    if what.startswith("am_"):
        conversation = server.get(f"/messages/{what}/trace")["message"]["conversationId"]
        server.delete(f"/conversations/{conversation}/messages/{what}")
        return
    for prefix, path in PLACES.items():
        if what.startswith(prefix):
            server.delete(path.format(what), erase="true")
            return
    raise AliciaError("What is erased is a conversation (ac_…), a message (am_…) or a memory (amem_…).")


def _scrub(url: str | None) -> None:
    """Have the database give up the space that the erased took, where this machine may tell it to."""
    import asyncio

    from alicia.storage.scrub import ScrubRefused, scrub

    address = _database(url)
    if address is None:
        print("Erased. Where the database is, VACUUM FULL and CHECKPOINT clean its files as well.")
        return
    try:
        asyncio.run(scrub(address))
    except ScrubRefused as error:
        print(f"Erased. {error}", file=sys.stderr)
    else:
        print("Erased, and the database's files are clean.")


def _database(url: str | None) -> str | None:
    """The database of the server that was spoken to, if this machine knows it."""
    from alicia.config import Config
    from alicia.local.home import Home
    from alicia.local.stack import embedded_postgres

    config = Config.from_environ()
    if url is not None or config.api_url is not None:
        return None
    if config.database_url is not None:
        return config.database_url
    home = Home(config.home)
    port = home.ports().get("postgres")
    return embedded_postgres(home, port).url() if port is not None and home.is_held() else None


def token(
    user: Annotated[str, typer.Option("--user", help="Whose token it is.")],
    days: Annotated[float, typer.Option(min=0.0001, help="How long it is valid.")] = 30,
    admin: Annotated[bool, typer.Option("--admin", help="Lets them change what concerns all users.")] = False,
) -> None:
    """Make a bearer token for a user. ALICIA_AUTH_SECRET signs it."""
    import time

    import jwt

    from alicia.api.auth import ADMIN_CLAIM, is_name
    from alicia.config import Config

    config = Config.from_environ()
    if config.auth_secret is None:
        raise ConfigError("Set ALICIA_AUTH_SECRET; without it nobody has to log in, and there is one user.")
    if not is_name(user):
        raise AliciaError("A user's name has up to 100 printable characters and no colon.")
    now = int(time.time())
    claims: dict[str, object] = {"sub": user, "iat": now, "exp": now + round(days * 86400)}
    claims |= {"aud": config.auth_audience} if config.auth_audience else {}
    claims |= {"iss": config.auth_issuer} if config.auth_issuer else {}
    claims |= {ADMIN_CLAIM: True} if admin else {}
    print(jwt.encode(claims, config.auth_secret, algorithm="HS256"))
