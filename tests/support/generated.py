# pyright: basic, reportMissingImports=false
"""A program that uses the client that a public generator made: list, search, trace, as JSON on a line.

Run with the folder of the generator's packages and that of the made client first on the path.
"""

import json
import os
import sys

# There is no such package until a test has it made.
from made import AuthenticatedClient
from made.api.conversations import list_conversations
from made.api.memories import search_memories
from made.api.messages import list_messages
from made.api.traces import read_trace
from made.models import Search

client = AuthenticatedClient(base_url=sys.argv[1], token=os.environ["TOKEN"], raise_on_unexpected_status=True)
with client:
    found = list_conversations.sync(client=client, query="xylophone")
    (talk,) = found.items
    messages = list_messages.sync(talk.id, client=client).items
    trace = read_trace.sync(messages[-1].id, client=client)
    memories = search_memories.sync(client=client, body=Search(query="xylophone"))
    missing = read_trace.sync("am_" + "0" * 21, client=client)
print(
    json.dumps(
        {
            "snippet": talk.snippet.text,
            "messages": [each.content for each in messages],
            "tools": [each.tool_name for each in trace.tool_uses],
            "sentences": [each.text for each in trace.sentences],
            "memories": [each.content for each in memories.items],
            "missing": missing.detail,
        }
    )
)
