"""The two summaries of a session, made from its tally when turns end and kept until the next one does."""

from collections.abc import Iterator, Sequence

from milk_tui.core.bricks import Brick
from milk_tui.core.cut import cut_middle
from milk_tui.core.handoff import FRAME
from milk_tui.core.messages import Situation, Turn
from milk_tui.core.summary import summary
from milk_tui.core.tally import Tally


class Summaries:
    """What was done locally, and what Claude did in its last stay that was not empty."""

    def __init__(self, tally: Tally, budget: int, stored: str) -> None:
        """Make both; the Claude summary is as it was stored when none of its turns are there any more."""
        self._tally = tally
        self._budget = budget
        self._room = max(budget - FRAME, 0)
        self.claude = Brick(name="claude_summary", text=cut_middle(stored, self._room), budget=budget)
        self.follow_claude()
        self.follow_local()

    def follow_local(self) -> None:
        """Make the local summary anew: of the turns that Claude does not know."""
        tally = self._tally
        self.local = self._summary(tally.local_turns_since(), tally.local_since)
        self._whole: Brick | None = None if tally.known else self.local

    def follow_claude(self) -> None:
        """Make the Claude summary anew: of its last stay that was not empty."""
        if self._tally.worked_stay:
            self.claude = self._of_claude(self._tally.worked_stay, self._room)

    def local_for(self, situation: Situation) -> Brick:
        """The local summary that a hand-off carries: what is new to Claude's session, or all for one that begins."""
        if situation == "resume":
            return self.local
        if self._whole is None:
            self._whole = self._summary(self._tally.local_turns(), self._tally.local_total)
        return self._whole

    def stay(self, room: int | None = None) -> Brick:
        """What Claude did in its last stay, however little; in so many characters where there is less room."""
        return self._of_claude(self._tally.stay, self._room if room is None else min(room, self._room))

    def _of_claude(self, stay: Sequence[Turn], room: int) -> Brick:
        return summary("claude_summary", reversed(stay), len(stay), room, self._budget)

    def _summary(self, turns: Iterator[Turn], total: int) -> Brick:
        return summary("local_summary", turns, total, self._room, self._budget)
