"""The model's first token: told once for each time that the model is asked."""

from datetime import UTC, datetime

from alicia import ids
from alicia.storage.meta import Meta
from alicia.storage.traces import waits
from alicia.telemetry.first_token import CAME, TOOK, FirstToken


def test_a_first_token_is_told_once() -> None:
    first = FirstToken()
    first.ask()
    assert first.meta() is None
    before = datetime.now(UTC)
    first.come()
    after = datetime.now(UTC)
    first.come()
    told = first.meta()
    assert told
    assert before <= datetime.fromisoformat(told[CAME]) <= after
    assert told[TOOK] >= 0
    first.come()
    assert first.meta() is None


def test_a_model_that_goes_on_after_its_tools_has_a_first_token_again() -> None:
    first = FirstToken()
    first.ask()
    first.come()
    assert first.meta()
    first.ask()
    assert first.meta() is None
    first.come()
    assert first.meta()


def test_a_token_that_nothing_was_stored_after_is_not_the_next_ones() -> None:
    first = FirstToken()
    first.ask()
    first.come()
    first.ask()
    assert first.meta() is None


def noted(ref: str, key: str, value: str | None) -> Meta:
    return Meta(id=ids.new(ids.MetaId), ref=ref, key=key, value=value, created_at=datetime.now(UTC))


def test_waits_are_read_back_in_order_and_what_is_none_is_left_out() -> None:
    found = waits(
        [
            noted("ams_2", CAME, "2026-01-01T00:00:05+00:00"),
            noted("ams_2", TOOK, "250"),
            noted("ar_1", CAME, "2026-01-01T00:00:01+00:00"),
            noted("ar_1", TOOK, "1000"),
            noted("aucc_1", CAME, "yesterday"),
            noted("aucc_2", CAME, None),
            noted("aucc_3", CAME, "2026-01-01T00:00:05+00:00"),
            noted("aucc_3", TOOK, "1e300"),
        ]
    )
    assert [(wait.ref, wait.asked_at, wait.first_token_at) for wait in found] == [
        ("ar_1", datetime(2026, 1, 1, 0, 0, 0, tzinfo=UTC), datetime(2026, 1, 1, 0, 0, 1, tzinfo=UTC)),
        (
            "ams_2",
            datetime(2026, 1, 1, 0, 0, 4, 750_000, tzinfo=UTC),
            datetime(2026, 1, 1, 0, 0, 5, tzinfo=UTC),
        ),
    ]
