"""The wallet: what Claude may spend for one hand-off and in one session, what it has spent, and what is left.

Claude Code is started with what is left and stops by itself after the step that used it up. The wallet refuses the
next prompt, and stops a turn that goes on all the same. Only the user can put more into it. Amounts are US dollars,
as Claude Code reports them; while a turn runs they are estimated from published prices.
"""

from collections.abc import Sequence
from typing import Literal

from milk_tui.core import events as ev
from milk_tui.core.errors import Failure, MilkError
from milk_tui.core.messages import Turn, Value

Purse = Literal["hand-off", "session"]
_SMALL = 0.1
"""Limits below it are shown to the hundredth of a cent."""
_REMEDY = "`/spend` lets Claude spend as much again, `/spend 1.50` so much; F9 gives the floor back."


class Burn(Value):
    """How far one purse is used up."""

    purse: Purse
    spent: float
    limit: float
    is_estimated: bool = False
    """Part of what is spent is not reported yet."""

    @property
    def left(self) -> float:
        """What may still be spent; never below zero."""
        return max(self.limit - self.spent, 0.0)

    def __str__(self) -> str:
        about = "about " if self.is_estimated else ""
        places = 2 if self.limit >= _SMALL else 4
        return f"{about}${self.spent:,.{places}f} of ${self.limit:,.{places}f}"


class Wallet:
    """Two purses, each of which may be without a limit."""

    def __init__(self, per_handoff: float | None = None, per_session: float | None = None) -> None:
        self._per_handoff = per_handoff
        self._limits: dict[Purse, float | None] = {"hand-off": per_handoff, "session": per_session}
        self._spent: dict[Purse, float] = {"hand-off": 0.0, "session": 0.0}
        self._unreported = 0.0
        """Estimated cost of turns that ended without a report: the next report covers it."""
        self._estimate = 0.0
        self._is_claudes = False

    @property
    def tightest(self) -> Burn | None:
        """The purse with the least left; `None` without any limit."""
        unreported = self._unreported + self._estimate
        burns = [
            Burn(
                purse=purse,
                spent=self._spent[purse] + unreported,
                limit=limit,
                is_estimated=unreported > 0,
            )
            for purse, limit in self._limits.items()
            if limit is not None
        ]
        return min(burns, key=lambda burn: burn.left, default=None)

    @property
    def left(self) -> float | None:
        """What Claude may spend now; `None` if there is no limit."""
        burn = self.tightest
        return None if burn is None else burn.left

    @property
    def session_cost(self) -> float:
        """What Claude has cost in the session so far, with what is only estimated yet."""
        return self._spent["session"] + self._unreported + self._estimate

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left."""
        return self.left == 0

    def count(self, turns: Sequence[Turn], undone: float = 0.0) -> None:
        """Take in what a reopened session has spent, by turns that were taken back too; its last stay goes on."""
        self._spent["session"] += undone
        is_stay = True
        for turn in reversed(turns):
            cost = turn.usage.cost_usd or 0.0 if turn.agent == "claude" else 0.0
            self._spent["session"] += cost
            is_stay = is_stay and turn.agent == "claude"
            if is_stay:
                self._spent["hand-off"] += cost
                is_stay = turn.receipt is None or not turn.receipt.has_handoff

    def begin(self) -> None:
        """A hand-off begins: its purse is full again."""
        self._limits["hand-off"] = self._per_handoff
        self._spent["hand-off"] = 0.0 - self._unreported

    def allow(self, amount: float | None) -> Burn:
        """The user lets Claude spend this much from here on; without an amount, as much as a hand-off may.

        Raises:
            MilkError: there is no limit to raise.
        """
        known = [limit for limit in (self._per_handoff, self._limits["session"]) if limit is not None]
        if not known:
            raise MilkError(
                "Claude may spend without a limit already.", "Set `claude_budget_usd` to set one."
            )
        wanted = known[0] if amount is None else amount
        for purse, limit in self._limits.items():
            if limit is not None:
                spent = self._spent[purse] + self._unreported + self._estimate
                self._limits[purse] = max(limit, spent + wanted)
        burn = self.tightest
        assert burn is not None
        return burn

    def check(self) -> None:
        """Raise `MilkError` if there is nothing left to spend."""
        if self.is_empty:
            failure = self.failure()
            raise MilkError(failure.sentence, failure.remedy)

    def failure(self) -> Failure:
        """What is said when nothing is left."""
        burn = self.tightest
        figures = f"{burn} for this {burn.purse}" if burn else "all that was allowed"
        return Failure(
            kind="spent",
            sentence=f"Claude has spent {figures}, and stops here; what it did is kept.",
            remedy=_REMEDY,
        )

    def note(self, event: ev.Event) -> None:
        """Take notice of what costs."""
        match event:
            case ev.TurnStarted():
                self._unreported, self._estimate = self._unreported + self._estimate, 0.0
                self._is_claudes = event.agent == "claude"
            case ev.CostEstimated():
                self._estimate = event.cost_usd
            case ev.UsageReported() if self._is_claudes and event.usage.cost_usd is not None:
                self._unreported = self._estimate = 0.0
                for purse in self._spent:
                    self._spent[purse] += event.usage.cost_usd
            case _:
                pass
