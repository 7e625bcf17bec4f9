"""An OpenAI-compatible server whose every answer, delay and failure is written by the test."""

from support.scripted.script import (
    Cut,
    Fail,
    Finish,
    Gate,
    Hang,
    Held,
    Pause,
    Raw,
    Reasoning,
    Script,
    Step,
    Text,
    ToolCall,
)
from support.scripted.server import Request, ScriptedServer

__all__ = [
    "Cut",
    "Fail",
    "Finish",
    "Gate",
    "Hang",
    "Held",
    "Pause",
    "Raw",
    "Reasoning",
    "Request",
    "Script",
    "ScriptedServer",
    "Step",
    "Text",
    "ToolCall",
]
