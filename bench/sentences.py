"""How fast sentences are cut out of a stream: characters a second, for several sizes of pieces and of texts.

python bench/sentences.py
"""

import time
from pathlib import Path

from alicia.engine.sentences import Splitter
from machine import keep

RESULTS = Path(__file__).parent / "results" / "sentences.md"

PROSE = (
    "Dr. Smith paid 3.50 for it, e.g. at https://example.org/a.b?c=d. Is that so? Well... maybe; who knows.\n"
    'He said "Go." Then he left the U.S. The rest, as they say, is history, and nobody remembers it now.\n\n'
)
TEXTS = {
    "prose": PROSE,
    "lists": "Here is what to do:\n- first this. then that.\n- second\n1. number one\n\n",
    "Chinese": "你好。今天天气很好，我们去公园吧！他说：“好的。”然后就走了……真的吗？",
    "code": "```python\nfor x in y:\n    print(x. y)\n```\nThat was code.\n",
    "no stop": "word after word after word and never an end to it ",
    "no space": "x",
}


def rate(text: str, piece: int) -> float:
    splitter = Splitter()
    began = time.perf_counter()
    for start in range(0, len(text), piece):
        splitter.feed(text[start : start + piece])
    splitter.flush()
    return len(text) / (time.perf_counter() - began)


def main() -> None:
    heads = ("1 at a time", "4", "64", "all", "10 × the text")
    table = [f"| million characters a second | {' | '.join(heads)} |", f"|---|{'---:|' * len(heads)}"]
    print(f"{'million characters a second':<28}" + "".join(f"{head:>15}" for head in heads))
    for name, unit in TEXTS.items():
        text = unit * (200_000 // len(unit))
        rates = [rate(text, piece) for piece in (1, 4, 64, len(text))] + [rate(text * 10, len(text) * 10)]
        print(f"{name:<28}" + "".join(f"{value / 1e6:>15.2f}" for value in rates))
        table.append(f"| {name} | {' | '.join(f'{value / 1e6:.2f}' for value in rates)} |")
    keep(RESULTS, "\n".join(["# Cutting text into sentences", "", "`bench/sentences.py`", "", *table]))


if __name__ == "__main__":
    main()
