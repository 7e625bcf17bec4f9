"""Settings: defaults, and errors that name the variable."""

import re
from pathlib import Path

import pytest

from alicia.config import Config, LiveKitServer, ModelServer, known_variables, unknown_variables
from alicia.errors import ConfigError


def test_without_any_variable_everything_is_embedded_and_on_loopback() -> None:
    config = Config.from_environ({})
    assert (config.host, config.port, config.url) == ("127.0.0.1", 8080, "http://127.0.0.1:8080")
    assert config.database_url is config.livekit is config.llm is config.embedding is config.stt is config.tts
    assert config.llm_size == "large"
    assert not config.has_auth


def test_what_is_set_is_read() -> None:
    config = Config.from_environ(
        {
            "ALICIA_HOME": "/srv/alicia",
            "ALICIA_DATABASE_URL": "postgresql://db/alicia",
            "ALICIA_LIVEKIT_URL": "wss://rooms.example",
            "ALICIA_LIVEKIT_API_KEY": "key",
            "ALICIA_LIVEKIT_API_SECRET": "secret",
            "ALICIA_LLM_URL": "http://models:8000/v1/",
            "ALICIA_LLM_MODEL": "big",
            "ALICIA_TTS_URL": "http://voices/v1",
            "ALICIA_TTS_VOICE": "heart",
        }
    )
    assert config.home == Path("/srv/alicia")
    assert config.livekit == LiveKitServer("wss://rooms.example", "key", "secret")
    assert config.llm == ModelServer("http://models:8000/v1", "big")
    assert config.tts == ModelServer("http://voices/v1", voice="heart")


def test_an_empty_variable_counts_as_not_set() -> None:
    assert Config.from_environ({"ALICIA_DATABASE_URL": "", "ALICIA_PORT": " "}).port == 8080


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ALICIA_PORT", "http"),
        ("ALICIA_PORT", "0"),
        ("ALICIA_PORT", "65536"),
        ("ALICIA_POSTGRES_PORT", "²"),
        ("ALICIA_LLM", "medium"),
        ("ALICIA_LLM_URL", "models:8000"),
        ("ALICIA_DATABASE_URL", "mysql://db"),
        ("ALICIA_AUTH_SECRET", "short"),
        ("ALICIA_HOST", "0.0.0.0"),
        ("ALICIA_HOST", "alicia.example"),
        ("ALICIA_LIVEKIT_URL", "ftp://rooms"),
        ("ALICIA_LOG_LEVEL", "loud"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector"),
    ],
)
def test_a_bad_value_is_refused_by_the_name_of_its_variable(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=name):
        Config.from_environ({name: value})


def test_a_livekit_server_needs_its_key_and_secret() -> None:
    with pytest.raises(ConfigError, match="ALICIA_LIVEKIT_API_SECRET is not"):
        Config.from_environ({"ALICIA_LIVEKIT_URL": "ws://rooms", "ALICIA_LIVEKIT_API_KEY": "key"})


def test_another_address_than_loopback_is_allowed_with_a_login() -> None:
    config = Config.from_environ({"ALICIA_HOST": "0.0.0.0", "ALICIA_AUTH_SECRET": "s" * 32})
    assert config.has_auth


def test_secrets_do_not_show_when_the_settings_are_printed() -> None:
    config = Config.from_environ(
        {
            "ALICIA_DATABASE_URL": "postgresql://me:sesame@db/x",
            "ALICIA_LLM_URL": "http://models",
            "ALICIA_LLM_API_KEY": "sesame",
            "ALICIA_AUTH_SECRET": "sesame" * 8,
        }
    )
    assert "sesame" not in repr(config)


def test_a_misspelt_variable_is_found_with_the_one_that_was_meant() -> None:
    environ = {"ALICIA_DATABSE_URL": "", "ALICIA_ZZZ": "", "ALICIA_TTS_VOICE": "", "HOME": ""}
    assert unknown_variables(environ) == {"ALICIA_DATABSE_URL": "ALICIA_DATABASE_URL", "ALICIA_ZZZ": None}


def test_a_part_run_alone_names_the_variable_it_misses() -> None:
    config = Config.from_environ({})
    with pytest.raises(ConfigError, match="ALICIA_DATABASE_URL"):
        config.need_database_url()
    with pytest.raises(ConfigError, match="ALICIA_LIVEKIT_URL"):
        config.need_livekit()


def test_the_documented_variables_are_those_that_are_read() -> None:
    page = Path(__file__).parents[2] / "docs" / "settings.md"
    documented = set(re.findall(r"`(ALICIA_\w+|OTEL_\w+)`", page.read_text()))
    assert documented == known_variables()
