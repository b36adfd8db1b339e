"""What the status line says, from what happens in the conversation."""

from time import monotonic

from milk_tui.conversation.controller import Conversation
from milk_tui.core import events as ev
from milk_tui.core.messages import AgentRole, Usage
from milk_tui.ui.screens.progress import Progress
from milk_tui.ui.widgets.status_line import State, Status, StatusLine

_MEASURABLE = 0.01
"""Seconds; the rate of an answer that was there at once says nothing."""


class Stating:
    """Turns events into a `Status`."""

    def __init__(self, line: StatusLine, talk: Conversation) -> None:
        self._line = line
        self._talk = talk
        self._state: State = "idle"
        self._progress = Progress()
        self._since: float | None = None
        self._usage: dict[AgentRole, Usage] = dict(talk.session.tally.usage)
        self._model: dict[AgentRole, str] = dict(talk.session.tally.model)
        self._window: dict[AgentRole, int | None] = {"local": None, "claude": None}
        self._agent: AgentRole = "local"
        self._cost = talk.session.tally.usage["claude"].cost_usd
        self._rate: float | None = None
        self._is_asking = False
        self._plans_only = False

    def note(self, event: ev.Event) -> None:
        """Take notice of one event."""
        match event:
            case ev.TurnStarted():
                self._agent, self._progress = event.agent, Progress()
                self._enter("starting")
            case ev.AgentReady():
                self._model[self._agent] = event.model
                self._window[self._agent] = event.window or self._window[self._agent]
                self.show()
            case ev.ContextMeasured():
                self._measure(event.tokens)
            case ev.UsageReported():
                self._progress.note(event)
                self._spend(event.usage)
            case ev.TurnEnded():
                self._enter("idle")
            case ev.FloorChanged() | ev.NeedEdited() | ev.CostEstimated():
                self.show()
            case _:
                self._follow(event)

    def _follow(self, event: ev.Event) -> None:
        """What an agent does shows at once; what it writes, now and then."""
        is_new = self._progress.note(event)
        state = self._state
        if self._progress.is_retrying:
            state = "retrying"
        elif isinstance(event, ev.TextDelta | ev.ThinkingDelta | ev.ToolCallStarted) or state == "retrying":
            state = "answering"
        if not self._enter(state) and is_new and self._state != "idle":
            self.show()

    def asking(self, is_asking: bool) -> None:
        """A question is open, or not any more."""
        self._is_asking = is_asking
        self._enter("answering")

    def planning(self, plans_only: bool) -> None:
        """Whoever has the floor only plans, or not any more."""
        self._plans_only = plans_only
        self.show()

    def model_chosen(self, model: str) -> None:
        """Another model has the local role; what is known of the one before does not hold for it."""
        self._model["local"], self._window["local"], self._rate = model, None, None
        before = self._usage["local"]
        self._usage["local"] = before.model_copy(update={"context_tokens": None, "window": None})
        self.show()

    def stopping(self) -> None:
        """The user wants the turn to stop."""
        self._enter("stopping")

    def show(self) -> None:
        """Draw the status as it is."""
        floor = self._talk.floor
        usage = self._usage[floor]
        figures = self._progress.figures() if self._state not in ("idle", "asking") else {}
        self._line.status = Status(
            floor=floor,
            model=self._model[floor],
            state="waiting" if self._state == "idle" and self._talk.session.is_waiting else self._state,
            since=None if self._state == "asking" else self._since,
            tokens_per_second=self._rate,
            context_tokens=usage.context_tokens,
            window=usage.window or self._window[floor],
            cost_usd=self._cost or self._talk.wallet.session_cost or None,
            burn=self._burn(floor),
            hints=self._hints(),
            plans_only=self._plans_only,
            **figures,
        )

    def _burn(self, floor: AgentRole) -> str:
        """How far the wallet is used up, where that matters."""
        burn = self._talk.wallet.tightest
        return str(burn) if burn is not None and (floor == "claude" or burn.spent) else ""

    def _hints(self) -> tuple[str, ...]:
        """The key that moves the floor, and what it would do."""
        if self._state != "idle":
            return ()
        state = self._talk.session.state
        if state.floor == "claude" and state.handed_over:
            return ("F9 gives the floor back",)
        return (f"Ctrl+G {self._talk.session.route().words}",)

    def _enter(self, state: State) -> bool:
        """Go to another state and show it; tells whether it is another one."""
        if self._is_asking and state == "answering":
            state = "asking"
        if state == self._state or (self._state == "stopping" and state != "idle"):
            return False
        was_busy = self._state != "idle"
        self._state = state
        if state == "idle":
            self._since = None
        elif not was_busy:
            self._since = monotonic()
        self.show()
        return True

    def _measure(self, tokens: int) -> None:
        self._usage[self._agent] = self._usage[self._agent].model_copy(update={"context_tokens": tokens})
        self.show()

    def _spend(self, usage: Usage) -> None:
        self._usage[self._agent] = self._usage[self._agent].plus(usage)
        if self._agent == "claude" and usage.cost_usd is not None:
            self._cost = (self._cost or 0.0) + usage.cost_usd
        if usage.seconds and usage.seconds >= _MEASURABLE and usage.output_tokens:
            self._rate = usage.output_tokens / usage.seconds
        self.show()
