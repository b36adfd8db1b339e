"""Shaping the bricks while a conversation runs: each change applied, saved and yielded, or refused with a sentence."""

from collections.abc import Callable, Sequence
from datetime import datetime

from milk_tui.conversation.saving import Saving
from milk_tui.conversation.turns import TurnRunner
from milk_tui.conversation.update import Update
from milk_tui.core import events as ev
from milk_tui.core.bricks import BrickLine, BrickName, PartName
from milk_tui.core.errors import MilkError
from milk_tui.core.ledger import LedgerItem
from milk_tui.core.session import Session
from milk_tui.core.shaping import NEED_KEY, Change
from milk_tui.core.shaping_events import (
    BrickFrozen,
    BrickRestored,
    BrickShaped,
    PartSwitched,
    ShapingEvent,
    ShapingUndone,
)
from milk_tui.core.text import sanitize
from milk_tui.core.versions import BrickVersion

_STANDING = ("identity", "instructions")


class ShapingDesk:
    """What a user may do to the bricks of one session. Everything here raises `MilkError` where it is refused."""

    def __init__(
        self, session: Session, turns: TurnRunner, saving: Saving, now: Callable[[], datetime]
    ) -> None:
        self._session = session
        self._turns = turns
        self._saving = saving
        self._now = now

    def shape(self, brick: BrickName, lines: Sequence[BrickLine], change: Change, text: str = "") -> Update:
        """Drop, pin or edit lines, or take that back."""
        if any(line.key == NEED_KEY for line in lines):
            return self._need(change, text)
        if not lines or not all(line.key for line in lines):
            raise MilkError("This line only says what is missing.", "Press l: the ledger takes it back in.")
        event = BrickShaped(
            brick=brick, lines=tuple(lines), change=change, text=sanitize(text), at=self._now()
        )
        refusal = self._session.refusal(event)
        if refusal:
            raise MilkError(refusal)
        return self._apply(event)

    def switch(self, part: PartName, is_on: bool) -> Update:
        """Take a part out of the hand-off, or put it in again."""
        if part in _STANDING:
            raise MilkError(
                "This part is always sent: without it Claude would not know what the others are.",
            )
        return self._apply(PartSwitched(part=part, is_on=is_on, at=self._now()))

    def freeze(self, brick: BrickName, is_frozen: bool) -> Update:
        """Keep a brick as it is, or have it rebuilt again."""
        if is_frozen and not self._session.brick(brick).text:
            raise MilkError("There is nothing in it yet that could be frozen.")
        return self._apply(BrickFrozen(brick=brick, is_frozen=is_frozen, at=self._now()))

    def restore(self, version: BrickVersion) -> Update:
        """Make a brick what it was, and keep it so."""
        return self._apply(BrickRestored(version=version, at=self._now()))

    def take_back(self, item: LedgerItem) -> Update:
        """Put what a hand-off would leave out into it."""
        return self.shape(item.brick, item.lines, item.change)

    def undo(self) -> Update:
        """Take back what was shaped last."""
        if not self._session.can_undo:
            raise MilkError("There is nothing to take back since the last hand-off.")
        return self._apply(ShapingUndone(at=self._now()))

    def _need(self, change: Change, text: str) -> Update:
        """The need is one line: to drop it is to switch it off, to pin it is to keep agents from changing it."""
        if change == "edit":
            update = self._turns.apply(ev.NeedEdited(text=sanitize(text), at=self._now()))
            self._saving.if_begun()
            return update
        if change == "drop":
            return self.switch("current_need", False)
        return self._apply(BrickFrozen(brick="current_need", is_frozen=change == "pin", at=self._now()))

    def _apply(self, event: ShapingEvent) -> Update:
        update = self._turns.apply(event)
        self._saving.if_begun()
        return update
