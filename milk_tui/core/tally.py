"""Running figures over a session's finished turns, so that nothing later has to visit them all."""

from bisect import bisect_right
from collections.abc import Iterator

from milk_tui.core.messages import AgentRole, Receipt, Turn, Usage

EMPTY_STAY = 200
"""A stay of Claude without a tool call and with fewer characters of text does not replace the Claude summary."""


class Tally:
    """What has been counted so far. A stay is a row of Claude's turns with none of the local agent's between them."""

    def __init__(self, forgotten: int = 0) -> None:
        """Begin to count; what Claude knew up to the turn of that number is forgotten."""
        self.chars = 0
        """Characters that the raw history of the finished turns would take."""
        self.known = 0
        """Number of the last turn that Claude finished; it was handed what there was before."""
        self.known_facts = 0
        """Number of the last turn of which Claude knows the facts."""
        self.stay: list[Turn] = []
        """Claude's turns of its last stay, without those that failed before anything was done."""
        self.worked_stay: list[Turn] = []
        """The same of the last stay that left something worth a summary."""
        self.usage: dict[AgentRole, Usage] = {"local": Usage(), "claude": Usage()}
        self.model: dict[AgentRole, str] = {"local": "", "claude": ""}
        self.forgotten = forgotten
        """Number of the last turn before Claude's present session."""
        self._local: list[Turn] = []
        self._known_local = 0
        self._last_agent: AgentRole = "local"
        self._stay_chars = 0
        self._stay_called = False
        self._receipt: Receipt | None = None
        """Of the hand-off that began the present stay."""

    @property
    def stay_has_work(self) -> bool:
        """Whether Claude's last stay left something worth a summary."""
        return self._stay_called or self._stay_chars >= EMPTY_STAY

    @property
    def local_since(self) -> int:
        """How many local turns Claude does not know."""
        return len(self._local) - self._known_local

    @property
    def local_until(self) -> int:
        """Number of the last local turn that Claude knows."""
        return self._local[self._known_local - 1].number if self._known_local else 0

    @property
    def local_total(self) -> int:
        """How many local turns there are."""
        return len(self._local)

    def local_turns_since(self) -> Iterator[Turn]:
        """The local turns that Claude does not know, newest first."""
        for index in range(len(self._local) - 1, self._known_local - 1, -1):
            yield self._local[index]

    def local_turns(self) -> Iterator[Turn]:
        """All local turns, newest first."""
        return reversed(self._local)

    def add(self, turn: Turn) -> None:
        """Count one more finished turn."""
        self.chars += sum(message.chars for message in turn.messages)
        self.usage[turn.agent] = self.usage[turn.agent].plus(turn.usage)
        self.model[turn.agent] = turn.model or self.model[turn.agent]
        if turn.agent == "local":
            self._local.append(turn)
        else:
            self._add_to_stay(turn)
        if not turn.is_own_command:
            self._last_agent = turn.agent

    def forget(self, number: int) -> None:
        """Claude's session is gone after the turn of that number, and with it all that Claude knew."""
        self.forgotten = number
        self.known = self.known_facts = self._known_local = 0

    def _add_to_stay(self, turn: Turn) -> None:
        if self._last_agent == "local":
            self.stay, self._stay_chars, self._stay_called = [], 0, False
            self._receipt = None
        if turn.receipt and turn.receipt.has_handoff:
            self._receipt = turn.receipt
        if turn.status == "finished" and turn.number > self.forgotten:
            self._learn(turn.number)
        answer, calls = turn.answer, turn.calls
        if turn.status == "failed" and not (answer or calls):
            return
        self.stay.append(turn)
        self._stay_chars += len(answer)
        self._stay_called = self._stay_called or bool(calls)
        if self.stay_has_work:
            self.worked_stay = self.stay

    def _learn(self, number: int) -> None:
        """Claude has finished a turn: it knows what its hand-off told of, and what it knew before."""
        summary_until = self._receipt.summary_until if self._receipt else None
        facts_until = self._receipt.facts_until if self._receipt else None
        told = len(self._local)
        if summary_until is not None:
            told = bisect_right(self._local, summary_until, key=lambda turn: turn.number)
        self.known = number
        self.known_facts = max(self.known_facts, number if facts_until is None else facts_until)
        self._known_local = max(self._known_local, told)
