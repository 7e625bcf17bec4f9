"""A minute of what `make soak` does for half an hour."""

from pathlib import Path

import pytest

from support import soak

pytestmark = [pytest.mark.timeout(400), pytest.mark.xdist_group("soak")]


async def test_conversations_go_on_for_a_minute_while_parts_are_killed_and_nothing_is_lost(
    tmp_path: Path,
) -> None:
    done = await soak.run(tmp_path, 60)
    assert sum(done.kills.values()) >= 3
    assert all(talker.asked for talker in done.talkers)
