"""What every conversation of a worker shares."""

import msgspec

from alicia.engine.ports import ChatModel, Lessons, Recall, ToolBox
from alicia.engine.voice import Transcriber
from alicia.ledger.ledger import Ledger
from alicia.storage.pool import Pool
from alicia.tools.decision.calling import CallingModel


class Services(msgspec.Struct, kw_only=True):
    """Opened once per worker."""

    pool: Pool
    ledger: Ledger
    model: ChatModel
    calling: CallingModel
    """The same model, as the one that answers and calls tools."""
    tools: ToolBox
    recall: Recall
    lessons: Lessons
    transcriber: Transcriber | None = None
    """Hears recorded clips; without one they are refused."""
    budget: int
    """How many tokens a prompt may have."""
    answer_tokens: int
    """How many tokens an answer may have; the two together fit the model's context window."""
