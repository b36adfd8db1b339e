"""Ollama's own `/api/chat`, in terms of the chat completions interface: requests one way, chunks the other.

The OpenAI-compatible endpoint of Ollama cannot be told how large a window to load a model with, and cuts the beginning
of what does not fit without a word. Its own endpoint takes the window with each request. Values in and out; it
sends nothing.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

Json = dict[str, Any]


def chat_url(url: str) -> str:
    """The address of `/api/chat` on the server with this base address."""
    return f"{url.removesuffix('/v1')}/api/chat"


def request_body(body: Mapping[str, Any], window: int) -> Json:
    """A request for a chat completion as Ollama takes it, for a window of so many tokens."""
    options: Json = {"num_ctx": window, "num_predict": body["max_tokens"]}
    options |= {name: body[name] for name in ("temperature", "stop") if name in body}
    request: Json = {
        "model": body["model"],
        "messages": _messages(body["messages"]),
        "stream": True,
        "options": options,
        # What does not fit is refused, and an answer ends at the window, where a server knows these two.
        "truncate": False,
        "shift": False,
    }
    return request | ({"tools": body["tools"]} if body.get("tools") else {})


def completion_chunk(said: Json) -> Json:
    """A line of Ollama's answer as a chunk of a chat completion."""
    if said.get("error") or ("message" not in said and "done" not in said):
        return said
    is_done = said.get("done") is True
    reason = said.get("done_reason") or "stop"
    chunk: Json = {"choices": [{"delta": said.get("message"), "finish_reason": reason if is_done else None}]}
    if is_done:
        counts = {
            "prompt_tokens": said.get("prompt_eval_count"),
            "completion_tokens": said.get("eval_count"),
        }
        chunk["usage"] = counts
        chunk["timings"] = {"predicted_ms": _milliseconds(said.get("eval_duration"))}
    return chunk


def _messages(messages: Sequence[Mapping[str, Any]]) -> list[Json]:
    """Messages with arguments as objects, and results under the name of their tool."""
    names = {
        call["id"]: call["function"]["name"] for message in messages for call in message.get("tool_calls", ())
    }
    return [_message(message, names) for message in messages]


def _message(message: Mapping[str, Any], names: Mapping[str, str]) -> Json:
    wire: Json = {"role": message["role"], "content": message["content"]}
    if "tool_calls" in message:
        wire["tool_calls"] = [_call(call) for call in message["tool_calls"]]
    if "tool_call_id" in message:
        wire["tool_call_id"] = message["tool_call_id"]
        wire["tool_name"] = names.get(message["tool_call_id"], "")
    return wire


def _call(call: Mapping[str, Any]) -> Json:
    function = call["function"]
    # Python's JSON knows numbers that nobody else's does.
    arguments = json.loads(function["arguments"], parse_constant=lambda _: None)
    return {"id": call["id"], "function": {"name": function["name"], "arguments": arguments}}


def _milliseconds(nanoseconds: object) -> float | None:
    return nanoseconds / 1_000_000 if isinstance(nanoseconds, int | float) else None
