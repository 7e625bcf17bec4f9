"""What is counted and timed, by name; `alicia.telemetry.scrape` shows it to Prometheus.

Every process counts for itself, and each has its own address to be asked at.
"""

from typing import Final

from prometheus_client import Counter, Gauge, Histogram

SHORT: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
SIZES: Final = (1, 10, 100, 1_000, 10_000, 100_000)

turns: Final = Counter("alicia_turns", "Answers that ended, by how.", ["status"])
first_sentence: Final = Histogram(
    "alicia_first_sentence_seconds", "From the user's message to the answer's first sentence.", buckets=SHORT
)
stages: Final = Histogram(
    "alicia_stage_seconds", "Transcription, recall, model, tool, speech, commit.", ["stage"], buckets=SHORT
)
replays: Final = Counter("alicia_replays", "Devices that were brought up to date.")
replayed: Final = Histogram("alicia_replay_stanzas", "How many stanzas a replay had.", buckets=SIZES)
gaps: Final = Counter("alicia_gaps", "Devices in the room that had lost stanzas and asked for them.")
redeliveries: Final = Counter("alicia_redeliveries", "Stanzas that were stored already when they came.")
stand_downs: Final = Counter("alicia_stand_downs", "Conversations left because another agent has them.")
tool_uses: Final = Counter("alicia_tool_uses", "Tool uses that ended, by how.", ["outcome"])
memory_hits: Final = Histogram(
    "alicia_memory_hits", "How many memories were recalled for an answer.", buckets=(0, 1, 2, 4, 8, 16, 32)
)
memories_waiting: Final = Gauge(
    "alicia_memories_waiting", "Memories without a vector of the embeddings model in use, as last seen."
)
model_errors: Final = Counter("alicia_model_errors", "Answers that the language model failed to give.")
questions_waiting: Final = Gauge("alicia_questions_waiting", "Questions taken whose answers have not begun.")
jobs: Final = Gauge("alicia_jobs", "Rooms that this worker is in.")
requests: Final = Histogram(
    "alicia_request_seconds", "HTTP requests.", ["method", "call", "status"], buckets=SHORT
)
