"""Prompts for models whose template knows no tools: calls and results told in words."""

from collections.abc import Sequence

from alicia.llm.messages import Message


def without_calls(messages: Sequence[Message]) -> list[Message]:
    """The same prompt with each call and its result as a note before the user's message that led to it."""
    plain: list[Message] = []
    names: dict[str, str] = {}
    for message in messages:
        if message.tool_calls:
            names |= {call.id: f"{call.name}({call.arguments})" for call in message.tool_calls}
            if not message.content:
                continue
        if message.role != "tool":
            plain.append(Message(message.role, message.content))
            continue
        call = names.get(message.tool_call_id or "", "A tool")
        note = f"[{call} gave: {message.content}]"
        at = next((n for n in reversed(range(len(plain))) if plain[n].role == "user"), None)
        if at is None:
            plain.append(Message("user", note))
        else:
            plain[at] = Message("user", f"{note}\n\n{plain[at].content}")
    return plain
