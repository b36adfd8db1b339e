"""Running figures over a session's finished turns, so that nothing later has to visit them all."""

from milk_tui.core.messages import AgentRole, Turn, Usage

EMPTY_STAY = 200
"""A stay of Claude without a tool call and with fewer characters of text does not replace the Claude summary."""


class Tally:
    """What has been counted so far. A stay is a row of Claude's turns with no local turn between them."""

    def __init__(self) -> None:
        self.turns = 0
        self.chars = 0
        """Characters that the raw history of the finished turns would take."""
        self.known = 0
        """Number of the last turn that Claude finished; it was handed everything before."""
        self.local_since = 0
        """Local turns after that one."""
        self.usage: dict[AgentRole, Usage] = {"local": Usage(), "claude": Usage()}
        self.model: dict[AgentRole, str] = {"local": "", "claude": ""}
        self.stay_first = 0
        """Index of the first turn of Claude's last stay."""
        self._last_agent: AgentRole = "local"
        self._stay_chars = 0
        self._stay_called = False

    @property
    def stay_has_work(self) -> bool:
        """Whether Claude's last stay left something worth a summary."""
        return self._stay_called or self._stay_chars >= EMPTY_STAY

    def add(self, turn: Turn) -> None:
        """Count one more finished turn."""
        self.chars += sum(message.chars for message in turn.messages)
        self.usage[turn.agent] = self.usage[turn.agent].plus(turn.usage)
        self.model[turn.agent] = turn.model or self.model[turn.agent]
        if turn.agent == "local":
            self.local_since += 1
        else:
            self._add_to_stay(turn)
        self._last_agent = turn.agent
        self.turns += 1

    def _add_to_stay(self, turn: Turn) -> None:
        if self._last_agent == "local":
            self.stay_first, self._stay_chars, self._stay_called = self.turns, 0, False
        if turn.status == "finished":
            self.local_since, self.known = 0, turn.number
        if turn.status != "failed":
            self._stay_chars += len(turn.answer)
            self._stay_called = self._stay_called or bool(turn.calls)
