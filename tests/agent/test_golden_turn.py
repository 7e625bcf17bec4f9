"""One whole turn, kept as a file: every durable stanza on the wire and the rows that stand for it.

With ALICIA_WRITE_GOLDEN=1 this test writes the file anew, after a change that is meant.
"""

import json
import os
import re
from pathlib import Path
from typing import Any, LiteralString

import msgpack

from alicia.storage.pool import Pool
from support.device import device
from support.scripted import Reasoning, Script, Text, ToolCall
from support.stack import Stack
from support.tables import rows

GOLDEN = Path(__file__).with_name("golden_turn.json")
ID = re.compile(r"\b(ac|ams|am|aa|amu|ar|atu|aucc)_[A-Za-z0-9_-]{21}")
SPAN = re.compile(r'"([0-9a-f]{32}|[0-9a-f]{16})"')
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00")
MILLISECONDS = re.compile(r'("firstTokenMs"(?:, "ref": "[^"]*", "value")?:? "?)\d+')

TABLES: dict[str, LiteralString] = {
    "alicia_conversations": """
        SELECT to_jsonb(c) - '{created_at,updated_at,agent_id,agent_seen_at}'::text[]
          FROM alicia_conversations c
         WHERE id = %s
    """,
    "alicia_messages": """
        SELECT to_jsonb(m) - '{created_at,updated_at,synced_at}'::text[]
          FROM alicia_messages m
         WHERE conversation_id = %s
         ORDER BY sequence_number
    """,
    "alicia_reasoning_steps": """
        SELECT to_jsonb(r) - '{created_at,updated_at}'::text[]
          FROM alicia_reasoning_steps r
          JOIN alicia_messages m ON m.id = r.message_id
         WHERE m.conversation_id = %s
         ORDER BY r.sequence_number
    """,
    "alicia_tool_uses": """
        SELECT to_jsonb(u) - '{created_at,updated_at,completed_at}'::text[]
          FROM alicia_tool_uses u
         WHERE u.conversation_id = %s
         ORDER BY u.sequence_number
    """,
    "alicia_sentences": """
        SELECT to_jsonb(s) - '{created_at,updated_at}'::text[]
          FROM alicia_sentences s
          JOIN alicia_messages m ON m.id = s.message_id
         WHERE m.conversation_id = %s
         ORDER BY s.sentence_sequence_number
    """,
    "alicia_meta": """
        SELECT jsonb_build_object('ref', t.ref, 'key', t.key, 'value', t.value)
          FROM alicia_meta t
         WHERE t.ref IN (SELECT ref FROM alicia_stanzas WHERE conversation_id = %s)
         ORDER BY (SELECT max(stanza_id) FROM alicia_stanzas WHERE ref = t.ref) DESC, t.key
    """,
}


class Names:
    """Gives every id a name by the order in which it first appears, and hides when things were."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def __call__(self, value: Any) -> Any:
        text = ID.sub(self._name, json.dumps(value, ensure_ascii=False, sort_keys=True))
        text = SPAN.sub(self._place, text)
        return json.loads(MILLISECONDS.sub(r"\g<1>0", MOMENT.sub("a moment", text)))

    def _place(self, found: re.Match[str]) -> str:
        kind = "trace" if len(found[1]) == 32 else "span"
        count = sum(name.startswith(f"{kind}#") for name in self._names.values())
        return f'"{self._names.setdefault(found[1], f"{kind}#{count + 1}")}"'

    def _name(self, found: re.Match[str]) -> str:
        count = sum(name.startswith(f"{found[1]}#") for name in self._names.values())
        return self._names.setdefault(found[0], f"{found[1]}#{count + 1}")


async def test_a_whole_turn_is_what_it_was(stack: Stack, user: str, pool: Pool) -> None:
    call = ToolCall("calculator", {"expression": "6 * 7"})
    stack.model.chat(Script(Reasoning("They greet me."), Text("Good morning!"), call), when="morning")
    stack.model.say("It is 42.", when="morning")
    async with device(stack, user) as alone:
        await alone.ask("Good morning, Alicia. How much is 6 times 7?")
    names = Names()
    wire = [names(msgpack.unpackb(data)) for data in alone.log]
    # How often a device had to repeat its Configuration decides where the numbers begin.
    numbers = {0: 0} | {each["stanzaId"]: -place for place, each in enumerate(wire, 1)}
    for each in wire:
        each |= {key: numbers[each[key]] for key in ("stanzaId", "previousStanzaId")}
    tables = {
        table: [names(value) for (value,) in await rows(pool, sql, alone.id)] for table, sql in TABLES.items()
    }
    (conversation,) = tables["alicia_conversations"]
    assert conversation.pop("last_client_stanza_id") > 0
    conversation["last_server_stanza_id"] = numbers[conversation["last_server_stanza_id"]]
    turn = json.loads(json.dumps({"wire": wire, "rows": tables}).replace(user, "the user"))
    if os.environ.get("ALICIA_WRITE_GOLDEN"):
        GOLDEN.write_text(json.dumps(turn, indent=1, ensure_ascii=False) + "\n")
    assert turn == json.loads(GOLDEN.read_text())
