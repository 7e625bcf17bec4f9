"""What a voice says for what is written."""

import pytest

from alicia.speech.spoken import Reader


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("Here is **bold**, *italic* and `code`.", "Here is bold, italic and code."),
        ("See [the manual](https://example.com/a_b).", "See the manual."),
        ("See https://www.example.org/a/b?c=d.", "See example dot org."),
        ("Write to ada@example.com!", "Write to ada at example dot com!"),
        ("Well done 🎉👍🏽!", "Well done !"),
        ("## Results", "Results."),
        ("- one thing\n- another", "one thing\nanother"),
        ("1. Mix the flour.", "1: Mix the flour."),
        ("> He said so.", "He said so."),
        ("Use snake_case and __init__.", "Use snake_case and init."),
        ("<b>Really</b> so.", "Really so."),
        ("![a cat](cat.png)", "a cat"),
        ("---", ""),
        ("🎉", ""),
        ("It is 20°C, or 68 °F.", "It is 20 degrees Celsius, or 68 degrees Fahrenheit."),
        ("Run 1 km, then 5 km at 12 km/h.", "Run 1 kilometre, then 5 kilometres at 12 kilometres per hour."),
        ("It takes 3–5 min.", "It takes 3 to 5 minutes."),
        ("That is ~40% of 1,250.", "That is about 40 per cent of 1,250."),
        ("On 2024-03-05 at 17:30.", "On March 5, 2024 at 17 30."),
        ("At 9:05 or 12:00.", "At 9 oh 5 or 12 o'clock."),
        ("Version 1.2.3 is 10x faster.", "Version 1 point 2 point 3 is 10 times faster."),
        ("5 × 3 = 15 & so on.", "5 times 3 equals 15 and so on."),
        ("E.g. x^2, i.e. a square.", "E.g. x squared, that is a square."),
        ("-5 °C outside", "minus 5 degrees Celsius outside"),
        ("Tea (e.g. green tea) costs $3.50.", "Tea (for example green tea) costs $3.50."),
    ],
)
def test_a_sentence_is_said_as_a_person_would(written: str, spoken: str) -> None:
    assert Reader("en").read(written) == spoken


def test_code_is_shown_and_not_said_however_it_is_cut_into_sentences() -> None:
    reader = Reader()
    pieces = ["Try this:\n", "```python\nprint(1)\n", "print(2)\n", "```\nThat prints numbers."]
    assert [reader.read(piece) for piece in pieces] == [
        "Try this:",
        "The code is on the screen.",
        "",
        "That prints numbers.",
    ]


def test_a_table_is_announced_once() -> None:
    reader = Reader()
    rows = ["| a | b |\n|---|---|\n", "| 1 | 2 |\n", "| 3 | 4 |\n", "So much for that."]
    assert [reader.read(row) for row in rows] == ["The table is on the screen.", "", "", "So much for that."]


def test_german_has_its_own_words_and_keeps_its_numbers_for_the_voice() -> None:
    reader = Reader("de-DE")
    assert reader.read("Es sind 20 °C am 5.3. auf https://beispiel.de.") == (
        "Es sind 20 °C am 5.3. auf beispiel Punkt de."
    )
    assert reader.read("```\nx\n```") == "Der Code steht auf dem Bildschirm."
