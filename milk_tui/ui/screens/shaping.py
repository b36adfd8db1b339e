"""What becomes of a wish about a line of a brick, in the chat and in the preview alike."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import on
from textual.screen import Screen

from milk_tui.conversation.update import Update
from milk_tui.core.bricks import BrickLine, BrickName, PartName
from milk_tui.core.errors import MilkError
from milk_tui.core.ledger import LedgerItem
from milk_tui.core.place import place_of
from milk_tui.ui.screens.ledger import LedgerScreen
from milk_tui.ui.screens.versions import VersionsScreen
from milk_tui.ui.widgets.line_list import LineList, Row
from milk_tui.ui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from milk_tui.ui.screens.chat import ChatScreen

_BRICKS: dict[PartName | None, BrickName] = {
    "current_need": "current_need",
    "local_summary": "local_summary",
    "claude_summary": "claude_summary",
    "percepts": "percepts",
}
"""The parts that are made of bricks with versions."""


def _nothing() -> None:
    """Nobody else has to follow."""


class Shaping:
    """Shapes the bricks of one chat. What is refused is told, and changes nothing."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen
        self._talk = screen.talk
        self._desk = screen.talk.shaping

    def take(self, wanted: LineList.Wanted, then: Callable[[], None] = _nothing) -> None:
        """Do what is wanted, and let whoever asked follow each change."""
        match wanted.wish:
            case "ledger":
                self._show_ledger(then)
            case "versions":
                self._show_versions(wanted.row, then)
            case "jump":
                self.go_to(wanted.row.line)
            case _:
                self._do(lambda: self._shape(wanted), then)

    def go_to(self, line: BrickLine | None) -> None:
        """Show the message that a line came from, and read on from there."""
        turns = {turn.number: turn for turn in self._talk.session.turns} if line and line.sources else {}
        for source in line.sources if line else ():
            turn = turns.get(place_of(source)[0])
            key = self._screen.story.key_of(turn, source) if turn else None
            if key is not None:
                if self._screen.has_class("-narrow"):
                    self._screen.remove_class("-bricks-toggled")
                transcript = self._screen.query_one(Transcript)
                transcript.go_to(key)
                transcript.focus()
                return
        self._tell("This comes from no message here: you have said it, or it says what is missing.")

    def _do(self, change: Callable[[], Update], then: Callable[[], None]) -> None:
        try:
            update = change()
        except MilkError as error:
            self._tell(str(error))
            return
        self._screen.show(update)
        then()

    def _shape(self, wanted: LineList.Wanted) -> Update:
        desk, row, wish = self._desk, wanted.row, wanted.wish
        shaping = self._talk.session.state.shaping
        if wish == "undo":
            return desk.undo()
        if wish == "switch" and row.part is not None:
            return desk.switch(row.part, row.part in shaping.off)
        brick = _BRICKS.get(row.part)
        if brick is None:
            raise MilkError("This part is always sent as it is.")
        if wish == "freeze":
            return desk.freeze(brick, shaping.frozen_brick(brick) is None)
        if row.line is None:
            raise MilkError("There is no line here to change.")
        if wish == "edit":
            return desk.shape(brick, [row.line], "edit", wanted.text or "")
        if wish == "pin":
            return desk.shape(brick, [row.line], "unpin" if row.line.is_pinned else "pin")
        return desk.shape(brick, [row.line], "drop")

    def _show_ledger(self, then: Callable[[], None]) -> None:
        def take_back(item: LedgerItem) -> None:
            self._do(lambda: self._desk.take_back(item), then)

        self._screen.app.push_screen(LedgerScreen(self._talk.session.ledger, take_back))

    def _show_versions(self, row: Row, then: Callable[[], None]) -> None:
        brick, session = _BRICKS.get(row.part), self._talk.session
        if brick is None:
            self._tell("This part has no versions: it is always the same.")
            return
        screen = VersionsScreen(
            brick,
            lambda: session.versions.of(brick),
            lambda: session.brick(brick).frozen_at,
            restore=lambda version: self._do(lambda: self._desk.restore(version), then),
            freeze=lambda is_frozen: self._do(lambda: self._desk.freeze(brick, is_frozen), then),
        )
        self._screen.app.push_screen(screen)

    def _tell(self, text: str) -> None:
        self._screen.app.notify(text, severity="warning", markup=False)


class ShapeActions(Screen[None]):
    """The part of the chat that shapes bricks."""

    shaping: Shaping

    @on(LineList.Wanted)
    def _shape(self, event: LineList.Wanted) -> None:
        self.shaping.take(event)
