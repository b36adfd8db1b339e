"""What is said: messages, tool calls and turns, as values that compare by what they hold.

A turn is one prompt and everything done in answer to it. Its first message is the user's; agent messages and
tool results follow in the order in which they happened. Nothing here knows how a model is asked or a file stored.
"""

import json
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from milk_tui.core.errors import Failure
from milk_tui.core.own_command import CALL_ID

AgentRole = Literal["local", "claude"]
Role = Literal["user", "agent", "tool"]
TurnStatus = Literal["running", "finished", "interrupted", "failed"]
Situation = Literal["first", "agent", "resume"]
"""A row of the hand-off table: first by the user, first asked for by the local agent, or any later one."""


CANCELLED = "Cancelled."
"""The result of a call that never got one."""


class Value(BaseModel):
    """A frozen value. Unknown fields are left out, so that a newer program's record can be read by an older one."""

    # Building a validator for every kind of value at import would be a third of the way to the first frame.
    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)


class ToolCall(Value):
    """A request by an agent to run a tool."""

    id: str
    name: str
    arguments: str = "{}"
    """A JSON object as text. Whoever records a call makes sure that it parses; broken arguments become `{}`."""
    parent_id: str | None = None
    """The call whose sub-agent made this one."""

    def parsed(self) -> dict[str, Any]:
        """The arguments as a dictionary; empty when they are not a JSON object."""
        try:
            value = json.loads(self.arguments)
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}


class ToolResult(Value):
    """What a tool call gave back, or its error."""

    call_id: str
    text: str
    is_error: bool = False


class Message(Value):
    """One entry of a turn."""

    id: str
    """Turn number and place in the turn, as in `12.3`; unique in its session."""
    role: Role
    text: str = ""
    thinking: str = ""
    """A model's visible reasoning: shown apart, never part of a summary."""
    calls: tuple[ToolCall, ...] = ()
    result: ToolResult | None = None
    """Set on tool messages, and only there."""

    @property
    def chars(self) -> int:
        """The characters a full history would have to carry for this message."""
        calls = sum(len(call.name) + len(call.arguments) for call in self.calls)
        return len(self.text) + calls + (len(self.result.text) if self.result else 0)


class Usage(Value):
    """Tokens and money that an agent reports it spent; `None` where it does not say."""

    input_tokens: int = 0
    """All tokens read, from the cache or not."""
    cached_tokens: int = 0
    """The part of `input_tokens` that came from the prompt cache."""
    output_tokens: int = 0
    cost_usd: float | None = None
    context_tokens: int | None = None
    """Tokens in the model's window after its last step."""
    window: int | None = None
    """The most tokens that the model accepts."""
    seconds: float | None = None
    """Time spent generating, for tokens per second."""

    def plus(self, other: "Usage") -> "Usage":
        """The sum; context and window are the other's where it says them, for they are states and not amounts."""
        costs = [usage.cost_usd for usage in (self, other) if usage.cost_usd is not None]
        times = [usage.seconds for usage in (self, other) if usage.seconds is not None]
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost_usd=sum(costs) if costs else None,
            context_tokens=self.context_tokens if other.context_tokens is None else other.context_tokens,
            window=self.window if other.window is None else other.window,
            seconds=sum(times) if times else None,
        )


class Receipt(Value):
    """What one hand-off carried and what it took: the line that stays under Claude's answer.

    A turn made in Claude Code's own screen has one without a hand-off too.
    """

    situation: Situation
    chars: int
    """Characters handed over: standing and changing part; 0 without a hand-off."""
    history_chars: int
    """Characters of the whole history at that moment, none of which were sent."""
    usage: Usage = Usage()
    seconds: float = 0.0
    is_masked: bool = False
    """Whether what looked like a secret was masked in what was sent."""
    in_own_screen: bool = False
    """Whether the turn was made in Claude Code's own screen."""
    summary_until: int | None = None
    """The last local turn that the summary told of; `None` if it told of all."""
    facts_until: int | None = None
    """The same of the facts."""

    @property
    def has_handoff(self) -> bool:
        """Whether anything was handed over."""
        return self.chars > 0


class Turn(Value):
    """One prompt and everything done in answer to it, until an agent stops."""

    number: int
    """Counted from 1 in its session; never reused."""
    agent: AgentRole
    messages: tuple[Message, ...]
    status: TurnStatus
    started_at: datetime
    ended_at: datetime | None = None
    failure: Failure | None = None
    usage: Usage = Usage()
    model: str = ""
    preface: str = ""
    """Context that went to the agent in front of the prompt, such as what Claude did meanwhile."""
    receipt: Receipt | None = None
    """Set on the turns that carried a hand-off, and on those made in Claude Code's own screen."""

    @property
    def prompt(self) -> str:
        """The user's text."""
        return self.messages[0].text

    @property
    def is_own_command(self) -> bool:
        """Whether the user ran a command, and no agent was asked."""
        return any(call.id.startswith(CALL_ID) for call in self.calls)

    @property
    def answer(self) -> str:
        """All that the agent said, its messages apart by a blank line."""
        return "\n\n".join(m.text for m in self.messages if m.role == "agent" and m.text)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """Every tool call of the turn, in order."""
        return tuple(call for message in self.messages for call in message.calls)
