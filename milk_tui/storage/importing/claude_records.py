"""What a record of Claude Code's means: the user's words, the tools' results, what Claude said and took.

Much of what stands there as the user's was written by Claude Code itself, and is told apart here. It knows neither
turns nor the order of records.
"""

import re
from dataclasses import dataclass
from typing import Any

from milk_tui.core.messages import Usage
from milk_tui.core.reminder import without_reminder
from milk_tui.storage.importing.fields import count_in, object_in, objects_in, text_in

Record = dict[str, Any]

SYNTHETIC = "<synthetic>"
"""The model of messages that Claude Code wrote by itself, such as an error in words."""

ASIDE_KINDS = {
    "agent-name",
    "agent-setting",
    "ai-title",
    "api-request",
    "api-request-blob",
    "api-request-shape",
    "atis-latch",
    "attachment",
    "bridge-session",
    "cost-state",
    "custom-title",
    "file-history-snapshot",
    "last-prompt",
    "mode",
    "permission-mode",
    "pr-link",
    "progress",
    "queue-operation",
    "summary",
    "system",
    "tag",
    "tools-used",
    "worktree-state",
}
"""Kinds of records that hold nothing said."""

_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>\s*", re.DOTALL)
_IDE = re.compile(r"<(ide_\w+)>.*?</\1>\s*", re.DOTALL)
_COMMAND = re.compile(r"<command-name>(.*?)</command-name>", re.DOTALL)
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_SHELL = re.compile(r"\s*<bash-input>(.*?)</bash-input>", re.DOTALL)
_WRITTEN_FOR_THE_USER = re.compile(
    r"\s*<(?:local-command-\w+|bash-std\w+|task-notification|teammate-message|user-prompt-submit-hook)\b"
)
_STOPPED = re.compile(r"\s*\[Request interrupted by user[^\]\n]*\]\s*")


@dataclass(frozen=True)
class Prompt:
    """What the user wrote."""

    text: str
    is_command: bool = False
    """Whether it went to Claude Code, which may not have asked Claude at all."""


def blocks_of(record: Record) -> list[Record]:
    """The content of a record's message; a bare text is a block of text."""
    message = object_in(record, "message")
    text = text_in(message, "content")
    return [{"type": "text", "text": text}] if text else objects_in(message, "content")


def prompt_of(record: Record, blocks: list[Record]) -> Prompt | None:
    """The user's words in a record; None if there are none."""
    if record.get("isMeta") or object_in(record, "origin").get("kind", "human") != "human":
        return None
    text = _said(blocks)
    if not text or is_stop(text) or _WRITTEN_FOR_THE_USER.match(text):
        return None
    if command := _COMMAND.search(text):
        arguments = _ARGUMENTS.search(text)
        words = (command[1], arguments[1] if arguments else "")
        return Prompt(" ".join(filter(None, map(str.strip, words))), is_command=True)
    if shell := _SHELL.match(text):
        return Prompt(f"! {shell[1].strip()}", is_command=True)
    return Prompt(text)


def queued_prompt(record: Record) -> Prompt | None:
    """What the user wrote while Claude was at work."""
    attachment = object_in(record, "attachment")
    is_prompt = attachment.get("commandMode", "prompt") == "prompt"
    if attachment.get("type") != "queued_command" or not is_prompt:
        return None
    text = text_in(attachment, "prompt")
    blocks = [{"type": "text", "text": text}] if text else objects_in(attachment, "prompt")
    return prompt_of(attachment, blocks)


def was_stopped(blocks: list[Record]) -> bool:
    """Whether the user broke the answer off."""
    return any(is_stop(text_in(block, "text")) for block in blocks if block.get("type") == "text")


def is_stop(text: str) -> bool:
    """Whether a text only notes that the user broke the answer off."""
    return _STOPPED.fullmatch(text) is not None


def result_text(block: Record) -> str:
    """A tool's result as text; what is no text is named."""
    text = text_in(block, "content")
    return without_reminder(text or "\n".join(_part_text(part) for part in objects_in(block, "content")))


def usage_of(record: Record) -> Usage:
    """What one message took."""
    tokens = object_in(object_in(record, "message"), "usage")
    cached, written = (
        count_in(tokens, "cache_read_input_tokens"),
        count_in(tokens, "output_tokens"),
    )
    read = cached + count_in(tokens, "input_tokens") + count_in(tokens, "cache_creation_input_tokens")
    return Usage(
        input_tokens=read,
        cached_tokens=cached,
        output_tokens=written,
        context_tokens=(read + written) or None,
    )


def _said(blocks: list[Record]) -> str:
    parts = (_part_text(block) for block in blocks if block.get("type") != "tool_result")
    return "\n".join(filter(None, (_without_asides(part) for part in parts)))


def _without_asides(text: str) -> str:
    return _IDE.sub("", _REMINDER.sub("", text)).strip()


def _part_text(part: Record) -> str:
    kind = text_in(part, "type") or "part"
    if kind == "text":
        return text_in(part, "text")
    media = text_in(object_in(part, "source"), "media_type")
    return f"[{kind}: {media}]" if media else f"[{kind}]"
