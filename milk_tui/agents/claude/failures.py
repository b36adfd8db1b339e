"""Why a turn of Claude Code failed, as one sentence and one thing to do.

Claude Code reports failures in many ways: a result that is an error and says success, an exception, a process that
ends. All of them are judged here, by their status first and by their words only where there is no status.
This module imports the SDK, so import it late.
"""

import re
from collections.abc import Sequence

from claude_agent_sdk import (
    CLIConnectionError,
    CLIJSONDecodeError,
    CLINotFoundError,
    ProcessError,
    ResultError,
    ResultMessage,
)

from milk_tui.agents.claude.process import exit_words
from milk_tui.core.errors import Failure, FailureKind
from milk_tui.core.text import sanitize

_BY_WORDS: tuple[tuple[FailureKind, re.Pattern[str]], ...] = (
    ("unknown_session", re.compile(r"no conversation found|valid session id", re.I)),
    ("context_full", re.compile(r"autocompact|prompt is too long|context (window|length|limit)", re.I)),
    ("refused", re.compile(r"not logged in|invalid api key|/login|credit balance", re.I)),
)
_BY_ERROR: dict[str, FailureKind] = {
    "authentication_failed": "refused",
    "billing_error": "refused",
    "rate_limit": "rate_limited",
}
_BY_STATUS: dict[int, FailureKind] = {
    401: "refused",
    403: "refused",
    413: "context_full",
    429: "rate_limited",
}
_UNREACHABLE = re.compile(r"connection ?refused|unable to connect|econn|enotfound|getaddrinfo|dns", re.I)
_LOST = re.compile(r"closed|terminated|socket|stream|mid-response|connection error", re.I)

REMEDIES: dict[FailureKind, str] = {
    "unreachable": "Check the network and ANTHROPIC_BASE_URL, then send the prompt again.",
    "context_full": "Escalate afresh, or ask for something narrower.",
    "rate_limited": "Wait a while, then send the prompt again.",
    "refused": "Run `claude` in a terminal and log in, or check ANTHROPIC_API_KEY, then try again.",
    "lost": "Send the prompt again.",
    "server": "Send the prompt again a little later.",
    "protocol": "Check the path of Claude Code in the settings.",
    "silent": "Send the prompt again, or check the path of Claude Code in the settings.",
    "missing": "Install Claude Code, or set its path.",
    "died": "Send the prompt again: Claude Code starts anew on the same session.",
    "spent": "`/spend` allows as much again; F9 gives the floor back.",
    "unknown_session": "Escalate afresh: a new session is given the same context.",
}


def spent() -> Failure:
    """Claude Code has used up the money it was started with."""
    return _failure(
        "spent", "The money allowed for this hand-off is spent, so Claude stopped; its work is kept."
    )


def of_result(result: ResultMessage | ResultError, error: str = "", said: str = "") -> Failure:
    """The failure that a result reports.

    Args:
        result: a result message with `is_error`, or the exception that stands for one.
        error: the kind of error that the last message named, if any.
        said: the text of that message, for a result without words of its own.
    """
    if isinstance(result, ResultMessage) and result.subtype == "error_max_budget_usd":
        return spent()
    words = result.result or "; ".join(result.errors or ()) or said or f"no reason given ({result.subtype})"
    kind = _kind(words, error, result.api_error_status)
    return _failure(kind, f"Claude Code could not go on: {_one_line(words)}")


def _kind(words: str, error: str, status: int | None) -> FailureKind:
    for kind, pattern in _BY_WORDS:
        if pattern.search(words):
            return kind
    if error in _BY_ERROR:
        return _BY_ERROR[error]
    if status is not None:
        return _BY_STATUS.get(status, "server")
    if _UNREACHABLE.search(words):
        return "unreachable"
    return "lost" if _LOST.search(words) else "server"


def of_end(error: Exception | None, path: str, last_words: Sequence[str]) -> Failure:
    """The failure behind a connection that ended before its result did.

    Args:
        error: what the SDK raised; `None` if the stream simply ended.
        path: the program that was run.
        last_words: the last lines it wrote to its standard error, fit to be shown.
    """
    if isinstance(error, ResultError):
        return of_result(error)
    if isinstance(error, CLIConnectionError) and "Working directory" in str(error):
        sentence = f"{_one_line(str(error))}."
        return Failure(
            kind="missing", sentence=sentence, remedy="Create it, or start from another directory."
        )
    kind, sentence = _of_exception(error, path)
    if last_words and kind in ("died", "lost", "protocol", "silent"):
        sentence += " Its last words: " + " / ".join(last_words)
    return _failure(kind, sentence)


def _of_exception(error: Exception | None, path: str) -> tuple[FailureKind, str]:
    match error:
        case None:
            return "lost", "Claude Code ended without a result."
        case TimeoutError():
            return "silent", f"{path} was started and did not get ready."
        case ProcessError():
            return "died", f"Claude Code {exit_words(error.exit_code)}."
        case CLIJSONDecodeError() if "buffer size" in str(error):
            return "protocol", "Claude Code sent a message too large to be read."
        case CLIJSONDecodeError():
            return "protocol", f"{path} does not answer as Claude Code does."
        case CLINotFoundError():
            return "missing", f"There is no Claude Code at {path}."
        case CLIConnectionError() if isinstance(error.__cause__, OSError):
            return "missing", _cannot_start(error, path)
        case CLIConnectionError():
            return "died", "Claude Code ended before it was ready."
        case _:
            return "protocol", f"{path} does not answer as Claude Code does: {_one_line(str(error))}"


def _cannot_start(error: Exception, path: str) -> str:
    reason = getattr(error.__cause__, "strerror", None) or _one_line(str(error.__cause__))
    return f"{path} cannot be run: {reason}."


def _failure(kind: FailureKind, sentence: str) -> Failure:
    return Failure(kind=kind, sentence=sentence, remedy=REMEDIES.get(kind, ""))


def _one_line(words: str, limit: int = 600) -> str:
    line = " ".join(sanitize(words).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
