"""One answer of a chat completions server, put together from its chunks.

Takes parsed JSON and trusts none of it: every field may be missing, null or of another type. Knows nothing of HTTP,
of who asked, or of what happens with a tool call. `ToolCall` values leave here with arguments that parse.
"""

import json
import time
from typing import Any

from milk_tui.agents.server.thinking import ThinkSplitter
from milk_tui.core.events import TextDelta, ThinkingDelta
from milk_tui.core.messages import ToolCall, Usage

THINKING_FIELDS = ("reasoning_content", "reasoning", "thinking")
"""Where servers put visible reasoning: llama.cpp and vLLM, Ollama and LM Studio, others."""


class CallDraft:
    """A tool call while its fragments come in."""

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self._parts: list[str] = []

    @property
    def arguments(self) -> str:
        """The arguments so far, as text."""
        return "".join(self._parts)

    def add(self, arguments: object) -> None:
        """Add a fragment of text, or take a whole object in place of what there is."""
        if isinstance(arguments, dict):
            self._parts = [json.dumps(arguments)]
        else:
            self._parts.append(_text(arguments))

    @property
    def is_whole(self) -> bool:
        """The arguments so far are a JSON object."""
        return _object(self.arguments) is not None

    @property
    def is_broken(self) -> bool:
        """There are arguments and they are no JSON object."""
        return bool(self.arguments.strip()) and not self.is_whole

    def call(self, call_id: str) -> ToolCall:
        """The call as it is recorded; broken arguments become `{}`."""
        return ToolCall(id=call_id, name=self.name, arguments=self.arguments if self.is_whole else "{}")


class CallDrafts:
    """The calls of one answer, however the server numbers them.

    Indexes may start anywhere, repeat or be missing; ids may be missing, late, or repeated in each fragment.
    """

    def __init__(self) -> None:
        self.drafts: list[CallDraft] = []
        self._by_index: dict[int, CallDraft] = {}

    def take(self, fragment: dict[str, Any]) -> None:
        """Add one fragment to the call it belongs to."""
        function = fragment.get("function")
        function = function if isinstance(function, dict) else {}
        name = _text(function.get("name"))
        draft = self._draft(_text(fragment.get("id")), fragment.get("index"), name)
        draft.name = draft.name or name
        draft.add(function.get("arguments"))

    def _draft(self, call_id: str, index: object, name: str) -> CallDraft:
        known = self._known(call_id, index)
        draft = known if known is not None and _goes_on(known, call_id, name) else None
        if draft is None:
            draft = CallDraft()
            self.drafts.append(draft)
        draft.id = draft.id or call_id
        if isinstance(index, int):
            self._by_index[index] = draft
        return draft

    def _known(self, call_id: str, index: object) -> CallDraft | None:
        same = next((draft for draft in self.drafts if call_id and draft.id == call_id), None)
        if same is not None:
            return same
        if isinstance(index, int):
            return self._by_index.get(index)
        return self.drafts[-1] if self.drafts else None


def _goes_on(draft: CallDraft, call_id: str, name: str) -> bool:
    """Whether a fragment with this id and name belongs to the draft in its place, or begins another call."""
    if not name or (call_id and call_id == draft.id):
        return True
    if call_id and draft.id:
        return False
    return not draft.name or (name == draft.name and not draft.is_whole)


class Completion:
    """What the server has said so far in one step."""

    def __init__(self) -> None:
        self.text = ""
        self.has_thought = False
        self.calls = CallDrafts()
        self.finish_reason = ""
        self.is_done = False
        self.error: object = None
        """The server's own report of what went wrong, in whatever shape it came."""
        self.usage: Usage | None = None
        self.unreadable = 0
        """Lines that should have been a chunk and were not JSON."""
        self._splitter = ThinkSplitter()
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
            self.take(chunk)
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
            self._pending += self._splitter.finish()
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
            self._pending += self._splitter.feed(content)
        fragments = said.get("tool_calls")
        for fragment in fragments if isinstance(fragments, list) else ():
            if isinstance(fragment, dict):
                self.calls.take(fragment)
        if thinking or content or fragments:
            self._last_word_at = time.monotonic()
            self._first_word_at = self._first_word_at or self._last_word_at

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


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
