"""Looking up what was said before, in this conversation and in all others of the user."""

import re
from typing import Any, Final

from alicia.storage.pool import Pool
from alicia.storage.search import search_messages
from alicia.tools.definition import Caller, Definition, Hint
from alicia.tools.outcome import ToolOutcome, succeeded

_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "query": {
            "type": "string",
            "minLength": 1,
            "maxLength": 1_000,
            "description": "words that were used",
        },
        "limit": {"type": "integer", "minimum": 1, "maximum": 50},
    },
    "required": ["query"],
    "additionalProperties": False,
}
_WORDS: Final = re.compile(
    r"\b(?:we (?:talk\w*|discuss\w*|spoke|said)|talked about|earlier|conversations?"
    r"|(?:last|previous|other|past|older?) (?:time|chat|discussion|message)s?"
    r"|did (?:i|we|you) (?:tell|say|mention|ask|talk|discuss))\b",
    re.IGNORECASE,
)


_HINT: Final = Hint(
    applies=lambda text: _WORDS.search(text) is not None,
    examples=(("What did we say about the garden last time?", {"query": "garden"}),),
)


def search_conversations(pool: Pool) -> Definition:
    """The tool, over the messages in this database."""

    async def run(caller: Caller, arguments: dict[str, Any]) -> ToolOutcome:
        async with pool.connection() as conn:
            found = await search_messages(
                conn,
                caller.user_id,
                arguments["query"],
                without=caller.message_id,
                limit=arguments.get("limit", 10),
            )
        messages = [
            {
                "conversationId": hit.conversation_id,
                "title": hit.title,
                "messageId": hit.message_id,
                "role": hit.message_role,
                "text": hit.excerpt,
                "at": hit.created_at.isoformat(timespec="seconds"),
            }
            for hit in found
        ]
        return succeeded({"messages": messages})

    return Definition(
        name="search_conversations",
        description="Searches what the user and you said in earlier conversations.",
        schema=_SCHEMA,
        run=run,
        hint=_HINT,
    )
