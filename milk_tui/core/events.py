"""Everything that can happen in a session, as two closed unions.

`AgentEvent` is what an agent may report while it answers. `Event` adds what the conversation itself decides.
`Session.apply` takes any `Event` and is the only place where one changes state; every `match` over them ends in
`assert_never`, so a new event shows all the places that must learn it.
"""

from datetime import datetime
from typing import Literal

from milk_tui.core.errors import Failure
from milk_tui.core.handoff import Part
from milk_tui.core.incoming import Choice
from milk_tui.core.messages import AgentRole, Receipt, ToolCall, ToolResult, Usage, Value
from milk_tui.core.queued import Queued
from milk_tui.core.shaping_events import ShapingEvent


class AgentReady(Value):
    """An agent says who it is. For Claude Code the id is what a later hand-off resumes."""

    type: Literal["agent_ready"] = "agent_ready"
    model: str = ""
    session_id: str | None = None
    window: int | None = None


class StepStarted(Value):
    """One request to a model begins; what follows belongs to a new agent message."""

    type: Literal["step_started"] = "step_started"


class StepVoided(Value):
    """The text of the present step does not count: the agent starts that step again."""

    type: Literal["step_voided"] = "step_voided"


class TextDelta(Value):
    """A fragment of the answer."""

    type: Literal["text_delta"] = "text_delta"
    text: str


class ThinkingDelta(Value):
    """A fragment of visible reasoning."""

    type: Literal["thinking_delta"] = "thinking_delta"
    text: str


class ToolCallStarted(Value):
    """A tool call is complete and about to run, or to be asked about."""

    type: Literal["tool_call_started"] = "tool_call_started"
    call: ToolCall


class ToolOutput(Value):
    """What a running tool has written so far: shown while it runs, not kept. The result follows in full."""

    type: Literal["tool_output"] = "tool_output"
    call_id: str
    text: str


class ToolCallFinished(Value):
    """A tool call has its one result."""

    type: Literal["tool_call_finished"] = "tool_call_finished"
    result: ToolResult


class NeedChanged(Value):
    """An agent says what the user is trying to get done now."""

    type: Literal["need_changed"] = "need_changed"
    text: str


class PerceptRecorded(Value):
    """An agent records a fact worth keeping."""

    type: Literal["percept_recorded"] = "percept_recorded"
    text: str


class EscalationRequested(Value):
    """The local agent asks for Claude Code, and says why."""

    type: Literal["escalation_requested"] = "escalation_requested"
    reason: str


class UsageReported(Value):
    """What the turn has spent since the last such report."""

    type: Literal["usage_reported"] = "usage_reported"
    usage: Usage


class CostEstimated(Value):
    """What the turn has cost so far by the published prices: shown while it runs; what counts is reported usage."""

    type: Literal["cost_estimated"] = "cost_estimated"
    cost_usd: float


class ContextMeasured(Value):
    """What the model reads in the step that begins: shown while the turn runs; the turn's usage says it again."""

    type: Literal["context_measured"] = "context_measured"
    tokens: int


class RetryScheduled(Value):
    """A request failed and will be made again."""

    type: Literal["retry_scheduled"] = "retry_scheduled"
    attempt: int
    of: int
    delay: float
    """Seconds until the next attempt."""
    reason: str


class PlanningChanged(Value):
    """The agent only plans from here on, or works: a plan was approved, or it went to plan by itself."""

    type: Literal["planning_changed"] = "planning_changed"
    plans_only: bool


class Silent(Value):
    """Nothing has come from the agent for so many seconds; the turn is still open."""

    type: Literal["silent"] = "silent"
    seconds: float


class Noticed(Value):
    """Something the user should know that is not part of the answer."""

    type: Literal["noticed"] = "noticed"
    text: str


class AgentFinished(Value):
    """The agent stopped by itself. The last event of an agent that did not fail."""

    type: Literal["agent_finished"] = "agent_finished"
    stop_reason: str = "stop"


class AgentFailed(Value):
    """The agent could not go on. The last event of one that failed."""

    type: Literal["agent_failed"] = "agent_failed"
    failure: Failure


AgentEvent = (
    AgentReady
    | StepStarted
    | StepVoided
    | TextDelta
    | ThinkingDelta
    | ToolCallStarted
    | ToolOutput
    | ToolCallFinished
    | NeedChanged
    | PerceptRecorded
    | EscalationRequested
    | UsageReported
    | CostEstimated
    | ContextMeasured
    | RetryScheduled
    | PlanningChanged
    | Silent
    | Noticed
    | AgentFinished
    | AgentFailed
)


class TurnStarted(Value):
    """The user's prompt is accepted and an agent is asked."""

    type: Literal["turn_started"] = "turn_started"
    agent: AgentRole
    prompt: str
    at: datetime
    preface: str = ""
    is_fresh_start: bool = False
    """It begins a session of Claude's beside the one there is."""


class TurnInterrupted(Value):
    """The user stopped the turn; what was answered so far stays."""

    type: Literal["turn_interrupted"] = "turn_interrupted"
    at: datetime


class TurnEnded(Value):
    """The turn is over, one way or another; the agent's last event or an interruption came before."""

    type: Literal["turn_ended"] = "turn_ended"
    at: datetime
    receipt: Receipt | None = None
    handed: tuple[Part, ...] = ()
    """What the hand-off that came with it has told."""


class NeedEdited(Value):
    """The user says what the need is. Empty text gives the word back to the agents."""

    type: Literal["need_edited"] = "need_edited"
    text: str
    at: datetime | None = None


class BriefSet(Value):
    """The reason that goes with the next hand-off asked for by the local agent; empty when there is none."""

    type: Literal["brief_set"] = "brief_set"
    text: str


class FloorChanged(Value):
    """The next prompt goes to this agent."""

    type: Literal["floor_changed"] = "floor_changed"
    floor: AgentRole
    is_masked: bool = False
    """Whether what looks like a secret is masked in the hand-off that comes with it."""


class IncomingDecided(Value):
    """The user decides whether the local agent is told what Claude did, and in which words."""

    type: Literal["incoming_decided"] = "incoming_decided"
    choice: Choice
    text: str | None = None
    """The user's own words; `None` for the summary as it was made."""


class Renamed(Value):
    """The user says what the session is called. Empty text lets its need and first prompt say it again."""

    type: Literal["renamed"] = "renamed"
    title: str


class ClaudeSessionForgotten(Value):
    """Claude's session cannot be resumed any more; the next hand-off is a first one."""

    type: Literal["claude_session_forgotten"] = "claude_session_forgotten"


class ExchangeUndone(Value):
    """The last turn is taken back: nothing of it is told to anybody any more."""

    type: Literal["exchange_undone"] = "exchange_undone"
    at: datetime
    keeps_claude: bool = False
    """Whether Claude's own session, which remembers the turn, goes on."""


class QueueChanged(Value):
    """What waits for its turn is this from now on."""

    type: Literal["queue_changed"] = "queue_changed"
    queue: tuple[Queued, ...]


Event = (
    AgentEvent
    | TurnStarted
    | TurnInterrupted
    | TurnEnded
    | NeedEdited
    | ShapingEvent
    | BriefSet
    | FloorChanged
    | IncomingDecided
    | Renamed
    | ClaudeSessionForgotten
    | ExchangeUndone
    | QueueChanged
)
