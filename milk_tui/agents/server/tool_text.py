"""Tools as text, for models whose server has no place for them.

They are described in the system prompt, called in the answer, and their results come as messages of the user. The
form is that of Hermes and Qwen, which most small models have seen. Turns wire messages into wire messages; how a
written call is read is the business of `milk_tui.agents.server.text_calls`.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from milk_tui.agents.server.messages import Wire

ToolForm = Literal["native", "text", "none"]
"""How a model is offered its tools: in the request's own field, in the system prompt, or not at all."""

STOP = "<tool_response>"
"""Where a model that goes on by itself begins to make up a result."""

_RESPONSE_END = "</tool_response>"


def described(schemas: Sequence[Mapping[str, Any]]) -> str:
    """The part of the system prompt that describes the tools: the same bytes for the same tools."""
    lines = "\n".join(
        json.dumps(schema["function"], ensure_ascii=False, separators=(",", ":")) for schema in schemas
    )
    return (
        "To use a tool, end your answer with a call in exactly this form, and wait for its <tool_response>:\n"
        '<tool_call>\n{"name": "the tool", "arguments": {…}}\n</tool_call>\n'
        f"<tools>\n{lines}\n</tools>"
    )


def as_text(messages: Sequence[Wire]) -> list[Wire]:
    """The same messages without a field or a role for tools; results in a row become one message of the user."""
    wires: list[Wire] = []
    for message in messages:
        if message["role"] == "tool":
            _add_result(wires, message["content"])
        elif "tool_calls" in message:
            calls = [_written_call(call["function"]) for call in message["tool_calls"]]
            text = "\n".join(part for part in (message["content"].strip(), *calls) if part)
            wires.append({"role": "assistant", "content": text})
        else:
            wires.append(message)
    return wires


def _add_result(wires: list[Wire], text: str) -> None:
    # A result is data: it must not be able to close the place where it stands.
    shown = f"{STOP}\n{text.replace(_RESPONSE_END, '< /tool_response>')}\n{_RESPONSE_END}"
    last = wires[-1] if wires else None
    if last and last["role"] == "user" and last["content"].startswith(STOP):
        wires[-1] = {"role": "user", "content": f"{last['content']}\n{shown}"}
    else:
        wires.append({"role": "user", "content": shown})


def _written_call(function: Mapping[str, Any]) -> str:
    name = json.dumps(function["name"], ensure_ascii=False)
    return f'<tool_call>\n{{"name": {name}, "arguments": {function["arguments"]}}}\n</tool_call>'
