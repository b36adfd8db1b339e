"""What model servers send, well-formed and not: the pieces of a stream, and whole replies made of them."""

import json
from collections.abc import Sequence
from typing import Any

from tests.agents.loopback_server import Abort, Gate, Part, Reply

DONE = b"data: [DONE]\n\n"


def data(value: object) -> bytes:
    """One event of a stream."""
    return b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n"


def delta(said: object, finish: str | None = None) -> bytes:
    """A chunk with this delta."""
    return data({"id": "c1", "choices": [{"index": 0, "delta": said, "finish_reason": finish}]})


def text(content: str) -> bytes:
    """A chunk of answer."""
    return delta({"content": content})


def finish(reason: str = "stop") -> bytes:
    """The chunk that says that the answer is complete."""
    return delta({}, reason)


def usage(prompt: int, completion: int, cached: int = 0) -> bytes:
    """The chunk of numbers after the answer."""
    counts = {"prompt_tokens": prompt, "completion_tokens": completion}
    return data({"choices": [], "usage": {**counts, "prompt_tokens_details": {"cached_tokens": cached}}})


def call(name: str | None = None, arguments: object = None, **fields: Any) -> bytes:
    """A chunk with one fragment of a tool call; `id` and `index` only where given."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return delta({"tool_calls": [{"type": "function", "function": function, **fields}]})


def line(**fields: Any) -> bytes:
    """A line of Ollama's own stream."""
    head = {"model": "m", "created_at": "2026-01-01T00:00:00Z", "done": False}
    return json.dumps(head | fields, ensure_ascii=False).encode() + b"\n"


def said_line(content: str = "", **fields: Any) -> bytes:
    """A line of Ollama's with a piece of the answer."""
    return line(message={"role": "assistant", "content": content, **fields})


def last_line(prompt: int = 12, completion: int = 3, reason: str = "stop") -> bytes:
    """Ollama's last line, with its numbers."""
    durations = {"total_duration": 3_000_000_000, "load_duration": 5, "eval_duration": 1_500_000_000}
    counts = {"prompt_eval_count": prompt, "eval_count": completion}
    message = {"role": "assistant", "content": ""}
    return line(message=message, done=True, done_reason=reason, **durations, **counts)


def lines(*parts: Part) -> Reply:
    """An answer on Ollama's own endpoint."""
    return Reply(parts, content_type="application/x-ndjson")


def stream(*parts: Part, **fields: Any) -> Reply:
    """A streamed answer made of these parts, each a chunk on the wire."""
    return Reply(parts, **fields)


def text_chunks(words: Sequence[str], *, prompt: int = 12, reason: str = "stop") -> Reply:
    """A well-formed answer in so many deltas, with usage."""
    return stream(*(text(word) for word in words), finish(reason), usage(prompt, len(words)), DONE)


def text_reply(answer: str) -> Reply:
    """A well-formed answer, a delta per word."""
    words = answer.split(" ")
    return text_chunks(
        [word if last else f"{word} " for word, last in zip(words, _lasts(words), strict=True)]
    )


def tool_reply(*calls: bytes, before: str = "") -> Reply:
    """An answer that calls tools."""
    return stream(text(before), *calls, finish("tool_calls"), DONE)


def escalation_reply(reason: str) -> Reply:
    """An answer that asks for Claude Code."""
    return tool_reply(call("escalate_to_claude", json.dumps({"reason": reason}), id="e1", index=0))


def held_reply(*words: str) -> Reply:
    """An answer that begins and never goes on."""
    return stream(*(text(word) for word in words), Gate())


def aborted_reply(*words: str) -> Reply:
    """An answer whose connection is reset."""
    return stream(*(text(word) for word in words), Abort())


def json_reply(value: object, status: int = 200, **headers: str) -> Reply:
    """One JSON document."""
    return Reply((json.dumps(value).encode(),), status, "application/json", dict(headers))


def html_reply(status: int = 200) -> Reply:
    """A page such as a proxy or a portal sends."""
    page = b"<!DOCTYPE html><html><head><style>p {}</style></head><body><h1>Please log in</h1></body></html>"
    return Reply((page,), status, "text/html")


def error_reply(status: int, message: str, **fields: Any) -> Reply:
    """A refusal in the usual shape."""
    return json_reply({"error": {"code": status, "message": message, **fields}}, status)


def window_reply(prompt: int, window: int) -> Reply:
    """llama.cpp's refusal of a prompt that is too long."""
    message = f"the request exceeds the available context size ({window} tokens)"
    return error_reply(400, message, type="exceed_context_size_error", n_prompt_tokens=prompt, n_ctx=window)


def loading_reply() -> Reply:
    """A server that still reads its weights."""
    return error_reply(503, "Loading model", type="unavailable_error")


def _lasts(words: Sequence[str]) -> list[bool]:
    return [number == len(words) for number in range(1, len(words) + 1)]
