"""Which language model a stack takes."""

from pathlib import Path

import pytest

from alicia.config import Config
from alicia.local.home import Home
from alicia.local.stack import build, wanted_weights, warming_note
from alicia.local.supervisor import Report
from alicia.local.weights import QWEN, SMOLLM2, WeightsError


class Silent(Report):
    def starting(self, name: str) -> None:
        pass

    def ready(self, name: str, seconds: float, note: str) -> None:
        pass

    def say(self, line: str) -> None:
        pass


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder without any weights."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    SMOLLM2.path.parent.mkdir(parents=True)
    return tmp_path


@pytest.mark.usefixtures("cache")
def test_the_small_model_stands_in_for_the_large_one_and_that_is_said(tmp_path: Path) -> None:
    config = Config(home=tmp_path)
    SMOLLM2.path.touch()
    assert wanted_weights(config) is SMOLLM2
    assert "`make weights-large` fetches" in warming_note(config, SMOLLM2)
    QWEN.path.touch()
    assert wanted_weights(config) is QWEN
    assert "make" not in warming_note(config, QWEN)


@pytest.mark.usefixtures("cache")
def test_the_small_model_can_be_asked_for(tmp_path: Path) -> None:
    config = Config(home=tmp_path, llm_size="small")
    SMOLLM2.path.touch()
    QWEN.path.touch()
    assert wanted_weights(config) is SMOLLM2
    assert "make" not in warming_note(config, SMOLLM2)


def test_without_any_weights_the_ways_to_get_a_model_are_named(cache: Path) -> None:
    config = Config(home=cache / "home", port=0)
    home = Home(config.home)
    home.make()
    with pytest.raises(WeightsError, match=r"make weights-large.*ALICIA_LLM_URL"):
        build(config, home, Silent())
