"""What full validation costs: encode plus decode of an envelope against plain msgpack on the same map.

The envelopes are the golden vectors. Prints a table of ratios and exits 1 when one is above the target, edge
cases excepted.
"""

import json
import sys
import time
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack

from alicia.protocol.envelope import decode, encode
from machine import keep
from scratch import limits

VECTORS = Path(__file__).parent.parent / "tests" / "vectors" / "envelopes.json"
RESULTS = Path(__file__).parent / "results" / "protocol.md"
TARGET = 1.0
# Short rounds and many: on a busy machine some still run undisturbed, and the best of each side counts.
LOOPS = 200
ROUNDS = 150


def time_of(work: Callable[[], object]) -> float:
    return timeit.timeit(work, timer=time.thread_time, number=LOOPS) / LOOPS * 1e6


def measure(data: bytes) -> tuple[float, float]:
    """Microseconds for ours and for plain msgpack: the best of rounds that alternate, so noise hits both."""
    envelope = decode(data)
    plain: dict[str, Any] = msgpack.unpackb(data)

    def ours() -> None:
        decode(encode(envelope))

    def theirs() -> None:
        msgpack.unpackb(msgpack.packb(plain))

    rounds = [(time_of(ours), time_of(theirs)) for _ in range(ROUNDS)]
    return min(own for own, _ in rounds), min(other for _, other in rounds)


def main() -> int:
    missed: list[str] = []
    worst = 0.0
    table = ["| encode + decode | bytes | ours, µs | msgpack, µs | ratio |", "|---|---:|---:|---:|---:|"]
    print(f"{'encode + decode':44} {'bytes':>6} {'ours µs':>8} {'msgpack µs':>10} {'ratio':>6}")
    for entry in json.loads(VECTORS.read_text(encoding="utf-8")):
        if "common" not in entry:
            continue
        data = bytes.fromhex(entry["hex"])
        ours, theirs = measure(data)
        ratio = ours / theirs
        if entry["common"] and ratio > TARGET:
            missed.append(entry["name"])
        worst = max(worst, ratio) if entry["common"] else worst
        note = "" if entry["common"] else "  (rare)"
        print(f"{entry['name']:44} {len(data):6} {ours:8.2f} {theirs:10.2f} {ratio:6.2f}{note}")
        table.append(f"| {entry['name']}{note} | {len(data)} | {ours:.2f} | {theirs:.2f} | {ratio:.2f} |")
    target = ("dearest common envelope beside msgpack", f"{worst:.2f} ×", f"≤ {TARGET} ×", worst <= TARGET)
    title = ["# Encoding and validating envelopes", "", "`bench/protocol.py`", ""]
    keep(RESULTS, "\n".join([*title, *table, "", limits([target])]))
    if missed:
        print(f"above {TARGET} ×: {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
