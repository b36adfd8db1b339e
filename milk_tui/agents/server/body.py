"""The requests of one turn: system prompt, tools, as many earlier turns as fit, the prompt, and what came of it.

What never changes comes first, and is the same bytes for the whole session, so that the server's cache holds. Earlier
turns are left out whole, oldest first; then the turn's own results are shortened, oldest first. The system prompt and
the newest prompt always stay. Sends nothing.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from milk_tui.agents.base import TurnRequest
from milk_tui.agents.server.facts import Server
from milk_tui.agents.server.messages import (
    BYTES_PER_TOKEN,
    Wire,
    estimate,
    estimate_text,
    fitted,
    fitting_turns,
    prompt_message,
    system_message,
)
from milk_tui.agents.server.refusals import WindowExceeded
from milk_tui.agents.server.tool_text import STOP, ToolForm, as_text, described
from milk_tui.agents.server.window import WindowGauge
from milk_tui.agents.toolbox import ESCALATE_SCHEMA
from milk_tui.core.cut import cut_end, cut_middle
from milk_tui.core.handoff import fenced
from milk_tui.core.instructions import local_system

Schemas = Sequence[Mapping[str, Any]]

PROJECT_CHARS = 4_000
"""The most characters of a project's own instructions; never more than a quarter of the window."""
SHORT_RESULT = 400
"""Characters that stay of an older result when the turn does not fit."""


_PROJECT_TITLE = "How this project is worked on, from its own file: keep to these conventions"


class Overhead(NamedTuple):
    """What every request carries before anything is said, in characters; the tokens are an estimate."""

    system_chars: int
    tools_chars: int
    project_chars: int
    tokens: int


class Standing(NamedTuple):
    """The part of every request that does not change in a session."""

    system: str
    tools: str
    """The description of the tools, wherever it is put."""
    project: str

    def prompt(self, form: ToolForm) -> str:
        """The whole system prompt."""
        parts = (self.system, self.tools if form == "text" else "", self.project)
        return "\n".join(part for part in parts if part)

    def overhead(self) -> Overhead:
        """Its size."""
        tokens = sum(estimate_text(part) for part in self)
        return Overhead(len(self.system), len(self.tools), len(self.project), tokens)


def standing(form: ToolForm, schemas: Schemas, nonce: str, project: str, window: int) -> Standing:
    """The standing part for tools offered in this form and a window of so many tokens."""
    tools = {"native": json.dumps(offered(form, schemas)), "text": described(schemas), "none": ""}[form]
    budget = min(window // 4, int(PROJECT_CHARS / BYTES_PER_TOKEN))
    shown = fitted(project.strip(), budget, cut_end)
    return Standing(
        local_system(nonce, form == "native"),
        tools,
        fenced(_PROJECT_TITLE, "project", shown, nonce) if shown else "",
    )


def offered(form: ToolForm, schemas: Schemas) -> list[Mapping[str, Any]]:
    """The schemas of all that the model may call. Without native tools it asks for Claude Code with a tag."""
    return [] if form == "none" else [ESCALATE_SCHEMA, *schemas]


class RequestBody:
    """Makes the bodies of one turn's requests. What is said in the turn is added to `said`."""

    def __init__(
        self, request: TurnRequest, server: Server, gauge: WindowGauge, schemas: Schemas, form: ToolForm
    ) -> None:
        self.said: list[Wire] = []
        """The messages after the prompt, with tool calls in their native form."""
        self.sent = 0
        """Our estimate of the last body, before correction."""
        self.left_out = 0
        """Earlier turns that are not in it."""
        self.shortened = 0
        """Results of this turn that have been shortened."""
        self.can_shrink = False
        """The last body holds something that could be left out."""
        self._request = request
        self._server = server
        self._gauge = gauge
        self._schemas = schemas
        self._prompt = prompt_message(request.prompt, request.preface)
        self.use(form)

    def use(self, form: ToolForm) -> None:
        """Offer the tools in this form from now on."""
        self.form = form
        self.tools = offered(form, self._schemas)
        request = self._request
        part = standing(form, self._schemas, request.nonce, request.project, self._gauge.tokens)
        self._system = system_message(part.prompt(form))
        self._tools_size = estimate_text(part.tools) if form == "native" else 0

    def next(self, max_tokens: int, temperature: float | None) -> dict[str, Any]:
        """The next request, with as much as fits.

        Raises:
            WindowExceeded: not even the newest prompt fits.
        """
        self._make_room()
        newest = self._newest()
        gauge = self._gauge
        fixed = self._fixed(newest)
        if gauge.is_too_large(fixed):
            sentence = (
                f"The prompt is about {gauge.expected(fixed):,} tokens and the model at {self._server.url} reads "
                f"{gauge.tokens:,}; nothing was sent."
            )
            raise WindowExceeded(sentence, None, None)
        earlier, self.left_out = fitting_turns(
            self._request.turns,
            gauge.tokens - gauge.answer - gauge.expected(fixed),
            lambda wires: gauge.expected(estimate(wires)),
            has_tools=self.form != "none",
        )
        self.sent = fixed + estimate(earlier)
        self.can_shrink = bool(earlier) or any(_is_long(message) for message in self.said)
        body: dict[str, Any] = {
            "model": self._server.model,
            "messages": [self._system, *self._formed(earlier), *newest],
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": max_tokens,
        }
        if temperature is not None:
            body["temperature"] = temperature
        return body | self._tool_fields()

    def _tool_fields(self) -> dict[str, Any]:
        match self.form:
            case "native":
                return {"tools": self.tools}
            case "text":
                return {"stop": [STOP]}
            case _:
                return {}

    def _formed(self, messages: list[Wire]) -> list[Wire]:
        return as_text(messages) if self.form == "text" else messages

    def _newest(self) -> list[Wire]:
        return self._formed([self._prompt, *self.said])

    def _fixed(self, newest: list[Wire]) -> int:
        return estimate([self._system, *newest]) + self._tools_size

    def _make_room(self) -> None:
        """Shorten results of this turn, oldest first, until its part of the request leaves room for an answer."""
        gauge = self._gauge
        excess = gauge.expected(self._fixed(self._newest())) + gauge.answer - gauge.tokens
        last_step = max((n for n, m in enumerate(self.said) if m["role"] == "assistant"), default=0)
        for place, message in enumerate(self.said):
            if excess <= 0:
                return
            if not _is_long(message):
                continue
            text = message["content"]
            # The newest results are what the model waits for: they lose no more than they must.
            keep = len(text) - int(excess * BYTES_PER_TOKEN) if place > last_step else SHORT_RESULT
            short = cut_middle(text, max(keep, SHORT_RESULT))
            excess -= gauge.expected(estimate_text(text)) - gauge.expected(estimate_text(short))
            self.said[place] = {**message, "content": short}
            self.shortened += 1


def _is_long(message: Wire) -> bool:
    return message["role"] == "tool" and len(message["content"]) > SHORT_RESULT
