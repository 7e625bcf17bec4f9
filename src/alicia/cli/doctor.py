"""`alicia doctor`: what is wrong and how to mend it."""


def doctor() -> None:
    """Check every part, embedded or not, and say how to mend what is wrong."""
