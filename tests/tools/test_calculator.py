"""The calculator: what people and models write, exactly, and nothing that takes long."""

import contextlib
import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alicia.llm.messages import ToolCall
from alicia.tools.box import Toolbox
from alicia.tools.builtin.calculator import calculator
from alicia.tools.builtin.calculator.numbers import shown
from alicia.tools.builtin.calculator.parser import FUNCTIONS, evaluate
from alicia.tools.definition import Caller, ToolError


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("1 + 1", "2"),
        ("0.1 + 0.2", "0.3"),
        ("17 * 23 =", "391"),
        ("2 + 3 * 4", "14"),
        ("(2 + 3) * 4", "20"),
        ("-2 ** 2", "-4"),
        ("2 ** 3 ** 2", "512"),
        ("2 ^ -1", "0.5"),
        ("7 // 2", "3"),
        ("-7 // 2", "-4"),
        ("10 % 3", "1"),
        ("-7 mod 3", "2"),
        ("10 / 4", "2.5"),
        ("1 / 3", "0.333333333333333"),
        ("2 ** 100", "1267650600228229401496703205376"),
        ("1,234,567.5 + 1", "1234568.5"),
        ("1_000 * 1'000", "1000000"),
        ("max(1,200)", "200"),
        ("min(7)", "7"),
        ("$12.50 × 3", "37.5"),
        ("10%", "0.1"),
        ("15% of 80", "12"),
        ("200 + 10%", "220"),
        ("100 - 25 percent", "75"),
        ("50% * 3", "1.5"),
        ("2(3 + 4)", "14"),
        ("2 pi", "6.28318530717959"),
        ("sqrt(16)", "4"),
        ("√2", "1.4142135623731"),
        ("sqrt(1/4)", "0.5"),
        ("8 ** (1/3)", "2"),
        ("cbrt(-27)", "-3"),
        ("12 squared plus 9", "153"),
        ("20 divided by 4", "5"),
        ("the square root of 144", "12"),
        ("5!", "120"),
        ("round(2.5)", "3"),
        ("round(-3.14159, 2)", "-3.14"),
        ("log(1000)", "3"),
        ("log(8, 2)", "3"),
        ("ln(e)", "1"),
        ("sin(pi)", "0"),
        ("mean(1, 2, 3, 4)", "2.5"),
        ("(-1) ** 999999999", "-1"),
        ("1e3 + 0xff", "1255"),
    ],
)
def test_expressions_are_worked_out_as_people_mean_them(expression: str, result: str) -> None:
    assert shown(evaluate(expression))[0] == result


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "2 +",
        "((1",
        "1 2",
        "1, 2",
        "foo(1)",
        "__import__('os').system('true')",
        "().__class__",
        "1 / 0",
        "0 ** -1",
        "5 mod 0",
        "sqrt(-1)",
        "(-8) ** 0.5",
        "1001!",
        "(1/2)!",
        "9 ** 9 ** 9",
        "2 ** 100000000",
        "0.1 ** 99999999999",
        "1e999999999",
        "exp(1000)",
        "max()",
        "sqrt(1, 2)",
        "9" * 5_000,
        "(" * 400 + "1" + ")" * 400,
        "-" * 900 + "1",
        "1" + " ** 1" * 150,
        "lcm(" + ",".join(str(2**41 - n) for n in range(1, 60, 2)) + ")" + "**9" * 9,
    ],
)
def test_what_cannot_be_worked_out_is_said_in_a_sentence(expression: str) -> None:
    with pytest.raises(ToolError) as error:
        evaluate(expression)
    assert str(error.value).endswith(".")


EXTREMES = [
    *(
        "0",
        "1",
        "-1",
        "0.5",
        "-3/7",
        "pi",
        "1001",
        "1e300",
        "1e-300",
        "10**3000",
        "-(10**3000)",
        "1/10**3000",
    ),
    "2**0.5 * 1e308",
]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_takes_every_number_or_says_why_not(name: str) -> None:
    for count in range(1, min(FUNCTIONS[name].most, 2) + 1):
        for values in itertools.product(EXTREMES, repeat=count):
            with contextlib.suppress(ToolError):
                assert shown(evaluate(f"{name}({', '.join(values)})"))[0]


@pytest.mark.parametrize("sign", ["+", "-", "*", "/", "//", "mod", "**"])
def test_every_operation_takes_all_numbers_or_says_why_not(sign: str) -> None:
    for left, right in itertools.product(EXTREMES, repeat=2):
        with contextlib.suppress(ToolError):
            assert shown(evaluate(f"({left}) {sign} ({right})"))[0]


@given(st.text(max_size=60))
def test_no_text_does_anything_but_give_a_number_or_a_sentence(text: str) -> None:
    with contextlib.suppress(ToolError):
        assert shown(evaluate(text))[0]


_PIECES = st.sampled_from(
    [*"0123456789", "1e9", "999999999", *"+-*/%!(),", "**", "//", " ", "pi", "mod", "of", *FUNCTIONS]
)


@given(st.lists(_PIECES, max_size=40))
def test_no_expression_grows_beyond_its_bounds(pieces: list[str]) -> None:
    try:
        value = evaluate("".join(pieces))
    except ToolError:
        return
    assert math.isfinite(value)
    assert len(shown(value)[0]) < 4_300


@given(
    st.integers(-(10**12), 10**12), st.integers(1, 10**12), st.sampled_from(["+", "-", "*", "/", "//", "mod"])
)
def test_whole_numbers_are_exact(left: int, right: int, sign: str) -> None:
    a, b = Fraction(left), Fraction(right)
    exact = {"+": a + b, "-": a - b, "*": a * b, "/": a / b, "//": Fraction(a // b), "mod": a % b}
    assert evaluate(f"{left} {sign} {right}") == exact[sign]


@given(st.fractions(max_denominator=1000))
def test_what_is_shown_as_exact_reads_back_as_the_same_number(value: Fraction) -> None:
    text, exact = shown(value)
    assert not exact or Fraction(text) == value


@pytest.mark.parametrize(
    ("text", "applies"),
    [
        ("What is 12 * 7?", True),
        ("how much is twenty percent of fifty", True),
        ("Split 84 euros between three people", True),
        ("Was ist 3 mal 4?", True),
        ("Tell me a story", False),
        ("Who are the Beatles?", False),
    ],
)
def test_the_calculator_knows_which_messages_have_sums_in_them(text: str, applies: bool) -> None:
    assert calculator.hint is not None
    assert calculator.hint.applies(text) is applies


async def test_the_tool_says_whether_its_result_is_exact() -> None:
    box = Toolbox([calculator])
    async with box.open():
        exact = await box.run(Caller(user_id="anna"), ToolCall("1", "calculator", '{"expression": "1/8"}'))
        rounded = await box.run(Caller(user_id="anna"), ToolCall("2", "calculator", '{"expression": "1/7"}'))
    assert exact.result == {"result": "0.125", "exact": True}
    assert rounded.result == {"result": "0.142857142857143", "exact": False}
