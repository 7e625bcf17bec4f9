"""Every benchmark, in the order in which they are run and reported: the cheap ones first."""

from dataclasses import dataclass
from pathlib import Path

BENCH = Path(__file__).parent
RESULTS = BENCH / "results"


@dataclass(frozen=True)
class Benchmark:
    """A script beside this file, with the arguments of its usual run and the minutes that it may take."""

    name: str
    minutes: float
    arguments: tuple[str, ...] = ()

    @property
    def script(self) -> Path:
        return BENCH / f"{self.name}.py"

    @property
    def results(self) -> Path:
        return RESULTS / f"{self.name}.md"


BENCHMARKS = (
    Benchmark("protocol", 5),
    Benchmark("protocol_model", 20),
    Benchmark("sentences", 3),
    Benchmark("ledger", 5),
    Benchmark("startup", 5),
    Benchmark("text_turn", 10),
    Benchmark("long_conversation", 15),
    Benchmark("history", 15),
    Benchmark("api", 20),
    Benchmark("web", 8),
    Benchmark("memory_quality", 15),
    Benchmark("memory_speed", 60),
    Benchmark("memory_learning", 60, ("--keep", "bench/out/memory_learning.json", "--minutes", "50")),
    Benchmark("tool_decision", 20),
    Benchmark("voice_sound", 15),
    Benchmark("voice_turn", 60),
    Benchmark("voice_crowd", 30),
)
HELPERS = frozenset(
    {
        *("bare_bot", "catalogue", "drawing", "even_model", "learning_dialogues", "machine", "made_memories"),
        *("pictures", "plain_voice", "report", "run_all", "voice_parts", "voice_report"),
    }
)
"""What stands beside the benchmarks and is none."""
EXTRA = ("soak",)
"""Results of `make soak`, which stand in the report too."""
