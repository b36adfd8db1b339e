"""The two summaries of a session, made from its tally when turns end and kept until the next one does."""

from collections.abc import Iterator, Sequence

from milk_tui.core.bricks import Brick, BrickLine, BrickName
from milk_tui.core.budget import FRAME
from milk_tui.core.cut import cut_middle
from milk_tui.core.messages import Situation, Turn
from milk_tui.core.shaping import Shapes, Shaping
from milk_tui.core.summary import summary
from milk_tui.core.tally import Tally


class Summaries:
    """What was done locally, and what Claude did in its last stay that was not empty."""

    def __init__(self, tally: Tally, budget: int, stored: str, shaping: Shaping) -> None:
        """Make both; the Claude summary is as it was stored when none of its turns are there any more."""
        self.room = max(budget - FRAME, 0)
        """The most characters of either."""
        self._tally = tally
        self._budget = budget
        self._shaping = shaping
        text = cut_middle(stored, self.room)
        lines = (BrickLine(text=text),) if text else ()
        self._stored = Brick(name="claude_summary", text=text, budget=budget, lines=lines)
        self.follow_claude()
        self.follow_local()

    def reshape(self, shaping: Shaping) -> None:
        """Make both as the user wants them now."""
        self._shaping = shaping
        self.follow_claude()
        self.follow_local()

    def follow_local(self) -> None:
        """Make the local summary anew: of the turns that Claude does not know."""
        tally = self._tally
        self.local = self._local(tally.local_turns_since(), tally.local_since, tally.local_until + 1)
        self._whole: Brick | None = None if tally.known else self.local

    def follow_claude(self) -> None:
        """Make the Claude summary anew: of its last stay that was not empty."""
        kept = self._kept("claude_summary")
        if kept is not None:
            self.claude = kept
        elif self._tally.worked_stay:
            self.claude = self._of_claude(self._tally.worked_stay, self.room)
        else:
            self.claude = self._stored

    def local_for(self, situation: Situation) -> Brick:
        """The local summary that a hand-off carries: what is new to Claude's session, or all for one that begins."""
        if situation == "resume":
            return self.local
        if self._whole is None:
            self._whole = self._local(self._tally.local_turns(), self._tally.local_total, 0)
        return self._whole

    def stay(self, room: int | None = None) -> Brick:
        """What Claude did in its last stay, however little; in so many characters where there is less room."""
        return self._of_claude(self._tally.stay, self.room if room is None else min(room, self.room))

    def _kept(self, name: BrickName) -> Brick | None:
        """The brick as it was kept, if the user keeps it."""
        brick = self._shaping.frozen_brick(name)
        return None if brick is None else Shapes(self._shaping, name).applied(brick, self.room)

    def _of_claude(self, stay: Sequence[Turn], room: int) -> Brick:
        return self._summary("claude_summary", reversed(stay), len(stay), room)

    def _local(self, turns: Iterator[Turn], total: int, since: int) -> Brick:
        kept = self._kept("local_summary")
        return kept or self._summary("local_summary", turns, total, self.room, since)

    def _summary(
        self, name: BrickName, turns: Iterator[Turn], total: int, room: int, since: int = 0
    ) -> Brick:
        shapes = Shapes(self._shaping, name)
        pinned = shapes.reserve(room, since, self._tally.forgotten)
        return summary(name, turns, total, room, self._budget, shapes, pinned)
