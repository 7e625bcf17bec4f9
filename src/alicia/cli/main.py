"""The command `alicia`.

Commands import what they need when they run, so that `alicia --help` is quick.
"""

import sys

import typer

from alicia.cli.agent import agent
from alicia.cli.api import api
from alicia.cli.chat import chat
from alicia.cli.doctor import doctor
from alicia.cli.manage.conversations import conversations, trace
from alicia.cli.manage.memory import memory
from alicia.cli.manage.privacy import erase, export, import_, token
from alicia.cli.manage.tools import tools
from alicia.cli.migrate import migrate
from alicia.cli.up import up
from alicia.errors import AliciaError

app = typer.Typer(
    name="alicia",
    help="A self-hosted, real-time conversational AI in text and voice.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (up, chat, doctor, conversations, trace, tools, export):
    app.command()(command)
app.command("import")(import_)
for command in (erase, token, api, agent, migrate):
    app.command()(command)
app.add_typer(memory)


def main() -> None:
    """Run a command; an error of ours is one sentence and exit code 1."""
    try:
        app()
    except AliciaError as error:
        print(f"alicia: {error}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
