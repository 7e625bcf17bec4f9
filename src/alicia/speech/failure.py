"""Whatever goes wrong inside a speech model, those who use it need to know one thing: it is unavailable."""

from collections.abc import Generator
from contextlib import contextmanager

import structlog

from alicia.errors import ModelUnavailable

log = structlog.get_logger(__name__)


@contextmanager
def unavailable(what: str, remedy: str) -> Generator[None]:
    """Raise any error as a ModelUnavailable that says what failed and what to do about it.

    Libraries and servers fail in more ways than can be listed, and one that got through would leave a room
    deaf or mute for good.
    """
    try:
        yield
    except ModelUnavailable:
        raise
    except Exception as error:
        # Its own words may repeat what was said.
        log.warning("speech model failed", what=what, reason=type(error).__name__)
        raise ModelUnavailable(f"{what} ({type(error).__name__}): {remedy}.") from error
