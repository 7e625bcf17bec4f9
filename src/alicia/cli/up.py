"""`alicia up`: everything in one terminal."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from alicia.config import Config


def up() -> None:
    """Start everything on this machine; Ctrl-C ends it."""
    import asyncio

    from alicia.config import Config

    asyncio.run(_run(Config.from_environ()))


async def _run(config: "Config") -> None:
    import asyncio
    import os
    import signal

    from alicia.cli.progress import open_progress
    from alicia.local.home import Home
    from alicia.local.stack import build
    from alicia.local.supervisor import Supervisor

    task = asyncio.current_task()
    assert task is not None, "runs in a task"  # noqa: S101
    signals: list[int] = []

    def stop(number: int) -> None:
        signals.append(number)
        if len(signals) == 1:
            progress.say("Stopping…")
            task.cancel()
        else:
            # The kernel ends the children with us, PostgreSQL by a clean shutdown.
            os._exit(1)

    progress = open_progress()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop, number)
    try:
        home = Home(config.home)
        home.make()
        with home.hold():
            supervisor = Supervisor(build(config, home, progress), progress)
            await supervisor.run(lambda: progress.finished(f"Alicia is ready: {config.url}"))
    except asyncio.CancelledError:
        # The signal's doing: it is not for the event loop to see.
        progress.say("Stopped.")
    finally:
        progress.close()
