"""The home folder: its secrets, its lock, its ports."""

import socket
import stat
from pathlib import Path

import pytest

from alicia.local import ports
from alicia.local.home import Home, HomeError, settle_port


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "deep" / "home")
    home.make()
    return home


def test_secrets_are_made_once_and_private(home: Home) -> None:
    made = home.secrets()
    assert home.secrets() == made
    assert Home(home.path.parent / "other").path != home.path
    assert stat.S_IMODE((home.path / "secrets.json").stat().st_mode) == 0o600
    assert len(made.livekit_api_secret) >= 32


def test_a_secret_that_a_later_version_adds_leaves_the_others_as_they_are(home: Home) -> None:
    before = home.secrets()
    path = home.path / "secrets.json"
    path.write_text('{"postgres_password": "old"}')
    after = home.secrets()
    assert after.postgres_password == "old"
    assert after.livekit_api_secret != before.livekit_api_secret
    assert home.secrets() == after


def test_damaged_secrets_are_named_and_not_overwritten(home: Home) -> None:
    (home.path / "secrets.json").write_text("{")
    with pytest.raises(HomeError, match=r"secrets\.json is damaged"):
        home.secrets()


def test_only_one_may_hold_a_home(home: Home) -> None:
    assert not home.is_held()
    with home.hold():
        assert home.is_held()
        with pytest.raises(HomeError, match="as process"), home.hold():
            pass
    assert not home.is_held()


def test_a_port_stays_the_same_until_another_program_takes_it(home: Home) -> None:
    port = settle_port("livekit", "ALICIA_LIVEKIT_PORT", None, {})
    home.remember_ports({"livekit": port})
    assert settle_port("livekit", "ALICIA_LIVEKIT_PORT", None, home.ports()) == port
    with socket.socket() as taken:
        taken.bind((ports.LOOPBACK, port))
        taken.listen()
        assert settle_port("livekit", "ALICIA_LIVEKIT_PORT", None, home.ports()) != port
        with pytest.raises(HomeError, match=f"Port {port} is taken by another program: set ALICIA_X"):
            settle_port("livekit", "ALICIA_X", port, {})


def test_an_address_of_another_machine_is_not_called_taken() -> None:
    assert "cannot be used at 192.0.2.1" in str(ports.obstacle(8080, host="192.0.2.1"))
