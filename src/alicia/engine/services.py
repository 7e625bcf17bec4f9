"""What every conversation of a worker shares."""

import msgspec

from alicia.engine.pauses import Pauses
from alicia.engine.ports import ChatModel, Lessons, Recall, ToolBox
from alicia.engine.prompt import estimate
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
    pauses: Pauses
    transcriber: Transcriber | None = None
    """Hears recorded clips; without one they are refused."""
    budget: int
    """How many tokens a prompt may have."""
    answer_tokens: int
    """How many tokens an answer may have; the two together fit the model's context window."""

    def room(self) -> int:
        """How many tokens a prompt may have beside the tools that the model is told of, half at least."""
        if not self.calling.takes_tools:
            return self.budget
        told = (msgspec.json.encode(tool).decode() for tool in self.tools.available(""))
        return max(self.budget - sum(map(estimate, told)), self.budget // 2)
