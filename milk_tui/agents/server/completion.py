"""One answer of a chat completions server, put together from its chunks.

Takes parsed JSON and trusts none of it: every field may be missing, null or of another type. Knows nothing of HTTP,
of who asked, or of what happens with a tool call.
"""

import json
import time
from collections.abc import Callable
from typing import Any

from milk_tui.agents.server.call_forms import TextCall
from milk_tui.agents.server.calls import CallDraft, CallDrafts
from milk_tui.agents.server.text_calls import TextCalls
from milk_tui.agents.server.thinking import ThinkSplitter
from milk_tui.core.events import TextDelta, ThinkingDelta
from milk_tui.core.messages import Usage

THINKING_FIELDS = ("reasoning_content", "reasoning", "thinking")
"""Where servers put visible reasoning: llama.cpp and vLLM, Ollama and LM Studio, others."""


class Completion:
    """What the server has said so far in one step."""

    def __init__(
        self,
        text_calls: TextCalls | None = None,
        translate: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
    ) -> None:
        """`text_calls` finds calls in the text; `translate` makes a chunk of what a server of another kind sends."""
        self.is_bare = translate is not None
        """The lines of the stream are chunks by themselves."""
        self.text = ""
        self.has_thought = False
        self._calls = CallDrafts()
        self._written: list[CallDraft] = []
        self.finish_reason = ""
        self.is_done = False
        self.error: object = None
        """The server's own report of what went wrong, in whatever shape it came."""
        self.usage: Usage | None = None
        self.unreadable = 0
        """Lines that should have been a chunk and were not JSON."""
        self._splitter = ThinkSplitter()
        self._text_calls = text_calls or TextCalls(())
        self._translate = translate
        self._pending: list[tuple[str, str]] = []
        self._texts: list[str] = []
        self._seconds: float | None = None
        self._first_word_at: float | None = None
        self._last_word_at = 0.0

    @property
    def is_finished(self) -> bool:
        """The server has said that its answer is complete."""
        return self.is_done or bool(self.finish_reason)

    @property
    def drafts(self) -> list[CallDraft]:
        """The calls. Where the server has found some, those in the text are the same ones left standing."""
        return self._calls.drafts or self._written

    @property
    def has_begun(self) -> bool:
        """Something of the answer has come."""
        return self._first_word_at is not None

    @property
    def seconds(self) -> float | None:
        """Time spent generating: the server's own figure, or from the first word to the last."""
        if self._seconds is not None or self._first_word_at is None:
            return self._seconds
        return self._last_word_at - self._first_word_at

    def take_line(self, text: str) -> None:
        """Take in what followed `data:` on one line."""
        if not text:
            return
        if text == "[DONE]":
            self.is_done = True
            return
        try:
            chunk = json.loads(text)
        except (ValueError, RecursionError):
            self.unreadable += 1
            return
        if isinstance(chunk, dict):
            self.take(self._translate(chunk) if self._translate else chunk)
        else:
            self.unreadable += 1

    def take(self, chunk: dict[str, Any]) -> None:
        """Take in one chunk, or a whole answer that was not streamed."""
        if chunk.get("error"):
            self.error = chunk["error"]
            return
        self._count(chunk)
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            return
        said = choice.get("delta") or choice.get("message")
        if isinstance(said, dict):
            self._hear(said)
        self.finish_reason = _text(choice.get("finish_reason")) or self.finish_reason

    def drain(self, *, is_last: bool = False) -> list[TextDelta | ThinkingDelta]:
        """What came since the last call, neighbours of one kind joined; with `is_last` also what was held back."""
        if is_last:
            for part in self._splitter.finish():
                self._split(part.kind, part.text)
            self._sort(self._text_calls.finish())
        deltas: list[TextDelta | ThinkingDelta] = []
        pending, self._pending = self._pending, []
        start = 0
        while start < len(pending):
            kind, end = pending[start][0], start
            while end < len(pending) and pending[end][0] == kind:
                end += 1
            deltas.append(self._delta(kind, "".join(text for _, text in pending[start:end])))
            start = end
        if is_last:
            self.text = "".join(self._texts)
        return deltas

    def _delta(self, kind: str, text: str) -> TextDelta | ThinkingDelta:
        if kind == "text":
            self._texts.append(text)
            return TextDelta(text=text)
        self.has_thought = True
        return ThinkingDelta(text=text)

    def _hear(self, said: dict[str, Any]) -> None:
        thinking = _thinking(said)
        if thinking:
            self._pending.append(("thinking", thinking))
        content = _content(said.get("content"))
        if content:
            for part in self._splitter.feed(content):
                self._split(part.kind, part.text)
        fragments = said.get("tool_calls")
        for fragment in fragments if isinstance(fragments, list) else ():
            if isinstance(fragment, dict):
                self._calls.take(fragment)
        if thinking or content or fragments:
            self._last_word_at = time.monotonic()
            self._first_word_at = self._first_word_at or self._last_word_at

    def _split(self, kind: str, text: str) -> None:
        if kind == "thinking":
            self._pending.append((kind, text))
        else:
            self._sort(self._text_calls.feed(text))

    def _sort(self, found: list[str | TextCall]) -> None:
        for piece in found:
            if isinstance(piece, str):
                self._pending.append(("text", piece))
            else:
                self._written.append(CallDraft.written(piece))

    def _count(self, chunk: dict[str, Any]) -> None:
        timings = chunk.get("timings")
        if isinstance(timings, dict) and isinstance(timings.get("predicted_ms"), int | float):
            self._seconds = timings["predicted_ms"] / 1000
        usage = chunk.get("usage")
        if not isinstance(usage, dict):
            return
        details = usage.get("prompt_tokens_details")
        self.usage = Usage(
            input_tokens=_number(usage.get("prompt_tokens")),
            output_tokens=_number(usage.get("completion_tokens")),
            cached_tokens=_number(details.get("cached_tokens")) if isinstance(details, dict) else 0,
        )


def _thinking(said: dict[str, Any]) -> str:
    for field in THINKING_FIELDS:
        if said.get(field):
            return _text(said[field])
    return ""


def _content(value: object) -> str:
    if isinstance(value, list):
        return "".join(_text(part.get("text")) for part in value if isinstance(part, dict))
    return _text(value)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> int:
    return int(value) if isinstance(value, int | float) and 0 <= value < 2**53 else 0
