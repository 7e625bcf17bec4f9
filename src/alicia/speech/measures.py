"""Numbers with their units, dates, times and signs, as an English speaker says them.

Plain numbers stay digits: every voice reads those by itself, in its own language.
"""

import re
from collections.abc import Callable
from typing import Final

_MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_UNITS: Final = {
    "km/h": ("kilometre per hour", "kilometres per hour"),
    "m/s": ("metre per second", "metres per second"),
    "mph": ("mile per hour", "miles per hour"),
    "kWh": ("kilowatt hour", "kilowatt hours"),
    "kW": ("kilowatt", "kilowatts"),
    "km²": ("square kilometre", "square kilometres"),
    "m²": ("square metre", "square metres"),
    "m³": ("cubic metre", "cubic metres"),
    "km": ("kilometre", "kilometres"),
    "cm": ("centimetre", "centimetres"),
    "mm": ("millimetre", "millimetres"),
    "kg": ("kilogram", "kilograms"),
    "mg": ("milligram", "milligrams"),
    "ml": ("millilitre", "millilitres"),
    "ms": ("millisecond", "milliseconds"),
    "GHz": ("gigahertz", "gigahertz"),
    "MHz": ("megahertz", "megahertz"),
    "kHz": ("kilohertz", "kilohertz"),
    "Hz": ("hertz", "hertz"),
    "TB": ("terabyte", "terabytes"),
    "GB": ("gigabyte", "gigabytes"),
    "MB": ("megabyte", "megabytes"),
    "kB": ("kilobyte", "kilobytes"),
    "°C": ("degree Celsius", "degrees Celsius"),
    "°F": ("degree Fahrenheit", "degrees Fahrenheit"),
    "lbs": ("pound", "pounds"),
    "lb": ("pound", "pounds"),
    "oz": ("ounce", "ounces"),
    "ft": ("foot", "feet"),
    "mi": ("mile", "miles"),
    "hrs": ("hour", "hours"),
    "min": ("minute", "minutes"),
    "sec": ("second", "seconds"),
    "m": ("metre", "metres"),
    "g": ("gram", "grams"),
    "W": ("watt", "watts"),
    "V": ("volt", "volts"),
    "°": ("degree", "degrees"),
    "%": ("per cent", "per cent"),
}
_NUMBER: Final = r"\d[\d,]*(?:\.\d+)?"
_WITH_UNIT: Final = re.compile(
    rf"(?<![\w.])([-−]?)({_NUMBER})\s?({'|'.join(map(re.escape, _UNITS))})(?![\w²³/])"
)
_RANGE: Final = re.compile(rf"(?<![\w.–-])({_NUMBER})\s?[–—]\s?({_NUMBER})(?![\w–-])")
_ISO_DATE: Final = re.compile(r"\b(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])\b")
_CLOCK: Final = re.compile(r"\b([01]?\d|2[0-3]):([0-5]\d)(?::[0-5]\d)?(?!\d|:|\s?[apAP]\.?[mM])")
_VERSION: Final = re.compile(r"\bv?(\d+(?:\.\d+){2,})\b")
_TIMES: Final = re.compile(r"(?<=\d)\s?x\s?(?=\d)")
_FACTOR: Final = re.compile(r"(?<=\d)[x×](?!\w)")
_POWER: Final = re.compile(r"(?<=[\w)])\^(\d+)\b")

_SIGNS: Final[dict[str, str]] = {
    "&": " and ",
    "→": " to ",
    "⇒": " so ",
    "≈": " about ",
    "≥": " at least ",
    "≤": " at most ",
    "≠": " is not ",
    "±": " plus or minus ",
    "÷": " divided by ",
    "×": " times ",
    "…": "...",
}
_ABBREVIATIONS: Final = {
    r"\be\.g\.,?": "for example",
    r"\bi\.e\.,?": "that is",
    r"\betc\.(?=\s+[a-z,;)])": "and so on",
    r"\bvs\.?(?=\s)": "versus",
    r"\bapprox\.": "approximately",
    r"(?<!\w)~(?=\d)": "about ",
    r"(?<=\d)\s?\+\s?(?=\d)": " plus ",
    r"(?<=[\w)])\s=\s(?=[\w(])": " equals ",
    r"(?<=\w)\s?<\s?(?=\d)": " less than ",
    r"(?<=\w)\s?>\s?(?=\d)": " more than ",
}
_ABBREVIATED: Final = [(re.compile(pattern), words) for pattern, words in _ABBREVIATIONS.items()]


def said(text: str, language: str) -> str:
    """The text with its measures in words, if it is English; a voice of another language knows its own."""
    if language != "en":
        return text
    changes: list[tuple[re.Pattern[str], Callable[[re.Match[str]], str]]] = [
        (_ISO_DATE, _date),
        (_CLOCK, _time),
        (_VERSION, lambda found: found[1].replace(".", " point ")),
        (_RANGE, lambda found: f"{found[1]} to {found[2]}"),
        (_TIMES, lambda _: " by "),
        (_FACTOR, lambda _: " times"),
        (_WITH_UNIT, _measure),
        (
            _POWER,
            lambda found: {"2": " squared", "3": " cubed"}.get(found[1], f" to the power of {found[1]}"),
        ),
    ]
    for pattern, change in changes:
        text = pattern.sub(change, text)
    for pattern, words in _ABBREVIATED:
        text = pattern.sub(words, text)
    for sign, words in _SIGNS.items():
        text = text.replace(sign, words)
    return text


def _measure(found: re.Match[str]) -> str:
    minus, number, unit = found.groups()
    one, many = _UNITS[unit]
    return f"{'minus ' if minus else ''}{number} {one if number == '1' else many}"


def _date(found: re.Match[str]) -> str:
    return f"{_MONTHS[int(found[2]) - 1]} {int(found[3])}, {found[1]}"


def _time(found: re.Match[str]) -> str:
    hour, minute = int(found[1]), int(found[2])
    if minute == 0:
        return f"{hour} o'clock" if 1 <= hour <= 12 else f"{hour} hundred hours"
    return f"{hour} {f'oh {minute}' if minute < 10 else minute}"
