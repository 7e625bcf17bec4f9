"""From words to a number, by recursive descent; the grammar stands in the methods' first lines."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final

import msgspec

from alicia.tools.builtin.calculator import numbers
from alicia.tools.builtin.calculator.numbers import Number, binary, checked, on_floats, whole
from alicia.tools.builtin.calculator.words import Word, words_of
from alicia.tools.definition import ToolError

DEEPEST: Final = 60
"""Brackets, signs and powers inside each other."""

CONSTANTS: Final[dict[str, Number]] = {
    "pi": math.pi,
    "e": math.e,
    "tau": math.tau,
    "phi": (1 + math.sqrt(5)) / 2,
}


class _Function(msgspec.Struct, frozen=True):
    run: Callable[..., Number]
    least: int = 1
    most: int = 1


def log(value: float, base: float = 10.0) -> float:
    """To base 10 unless told otherwise; the two usual bases have functions that make no rounding error."""
    if base == 10:
        return math.log10(value)
    return math.log2(value) if base == 2 else math.log(value, base)


def sin(angle: float) -> float:
    """In radians; what is only the rounding error of pi is zero."""
    return _without_dust(math.sin(angle))


def cos(angle: float) -> float:
    """In radians; what is only the rounding error of pi is zero."""
    return _without_dust(math.cos(angle))


def tan(angle: float) -> float:
    """In radians; what is only the rounding error of pi is zero."""
    return _without_dust(math.tan(angle))


def _without_dust(value: float) -> float:
    return 0.0 if abs(value) < 1e-15 else value


def _abs(value: Number) -> Number:
    return abs(value)


def _min(*values: Number) -> Number:
    return min(values)


def _max(*values: Number) -> Number:
    return max(values)


def _sum(*values: Number) -> Number:
    total: Number = Fraction(0)
    for value in values:
        total = binary("+", total, value)
    return total


def _floor(value: Number) -> Number:
    return Fraction(math.floor(value))


def _ceil(value: Number) -> Number:
    return Fraction(math.ceil(value))


def _trunc(value: Number) -> Number:
    return Fraction(math.trunc(value))


def _mean(*values: Number) -> Number:
    return binary("/", _sum(*values), Fraction(len(values)))


def _gcd(*values: Number) -> Number:
    return Fraction(math.gcd(*(whole(value, "gcd") for value in values)))


def _lcm(*values: Number) -> Number:
    return checked(Fraction(math.lcm(*(whole(value, "lcm") for value in values))))


MANY: Final = 100
FUNCTIONS: Final[dict[str, _Function]] = {
    "sqrt": _Function(numbers.sqrt),
    "cbrt": _Function(numbers.cbrt),
    "abs": _Function(_abs),
    "round": _Function(numbers.rounded, 1, 2),
    "floor": _Function(_floor),
    "ceil": _Function(_ceil),
    "trunc": _Function(_trunc),
    "factorial": _Function(numbers.factorial),
    "min": _Function(_min, 1, MANY),
    "max": _Function(_max, 1, MANY),
    "sum": _Function(_sum, 1, MANY),
    "mean": _Function(_mean, 1, MANY),
    "average": _Function(_mean, 1, MANY),
    "gcd": _Function(_gcd, 1, MANY),
    "lcm": _Function(_lcm, 1, MANY),
    "pow": _Function(numbers.power, 2, 2),
    "log": _Function(on_floats(log), 1, 2),
    **{
        name: _Function(on_floats(function))
        for name, function in {
            "ln": math.log,
            "log2": math.log2,
            "log10": math.log10,
            "exp": math.exp,
            "sin": sin,
            "cos": cos,
            "tan": tan,
            "asin": math.asin,
            "acos": math.acos,
            "atan": math.atan,
            "sinh": math.sinh,
            "cosh": math.cosh,
            "tanh": math.tanh,
            "degrees": math.degrees,
            "radians": math.radians,
        }.items()
    },
    "atan2": _Function(on_floats(math.atan2), 2, 2),
    "hypot": _Function(on_floats(math.hypot), 1, MANY),
}


def evaluate(expression: str) -> Number:
    """The value of an expression; ToolError says what is wrong with it."""
    parser = _Parser(words_of(expression))
    value = parser.sum()
    if parser.word.kind != "end":
        raise ToolError(f"{parser.word.text!r} was not expected there.")
    return value


class _Parser:
    def __init__(self, words: list[Word]) -> None:
        self._words = words
        self._at = 0
        self._depth = 0

    @property
    def word(self) -> Word:
        return self._words[self._at]

    def _take(self, *texts: str) -> str | None:
        """Pass the next word if it is one of these signs."""
        if self.word.kind == "sign" and self.word.text in texts:
            self._at += 1
            return self._words[self._at - 1].text
        return None

    def sum(self) -> Number:
        """term ((+ | -) term)*; in `a + b%` the percentage is one of a, as on every pocket calculator."""
        value, _ = self._term()
        while sign := self._take("+", "-"):
            right, percent = self._term()
            value = binary(sign, value, binary("*", value, right) if percent else right)
        return value

    def _term(self) -> tuple[Number, bool]:
        """factor ((* | / | // | % | mod | of | nothing) factor)*, and whether it is a bare percentage."""
        value, percent = self._factor()
        while sign := self._take("*", "/", "//", "%", "mod", "of") or self._silent():
            right, _ = self._factor()
            value, percent = binary({"%": "mod", "of": "*"}.get(sign, sign), value, right), False
        return value, percent

    def _silent(self) -> str | None:
        """The times sign that nobody writes: 2(3 + 4), 2 pi."""
        before = self._words[self._at - 1]
        bracket = self.word.text == "(" and (before.kind == "number" or before.text == ")")
        name = self.word.kind == "name" and (before.kind == "number" or before.text == ")")
        return "*" if bracket or name else None

    def _factor(self) -> tuple[Number, bool]:
        """(+ | -) factor, or power"""
        sign = self._take("+", "-")
        if sign is None:
            return self._power()
        self._deeper()
        value, percent = self._factor()
        self._depth -= 1
        return (-value if sign == "-" else value), percent

    def _power(self) -> tuple[Number, bool]:
        """postfix (** factor)?, which groups to the right and binds closer than a minus before it."""
        value, percent = self._postfix()
        if not self._take("**"):
            return value, percent
        self._deeper()
        exponent, _ = self._factor()
        self._depth -= 1
        return numbers.power(value, exponent), False

    def _postfix(self) -> tuple[Number, bool]:
        """atom (! | % | percent)*"""
        value, percent = self._atom(), False
        while True:
            if self._take("!"):
                value, percent = numbers.factorial(value), False
            elif self._take("percent") or self._is_percent():
                value, percent = binary("/", value, Fraction(100)), True
            else:
                return value, percent

    def _is_percent(self) -> bool:
        """Whether the next sign is a percent sign and not the remainder's: no value follows it."""
        if self.word.kind != "sign" or self.word.text != "%":
            return False
        after = self._words[self._at + 1]
        if after.kind in ("number", "name") or after.text == "(":
            return False
        self._at += 1
        return True

    def _atom(self) -> Number:
        """number, constant, function(…), or a sum in brackets"""
        word = self.word
        self._at += 1
        if word.kind == "number":
            return checked(word.value)
        if word.kind == "name":
            return self._named(word.text)
        if word.text != "(":
            self._at -= 1
            raise ToolError(f"A number was expected, but there is {word.text!r}.")
        value = self._bracket()
        if len(value) != 1:
            raise ToolError("A comma stands only between the arguments of a function.")
        return value[0]

    def _named(self, name: str) -> Number:
        if name in CONSTANTS:
            return CONSTANTS[name]
        function = FUNCTIONS.get(name)
        if function is None:
            raise ToolError(f"{name!r} is not known; functions are {', '.join(sorted(FUNCTIONS))}.")
        # Without brackets as in √2 or `sqrt 16`.
        values = self._bracket() if self._take("(") else [self._power()[0]]
        if not function.least <= len(values) <= function.most:
            raise ToolError(f"{name} does not take {len(values)} arguments.")
        return checked(function.run(*values))

    def _bracket(self) -> list[Number]:
        self._deeper()
        values = [self.sum()]
        while self._take(","):
            values.append(self.sum())
        if not self._take(")"):
            raise ToolError(f"A bracket is not closed before {self.word.text!r}.")
        self._depth -= 1
        return values

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise ToolError("The expression is nested too deeply.")
