"""Children that die with their parent."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from alicia.local.process import Process, leashed
from support.up import eventually

SLEEPER = [sys.executable, "-c", "import signal; signal.pause()"]


async def test_a_child_writes_to_its_log_and_its_last_words_tell_how_it_ended(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "child.log"
    process = Process.start([sys.executable, "-c", "print('tried'); exit('no luck')"], log=log)
    assert await process.obituary() == "ended with exit code 1: no luck"
    assert log.read_text().split("\n")[:1] == ["tried"]


async def test_last_words_are_of_this_run_and_not_of_an_earlier_one(tmp_path: Path) -> None:
    log = tmp_path / "child.log"
    await Process.start(["echo", "long ago"], log=log).wait()
    assert await Process.start(["false"], log=log).obituary() == "ended with exit code 1"
    assert log.read_text() == "long ago\n"


async def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    process = Process.start(["/nowhere/program"], log=tmp_path / "child.log")
    assert "cannot start /nowhere/program: " in await process.obituary()


async def test_a_child_that_does_not_listen_is_killed_in_the_end(tmp_path: Path) -> None:
    stubborn = "import signal; signal.signal(15, signal.SIG_IGN); print('set', flush=True); signal.pause()"
    process = Process.start([sys.executable, "-c", stubborn], log=tmp_path / "child.log")
    eventually(lambda: process.last_words() == "set", "the signal is ignored")
    assert await process.stop(within=0.05) is False
    assert process.returncode == -signal.SIGKILL


async def test_cancelling_a_wait_leaves_the_child_alone(tmp_path: Path) -> None:
    process = Process.start(SLEEPER, log=tmp_path / "child.log")
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(process.wait(), 0.01)
    assert process.alive
    assert await process.stop() is True
    assert process.returncode == -signal.SIGTERM


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_child_gets_its_death_signal_when_its_parent_is_killed(
    tmp_path: Path, number: signal.Signals
) -> None:
    program = f"""
import signal
from pathlib import Path
from alicia.local.process import Process
command = [{sys.executable!r}, "-c", "import signal; print('up', flush=True); signal.pause()"]
child = Process.start(command, log=Path("child.log"), death_signal=signal.Signals({int(number)}))
Path("pid").write_text(str(child.pid))
signal.pause()
"""
    with subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path) as parent:
        log, pid = tmp_path / "child.log", tmp_path / "pid"
        eventually(lambda: log.exists() and log.read_text() == "up\n", "the child runs")
        eventually(lambda: pid.exists() and pid.read_text(), "its parent has told its pid")
        parent.kill()
    child = Path(f"/proc/{pid.read_text()}")
    eventually(lambda: not child.exists() or "(zombie)" in (child / "status").read_text(), "the child ends")
    assert ("KeyboardInterrupt" in log.read_text()) == (number == signal.SIGINT)


def test_a_child_whose_parent_went_before_the_leash_was_on_does_not_start(tmp_path: Path) -> None:
    command = leashed(["touch", str(tmp_path / "started")], signal.SIGKILL, "same")
    # The third word after the interpreter's options is the parent's pid: here that of a stranger.
    command[4] = "1"
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "gone already" in ended.stderr
    assert not (tmp_path / "started").exists()
