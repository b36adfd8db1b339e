"""The conversation as a chat completions server reads it, cut to what its window holds.

Turns become wire messages here and nowhere else; "assistant" is the wire's word for an agent and stays in this
module. Whole exchanges are left out, oldest first; the system prompt and the newest prompt always stay. Sends nothing.
"""

import json
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

from milk_tui.core.cut import cut_middle
from milk_tui.core.messages import Message, ToolCall, ToolResult, Turn
from milk_tui.core.own_command import own_command

Wire = dict[str, Any]

BYTES_PER_TOKEN = 3.2
"""Below the real figure for prose and code. Bytes of UTF-8, so that scripts with long characters count for more."""
TOKENS_PER_MESSAGE = 8
"""What a template puts around one message."""
TOKENS_PER_TURN = 2 * TOKENS_PER_MESSAGE
"""No turn takes less."""

NO_ANSWER = "[no answer]"
SEEN = "[seen]"
CANCELLED = "cancelled: this call never finished"
_MARKS = {"interrupted": "[stopped by the user]", "failed": "[failed before the answer was complete]"}


def system_message(text: str) -> Wire:
    """The one system message; it comes first."""
    return {"role": "system", "content": text}


def prompt_message(prompt: str, preface: str = "") -> Wire:
    """What the user wrote, behind the context that goes with it."""
    return {"role": "user", "content": f"{preface}\n\n{prompt}" if preface else prompt}


def answer_message(text: str, calls: Sequence[ToolCall] = ()) -> Wire:
    """What the agent said in one step, and the calls it made."""
    message: Wire = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in calls
        ]
    return message


def result_message(call: ToolCall, result: ToolResult | None) -> Wire:
    """The one result of a call; a call that never got one was cancelled."""
    return {"role": "tool", "tool_call_id": call.id, "content": result.text if result else CANCELLED}


def turn_messages(turn: Turn, *, has_tools: bool) -> list[Wire]:
    """One earlier turn. It begins with the user and ends with an answer, or with a mark in its place.

    Without tools the calls and their results are left out: a template that knows none refuses them.
    """
    if turn.is_own_command:
        return _own_command(turn)
    wires = [prompt_message(turn.prompt, turn.preface)]
    results = {m.result.call_id: m.result for m in reversed(turn.messages) if m.result is not None}
    for message in turn.messages:
        if message.role == "agent":
            _add_step(wires, message, results, has_tools=has_tools)
    mark = _MARKS.get(turn.status, "")
    if wires[-1]["role"] == "assistant" and "tool_calls" not in wires[-1]:
        wires[-1]["content"] = _joined(wires[-1]["content"], mark)
    else:
        wires.append(answer_message(mark or NO_ANSWER))
    return wires


def _own_command(turn: Turn) -> list[Wire]:
    """A command that the user ran, in words that a model without tools understands as well."""
    results = [message.result.text for message in turn.messages if message.result is not None]
    told = f"I ran this command here: {own_command(turn.prompt)}\n\nIt gave:\n{results[0] if results else CANCELLED}"
    return [prompt_message(told, turn.preface), answer_message(SEEN)]


def fitting_turns(
    turns: Sequence[Turn], room: int, tokens: Callable[[Sequence[Wire]], int], *, has_tools: bool
) -> tuple[list[Wire], int]:
    """The newest of the local agent's turns that fit into so many tokens, and the number of turns before them.

    Walks back from the newest turn and stops at the first that does not fit, so that the cost depends on the
    room and not on the length of the session. A turn that still runs is not an earlier one. The number is 0 when
    nothing of the local agent's was left out.
    """
    kept: list[list[Wire]] = []
    walk = max(room // TOKENS_PER_TURN, 1)
    for back, turn in enumerate(islice(reversed(turns), walk)):
        if turn.agent != "local" or turn.status == "running":
            continue
        wires = turn_messages(turn, has_tools=has_tools)
        room -= tokens(wires)
        if room < 0:
            return _in_order(kept), len(turns) - back
        kept.append(wires)
    return _in_order(kept), max(len(turns) - walk, 0)


def estimate(messages: Sequence[Wire]) -> int:
    """Tokens that these messages take, before any server has said what they really take."""
    return sum(TOKENS_PER_MESSAGE + estimate_text(_written(message)) for message in messages)


def estimate_text(text: str) -> int:
    """Tokens that a text takes, rounded up."""
    return int(len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN) + 1 if text else 0


def fitted(text: str, tokens: int, cut: Callable[[str, int], str] = cut_middle) -> str:
    """The text, cut to about so many tokens."""
    limit = int(tokens * BYTES_PER_TOKEN)
    taken = estimate_text(short := cut(text, limit))
    # Cut anew from the whole text, so that the mark counts all that is missing.
    return short if taken <= tokens + 1 else cut(text, limit * tokens // taken)


def _add_step(
    wires: list[Wire], message: Message, results: dict[str, ToolResult], *, has_tools: bool
) -> None:
    calls = message.calls if has_tools else ()
    if not message.text and not calls:
        return
    last = wires[-1]
    if last["role"] == "assistant" and "tool_calls" not in last:
        wires[-1] = answer_message(_joined(last["content"], message.text), calls)
    else:
        wires.append(answer_message(message.text, calls))
    wires.extend(result_message(call, results.get(call.id)) for call in calls)


def _joined(text: str, more: str) -> str:
    return "\n\n".join(part for part in (text, more) if part)


def _in_order(kept: list[list[Wire]]) -> list[Wire]:
    return [message for wires in reversed(kept) for message in wires]


def _written(message: Wire) -> str:
    calls = message.get("tool_calls")
    return str(message["content"]) + (json.dumps(calls, ensure_ascii=False) if calls else "")
