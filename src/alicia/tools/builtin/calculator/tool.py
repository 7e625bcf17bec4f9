"""The calculator as a tool."""

import re
from typing import Any, Final

from alicia.tools.builtin.calculator.numbers import shown
from alicia.tools.builtin.calculator.parser import evaluate
from alicia.tools.definition import Caller, Definition, Hint
from alicia.tools.outcome import ToolOutcome, succeeded

_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "expression": {
            "type": "string",
            "minLength": 1,
            "maxLength": 1_000,
            "description": "an arithmetic expression, for example (12.5 + 7) * 3 / sqrt(2)",
        }
    },
    "required": ["expression"],
    "additionalProperties": False,
}
_NUMBER_WORDS: Final = (
    "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|thirteen|fourteen|fifteen|"
    "sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|"
    "thousand|million|billion|half|quarter|third|double|triple|twice"
)
_NUMBER: Final = re.compile(rf"\d|\b(?:{_NUMBER_WORDS})(?:s|\b)|[½¼¾π]", re.IGNORECASE)
_OPERATION: Final = re.compile(
    r"\d\s*[-+*/^×÷·−%!]|[-+*/^×÷·−√]\s*\d|%|\bx\s*\d"
    r"|\b(?:plus|minus|times|multipl\w*|divid\w*|sum|add(?:ed|ing)?|subtract\w*|product|difference|percent\w*|"
    r"squared?|cubed?|power|root|sqrt|factorial|log\w*|sin|cos|tan|modulo|mod|remainder|average|mean|total|"
    r"calculat\w*|comput\w*|equals?|worth|cost\w*|pays?|price|split|share|each|per|interest|tip|tax|discount|"
    r"altogether|left|remain\w*|how\s+(?:many|much|far|long|old|fast)|convert|area|volume|perimeter|"
    r"circumference|double|triple|twice|half|"
    r"mal|durch|wurzel|prozent|wie\s*viele?|fois|divisé|pourcent|combien|por|dividido|raíz|cuánt\w*|quanto)\b",
    re.IGNORECASE,
)


def _applies(text: str) -> bool:
    """A sum has at least one number and something to be done with it."""
    return _NUMBER.search(text) is not None and _OPERATION.search(text) is not None


_HINT: Final = Hint(
    applies=_applies,
    examples=(
        ("What do 3 tickets at 12.50 cost?", {"expression": "3 * 12.50"}),
        ("Add 17 and 25.", {"expression": "17 + 25"}),
    ),
)


async def _run(_: Caller, arguments: dict[str, Any]) -> ToolOutcome:
    value = evaluate(arguments["expression"])
    text, exact = shown(value)
    return succeeded({"result": text, "exact": exact})


calculator: Final = Definition(
    name="calculator",
    description="Works out arithmetic exactly: + - * / // % ** ( ), percentages, sqrt, log, sin, round, min, "
    "max and factorial. Use it for every calculation.",
    schema=_SCHEMA,
    run=_run,
    hint=_HINT,
    timeout=5.0,
)
