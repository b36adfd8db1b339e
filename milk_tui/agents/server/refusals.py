"""A model server's failures, as errors with a sentence for the user.

Says where, gives the server's own words (sanitized and short), and one thing to do. Reads what came back and raises
nothing; knows no HTTP client but the names of its errors. What was kept of an answer is added by who kept it.
"""

import json
import re
from typing import Any

from milk_tui.core.cut import one_line
from milk_tui.core.errors import FailureKind, ServerError
from milk_tui.core.text import sanitize

WORDS_LIMIT = 300
"""Characters of the server's own words that are shown."""

_TAGS = re.compile(r"<(script|style)\b.*?</\1\s*>|<[^>]*>", re.DOTALL | re.IGNORECASE)
_CONTEXT = re.compile(
    r"exceed_context_size|context_length_exceeded|maximum context length|exceeds? the (available )?context"
    r"|context (size|window|length) (exceeded|too)|prompt is too long",
    re.IGNORECASE,
)
_TOOLS = re.compile(r"\b(tools?|functions?|tool_choice|tool_calls?)\b", re.IGNORECASE)
_NO_TOOLS = re.compile(
    r"not support\w* (for )?(tool|function)|unsupported param\w*: *.?tools"
    r"|\b(tools|tool_choice|tool choice|tools param\w*)\b.{0,40}\b(requires?|unsupported|not supported)",
    re.IGNORECASE,
)
_MEMORY = re.compile(r"more system memory|out of memory|unable to allocate", re.IGNORECASE)
_LOADING = re.compile(r"\bloading\b", re.IGNORECASE)

_REMEDIES: dict[FailureKind, str] = {
    "unreachable": "Start the server, or choose another address, and send the prompt again.",
    "loading": "Wait until the model is loaded and send the prompt again.",
    "rate_limited": "Wait a moment and send the prompt again.",
    "refused": "Check the server's API key in the settings.",
    "lost": "Send the prompt again; if it happens twice, look at the server's own output.",
    "silent": "Look whether the server is still working, and send the prompt again.",
    "server": "Look at the server's own output, or send the prompt again.",
    "protocol": "Check that the address is that of a model server with an OpenAI-compatible /v1.",
    "missing": "Check the model's name with the server, or choose another model.",
    "context_full": "Shorten the prompt, start a new session, or give the server a larger window.",
}


class WindowExceeded(ServerError):
    """More was sent than the model reads. The numbers are the server's, where it gives them."""

    def __init__(self, sentence: str, prompt_tokens: int | None, window: int | None) -> None:
        super().__init__("context_full", sentence, _REMEDIES["context_full"])
        self.prompt_tokens = prompt_tokens
        self.window = window


class ToolsRefused(ServerError):
    """The server takes no tools, or not from this model."""


def failure(kind: FailureKind, sentence: str) -> ServerError:
    """An error of this kind with the remedy that goes with it."""
    return ServerError(kind, sentence, _REMEDIES.get(kind, ""))


def server_words(body: str) -> str:
    """What the server says, out of JSON, HTML or plain text, on one line of at most 300 characters."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return _shown(_TAGS.sub(" ", body) if "<" in body else body)
    return _shown(_message(said))


def refused(url: str, status: int, body: str, location: str = "") -> ServerError:
    """The error behind an answer that is not 200."""
    words = server_words(body)
    if 300 <= status < 400:
        target = _shown(location) or "another address"
        return ServerError(
            "protocol",
            f"{url} sends on to {target}, and nothing is sent to an address you did not choose.",
            "If that address is yours, set it as the server's.",
        )
    error = _error(url, _kind(status, body), f"{url} answered {status}", words, _numbers(body))
    if error.kind == "server" and _is_about_tools(status, body):
        return ToolsRefused(error.kind, error.sentence, error.remedy)
    return error


def reported(url: str, error: object) -> ServerError:
    """The error that the server reports inside its stream."""
    body = error if isinstance(error, str) else json.dumps({"error": error})
    code = _field(error, "code")
    status = code if isinstance(code, int) else 500
    return _error(
        url, _kind(status, body), f"{url} stopped with an error", server_words(body), _numbers(body)
    )


def broken(url: str, error: Exception, *, has_begun: bool) -> ServerError:
    """The error behind a connection that ended with an exception of httpx2."""
    import httpx2

    words = _shown(str(error))
    if has_begun:
        return failure(
            "lost", _said(f"The connection to {url} was lost before the answer was complete", words)
        )
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.ProxyError):
        return failure("unreachable", _said(f"{url} is not reachable", words))
    if isinstance(error, httpx2.NetworkError) or "disconnected" in words:
        return failure("lost", _said(f"{url} closed the connection without an answer", words))
    return failure("protocol", _said(f"{url} does not answer as a model server does", words))


def not_a_stream(url: str, stray: str) -> ServerError:
    """The answer was complete and is nothing a model server sends."""
    kind = "a web page" if re.search(r"<html|<!doctype", stray, re.IGNORECASE) else "something else"
    return failure(
        "protocol", _said(f"{url} answered with {kind}, not with a model's answer", server_words(stray))
    )


def _is_about_tools(status: int, body: str) -> bool:
    """A refusal of a request names what is wrong with it; a server's own failure must say that it is about tools."""
    return bool((_TOOLS if status in (400, 422) else _NO_TOOLS).search(body))


def _error(
    url: str, kind: FailureKind, start: str, words: str, numbers: tuple[int | None, int | None]
) -> ServerError:
    prompt, window = numbers
    if kind != "context_full":
        error = failure(kind, _said({"loading": f"{url} is still loading its model"}.get(kind, start), words))
        if kind == "server" and _MEMORY.search(words):
            error.remedy = "Set `window` to fewer tokens, or choose a smaller model."
        return error
    start = f"{url}: the prompt is longer than the model's window"
    if prompt and window:
        start += f" ({prompt:,} tokens sent, {window:,} fit)"
    return WindowExceeded(_said(start, words), prompt, window)


def _kind(status: int, body: str) -> FailureKind:
    if status == 413 or (status in (400, 422, 500) and _CONTEXT.search(body)):
        return "context_full"
    if status == 503 and _LOADING.search(body):
        return "loading"
    by_status: dict[int, FailureKind] = {401: "refused", 403: "refused", 404: "missing", 429: "rate_limited"}
    return by_status.get(status, "server")


def _numbers(body: str) -> tuple[int | None, int | None]:
    """The size of the prompt and of the window, as llama.cpp reports them."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return None, None
    error = _field(said, "error")
    prompt, window = _field(error, "n_prompt_tokens"), _field(error, "n_ctx")
    return (prompt if isinstance(prompt, int) else None, window if isinstance(window, int) else None)


def _message(said: Any) -> str:
    """The sentence inside a server's report: `error`, `message` and `detail` may each hold it or hold each other."""
    for name in ("error", "message", "detail"):
        inner = _field(said, name)
        if inner:
            return _message(inner)
    return said if isinstance(said, str) else json.dumps(said)


def _field(value: object, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _shown(text: str) -> str:
    return one_line(sanitize(text[: WORDS_LIMIT * 100]), WORDS_LIMIT)


def _said(start: str, words: str) -> str:
    return f"{start}: “{words}”." if words else f"{start}."
