"""A calculator with its own parser: no eval, exact where numbers can be, bounded in size and time."""

from alicia.tools.builtin.calculator.tool import calculator

__all__ = ["calculator"]
