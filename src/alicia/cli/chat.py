"""`alicia chat`: talk in the terminal, or through a pipe."""

from typing import Annotated

import typer

from alicia.cli.manage.server import Token, Url


def chat(
    conversation: Annotated[
        str | None, typer.Argument(help="A conversation to go on with (ac_…); a new one if left out.")
    ] = None,
    url: Url = None,
    token: Token = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print every event of the answers as a line of JSON.")
    ] = False,
) -> None:
    """Talk to Alicia. Without a terminal, each line of the input is a message."""
    import asyncio
    import functools
    import logging
    import sys

    import structlog

    from alicia.cli.talk.pipe import pipe
    from alicia.client import connect
    from alicia.config import Config

    # The screen belongs to the talk: what the libraries have to report is shown as states of the connection.
    logging.disable(logging.CRITICAL)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    config = Config.from_environ()
    server = url or config.api_url or config.url
    open_ = functools.partial(connect, server, token=token or config.token, store=config.home / "client")
    if json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        sys.exit(asyncio.run(pipe(open_(conversation), as_events=json)))

    from alicia.cli.talk.terminal import Terminal

    sys.exit(Terminal(functools.partial(open_, history=True)).run(conversation))
