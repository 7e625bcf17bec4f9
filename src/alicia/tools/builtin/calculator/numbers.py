"""Arithmetic on exact fractions as long as they stay exact, and on floats from there on."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final, TypeAlias

from alicia.tools.definition import ToolError

Number: TypeAlias = Fraction | float

MOST_BITS: Final = 13_000
"""Of a numerator or denominator: some 3,900 digits."""
MOST_FACTORIAL: Final = 1_000
_DIGITS: Final = 15
"""Significant digits that are shown of what is not exact, and of a fraction that never ends."""


def checked(value: Number) -> Number:
    """The value, if it is one that can be worked with further."""
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        raise ToolError("The result is too large, or not a number.")
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MOST_BITS:
        raise ToolError("The numbers become too large.")
    return value


def real(value: Number) -> float:
    """The nearest float."""
    try:
        return float(value)
    except OverflowError as error:
        raise ToolError("The numbers become too large.") from error


def whole(value: Number, what: str) -> int:
    """A whole number, or an error that names what it was wanted for."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, Fraction) and value.denominator == 1:
        return value.numerator
    raise ToolError(f"{what} needs whole numbers.")


def binary(sign: str, left: Number, right: Number) -> Number:
    """One of + - * / // mod and **."""
    if sign == "**":
        return power(left, right)
    if isinstance(left, float) or isinstance(right, float):
        left, right = real(left), real(right)
    # Only now: a fraction can be too small for a float.
    if sign in ("/", "//", "mod") and right == 0:
        raise ToolError("Division by zero.")
    match sign:
        case "+":
            return checked(left + right)
        case "-":
            return checked(left - right)
        case "*":
            return checked(left * right)
        case "/":
            return checked(left / right)
        case "//":
            floor = left // right
            return checked(floor if isinstance(floor, float) else Fraction(floor))
        case _:
            return checked(left % right)


def power(base: Number, exponent: Number) -> Number:
    """Exact for whole exponents and for roots that come out even; refused before it becomes too large."""
    if isinstance(base, Fraction) and isinstance(exponent, Fraction):
        if base == 0 and exponent < 0:
            raise ToolError("Division by zero.")
        if exponent.denominator == 1:
            bits = max(base.numerator.bit_length(), base.denominator.bit_length())
            # One, zero and minus one stay as small as they are, whatever the exponent.
            if abs(base) not in (0, 1) and (bits - 1) * abs(exponent.numerator) > MOST_BITS:
                raise ToolError("The numbers become too large.")
            small = (
                exponent.numerator
                if abs(base) not in (0, 1)
                else exponent.numerator % 2 or 2 * (exponent != 0)
            )
            return checked(base**small)
        if base >= 0 and exponent.denominator <= 64 and abs(exponent.numerator) <= 64:
            root = exact_root(base, exponent.denominator)
            if root is not None:
                return power(root, Fraction(exponent.numerator))
    try:
        result = real(base) ** real(exponent)
    except (OverflowError, ZeroDivisionError) as error:
        raise ToolError("The result is too large, or not a number.") from error
    if isinstance(result, complex):
        raise ToolError("A negative number has no such root among the real numbers.")
    return checked(result)


def exact_root(value: Fraction, degree: int) -> Fraction | None:
    """The root if it is a fraction itself."""
    top, bottom = whole_root(value.numerator, degree), whole_root(value.denominator, degree)
    return None if top is None or bottom is None else Fraction(top, bottom)


def whole_root(value: int, degree: int) -> int | None:
    """The whole number whose power this is, if there is one."""
    if degree == 2:
        root = math.isqrt(value)
        return root if root * root == value else None
    low, high = 0, 1 << (value.bit_length() // degree + 1)
    while low < high:
        middle = (low + high + 1) // 2
        if middle**degree <= value:
            low = middle
        else:
            high = middle - 1
    return low if low**degree == value else None


def sqrt(value: Number) -> Number:
    """Exact for squares of fractions."""
    if value < 0:
        raise ToolError("A negative number has no square root among the real numbers.")
    return power(value, Fraction(1, 2))


def cbrt(value: Number) -> Number:
    """Exact for cubes of fractions, negative ones too."""
    root = power(abs(value), Fraction(1, 3))
    return -root if value < 0 else root


def factorial(value: Number) -> Number:
    """Of whole numbers up to a thousand."""
    count = whole(value, "A factorial")
    if not 0 <= count <= MOST_FACTORIAL:
        raise ToolError(f"Factorials are worked out from 0 to {MOST_FACTORIAL}.")
    return Fraction(math.factorial(count))


def rounded(value: Number, digits: Number = Fraction(0)) -> Number:
    """Half is rounded away from zero, as in school."""
    places = whole(digits, "Rounding")
    if abs(places) > 100:
        raise ToolError("Rounding goes to at most 100 places.")
    scaled = Fraction(value) * Fraction(10) ** places
    up = math.floor(abs(scaled) + Fraction(1, 2))
    return checked(Fraction(up if scaled >= 0 else -up) / Fraction(10) ** places)


def on_floats(function: Callable[..., float]) -> Callable[..., Number]:
    """A function of the mathematics library that says in words what it cannot do."""

    def apply(*values: Number) -> Number:
        try:
            return checked(function(*(real(value) for value in values)))
        except (ValueError, OverflowError, ZeroDivisionError) as error:
            raise ToolError(f"{function.__name__} is not defined there, or too large.") from error

    return apply


def shown(value: Number) -> tuple[str, bool]:
    """The number as people write it, and whether that is all of it."""
    if isinstance(value, float):
        return _tidy(f"{value:.{_DIGITS}g}"), False
    if value.denominator == 1:
        return str(value.numerator), True
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest == 1 and value.denominator.bit_length() < 160:
        return _decimal(value), True
    return _tidy(f"{real(value):.{_DIGITS}g}"), False


def _decimal(value: Fraction) -> str:
    """A fraction whose digits end, all of them."""
    places, scaled = 0, value
    while scaled.denominator != 1:
        scaled *= 10
        places += 1
    digits = str(abs(scaled.numerator)).rjust(places + 1, "0")
    return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"


def _tidy(text: str) -> str:
    return "0" if text == "-0" else text
