"""Sentences out of text that arrives in pieces."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alicia.engine.sentences import LONGEST, Splitter


def split(*pieces: str) -> list[str]:
    splitter = Splitter()
    return [sentence for piece in pieces for sentence in splitter.feed(piece)] + splitter.flush()


# `¦` marks the places where a sentence ends.
ENGLISH = [
    "Hello.¦ World.",
    "Really?¦ Yes!¦ Of course!?¦ Good.",
    "Dr. Smith met Mrs. Jones.¦ They talked.",
    "Use a tool, e.g. a hammer, i.e. something hard.¦ Then stop.",
    "She moved to the U.S. Army base.¦ It was cold.",
    "He lives in the U.S.¦ She does not.",
    "J. R. R. Tolkien wrote it.¦ George W. Bush did not.",
    "We choose plan B.¦ It is better.",
    "So do I.¦ And you?",
    "Bring pens, paper, etc. and a bag.¦ Or not.",
    "Bring pens, paper, etc.¦ Bags are there.",
    "Come at 5 p.m. on Monday.¦ Or at 6 p.m.¦ Dinner is at 7.",
    "See fig. 3 and No. 5.¦ I said no.¦ Then I left.",
    "Born on Jan. 5 in St. Louis.¦ Died later.",
    "Apple Inc. CEO Tim Cook spoke.¦ The Apple Inc.¦ The end.",
    "It costs 3.50 dollars, or 1,000.75.¦ Cheap.",
    "Version 1.2.3 is out.¦ Take 2.0.¦ Go.",
    "Visit https://example.org/a.b?c=d.e&f or www.example.com.¦ Then write to a.b@example.co.uk.¦ Bye.",
    "Open main.py.¦ Edit it.",
    "Well... maybe.¦ Well...¦ No.¦ Hm… all right.¦ Hm…¦ Right.",
    'He said "Go."¦ Then he left.¦ "Stop!" she cried.¦ “Why?” he asked.¦ “Because.”¦ Oh.',
    "(It works.)¦ Good (really!) and done.¦ [Yes.]¦ No.",
    "**Bold.**¦ Next.¦ *Yes!*¦ Sure.",
    "A fact.[1]¦ Another fact.[2,3]¦ The end.",
    "Great!😀¦ Thanks!¦ 👍🏽 Bye.",
    "Call `a.b. c` now.¦ Then `x`.¦ Done.",
    "The total is 3.¦ Next is 4.¦ Then 5 follow.",
    "Steps: 1. Wash.¦ 2. Dry.¦ Done.",
    "What?!¦ No way!!!¦ Yes.",
    "pp. 5 and approx. 6 of them.¦ End.",
]
OTHERS = [
    "你好。¦今天天气很好！¦是吗？¦他说：“对。”¦好的",
    "今日は。¦元気ですか？¦「はい。」¦では、また。",
    "好!¦今天3.5度?¦真的",
    '他问。¦"你好吗"',
    "안녕하세요.¦ 잘 지내세요?¦ 네.",
    "मैं ठीक हूँ।¦ आप कैसे हैं?¦ अच्छा।¦ठीक है।",
    "هل أنت بخير؟¦ نعم.¦ شكرا.",
    "¡Hola!¦ ¿Qué tal?¦ Bien.¦ El Sr. García llegó.",
    "Das kostet z.B. fünf Euro bzw. mehr.¦ Am 3. und 4. um acht.",
    "M. Dupont est là.¦ « Oui. »¦ Bon.",
    "Τι κάνεις\u037e¦ Καλά.¦ Ναι.",
]
STRUCTURE = [
    "Steps:¦\n1. First. Do it well.¦\n2. Second.¦\n3. Third",
    "Things:¦\n\n- one. two.¦\n- two\n  goes on. here¦\n  - nested¦\n* star¦\n• dot¦\n\nDone. ".removesuffix(
        " "
    ),
    "- item¦\nNot an item.¦ Right.",
    "# Title¦\nText.¦\n## More: a. b¦\nEnd.",
    "Look:¦\n```python\na = 1. \n\nb. c! \n```¦\nThat.¦ Was it.",
    "~~~\nx. y\n```\nz\n~~~¦\nDone.",
    "```x``` is code.¦ So is ``y``.",
    "Here:¦\n| a. b | c |\n|---|---|\n| 1. 2 | 3 |¦\nAfter.¦ It.",
    "First paragraph without a stop¦\n\nSecond one.",
    "A line that is\nwrapped.¦ And so\non.",
    "> Quoted.¦ Still.¦\n> - item¦\n\nDone.",
    "a) first¦\nb) second. third¦\n\nEnd",
    "-5 degrees.¦ Cold.",
    "#hashtag is no title.¦ Right.",
]


@pytest.mark.parametrize("marked", ENGLISH + OTHERS + STRUCTURE)
def test_sentences_end_where_a_reader_ends_them(marked: str) -> None:
    expected = marked.split("¦")
    text = "".join(expected)
    assert split(text) == expected
    assert split(*text) == expected


@pytest.mark.parametrize(
    ("before", "settling", "expected"),
    [
        ("Hello.", " ", "Hello."),
        ("Is it?", "\n", "Is it?"),
        ("你好。", "今", "你好。"),
        ('"Go."', " T", '"Go."'),
        ("In the U.S.", " The ", "In the U.S."),
        ("Well...", " N", "Well..."),
        ("# Title", "\n", "# Title"),
        ("- item", "\n-  ", "- item"),
        ("```\ncode\n```", "\n", "```\ncode\n```"),
        ("A paragraph", "\n\n", "A paragraph"),
    ],
)
def test_a_sentence_is_given_as_soon_as_it_is_certain(before: str, settling: str, expected: str) -> None:
    splitter = Splitter()
    early = [sentence for character in before + settling[:-1] for sentence in splitter.feed(character)]
    # A list item is certain once the marker of the next has its space.
    assert early in ([], [expected] if settling.endswith("  ") else [])
    assert early + splitter.feed(settling[-1]) == [expected]


def test_a_long_run_without_a_stop_is_cut_at_a_clause_or_a_space() -> None:
    words = ("word " * 50 + "clause, ") * 4
    sentences = split(words)
    assert "".join(sentences) == words
    assert all(len(sentence) <= LONGEST + 10 for sentence in sentences)
    assert sentences[0].endswith("clause,")
    assert all(len(sentence) <= LONGEST for sentence in split("字" * 150 + "，" + "字" * 300))


def test_a_run_without_any_space_is_cut_in_the_end() -> None:
    sentences = split("x" * 10_000)
    assert "".join(sentences) == "x" * 10_000
    assert max(map(len, sentences)) == 4 * LONGEST


def test_code_blocks_and_tables_are_never_cut() -> None:
    code = "```\n" + "a = 1. b\n\n" * 500 + "```"
    table = "| a. b | c |\n" * 500
    assert split(f"{code}\n{table}\nEnd.") == [code, "\n" + table.removesuffix("\n"), "\n\nEnd."]


def test_blank_space_at_the_end_comes_by_itself() -> None:
    assert split("Hello.\n\n") == ["Hello.", "\n\n"]
    assert split(" \n") == [" \n"]
    assert split("") == []


def test_a_splitter_is_as_new_after_its_end() -> None:
    splitter = Splitter()
    splitter.feed("```\nnever closed. ")
    assert splitter.flush() == ["```\nnever closed. "]
    assert splitter.feed("One. Two") == ["One."]
    assert splitter.flush() == [" Two"]


PARTS = st.sampled_from(
    [
        *"abAB.!?…,;:-*_`~#|>\"'()[]123 \n\t。！？，」“”।؟¿😀",
        ". ",
        "\n\n",
        "\n- ",
        "\n1. ",
        "```",
        "\n```\n",
        "| ",
        "Dr. ",
        "U.S. ",
        "The ",
        "etc. ",
        "« ",
        " »",
        "x" * 90,
        "word " * 30,
        "字" * 60,
    ]
)
TEXTS = st.one_of(st.text(max_size=80), st.lists(PARTS, max_size=60).map("".join))


@given(TEXTS, st.data())
def test_nothing_is_lost_and_the_pieces_do_not_matter(text: str, data: st.DataObject) -> None:
    whole = split(text)
    assert "".join(whole) == text
    assert split(*text) == whole
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=10)) | {0, len(text)})
    assert split(*(text[a:b] for a, b in pairwise(cuts))) == whole


@given(TEXTS)
def test_no_sentence_is_blank_but_the_last(text: str) -> None:
    assert all(sentence.strip() for sentence in split(text)[:-1])


@pytest.mark.parametrize(
    "unit",
    [
        "word ",
        "Hi. ",
        ".",
        "!",
        " ",
        "\n",
        "x",
        "`",
        "etc. ",
        "```\n",
        "| a |\n",
        "- a\n",
        "。",
        '"',
        "A fact.[",
        "1. ",
        "U.S. ",
        "…",
        "> ",
    ],
)
def test_the_work_grows_with_the_text_and_not_faster(unit: str) -> None:
    """Counted in characters copied, not in seconds."""

    class Counting(Splitter):
        copied = 0

        def _emit(self, cut: int, lead: int | None = None) -> None:
            given = len(self._out)
            super()._emit(cut, lead)
            if len(self._out) > given:
                self.copied += len(self._out[-1]) + len(self._pieces[0])

    def work(count: int) -> int:
        splitter = Counting()
        for _ in range(count):
            splitter.feed(unit)
        splitter.flush()
        return splitter.copied

    assert work(4000) <= 5 * work(1000) + 100_000
