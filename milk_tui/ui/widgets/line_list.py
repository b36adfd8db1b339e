"""Lines of bricks to choose from: each with its marks, the chosen one set off, and keys that say what is wanted of it.

It draws rows and posts wishes; what becomes of them it does not know. It stands in something that scrolls.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Region
from textual.message import Message
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Static

from milk_tui.ui.dyed import Dyed

if TYPE_CHECKING:
    from milk_tui.core.bricks import BrickLine, PartName

Wish = Literal["drop", "pin", "edit", "switch", "jump", "ledger", "versions", "freeze", "undo"]

PINNED, EDITED, INFERRED, NEXT, OFF = "▪", "✎", "~", "↓", "○"
LEGEND = f"{PINNED} pinned · {EDITED} edited by you · {INFERRED} from no message · {NEXT} falls off next · {OFF} off"
_CURSOR = "›"
GUTTER = 2
"""Columns for the marks."""
_WIDTH = 80
"""Columns assumed until there is a place."""


@dataclass(frozen=True)
class Row:
    """One thing in the list: a line of a brick, or words of ours around it."""

    text: Content
    part: "PartName | None" = None
    """The brick or part that it belongs to."""
    line: "BrickLine | None" = None
    style: str = ""
    """A component class without its prefix; empty for a line."""
    is_switch: bool = False
    """Whether it can be chosen although it is no line: it stands for its whole part."""

    @property
    def can_be_chosen(self) -> bool:
        """Whether the cursor stops here."""
        return self.line is not None or self.is_switch

    @property
    def name(self) -> tuple[str, str]:
        """What it is, the same after the list has changed."""
        return self.part or "", self.line.key if self.line else ""


def marks(line: "BrickLine") -> str:
    """What is special about a line, in two signs at the most."""
    found = (
        (PINNED, line.is_pinned),
        (EDITED, line.is_edited),
        (INFERRED, not line.sources),
        (NEXT, line.falls_next),
    )
    return "".join(sign for sign, holds in found if holds)[:GUTTER]


def _ask(keys: str, wish: Wish, what: str, tooltip: str, *, show: bool = True) -> Binding:
    return Binding(keys, f"ask('{wish}')", what, show=show, tooltip=tooltip, id=f"line.{wish}")


WISHES: list[Binding] = [
    _ask("d", "drop", "Drop", "Drop the line from what is handed over; the ledger takes it back"),
    _ask("p", "pin", "Pin", f"Pin the line: it stays when others fall off; again: unpin ({LEGEND})"),
    _ask("e", "edit", "Edit", "Edit the line; emptied, it says again what it said"),
    _ask("space", "switch", "On/off", "Switch the whole part off or on", show=False),
    _ask("enter", "jump", "Source", "Go to the messages that the line came from", show=False),
    _ask("l", "ledger", "Ledger", "What did not fit and what was dropped; take it back in"),
    _ask("v", "versions", "Versions", "What the brick was before; restore or freeze it"),
    _ask("f", "freeze", "Freeze", "Keep the brick as it is, or have it rebuilt again", show=False),
    _ask("u", "undo", "Undo", "Take back the last change to the bricks"),
]


class LineList(Static, Dyed, can_focus=True):
    """Rows with a cursor.

    | Class | Description |
    | :- | :- |
    | `lines--marks` | The signs in front of a line. |
    | `lines--chosen` | The chosen row, while the list has the focus. |
    | `lines--heading`, `lines--frame`, `lines--facts`, `lines--empty`, `lines--plain` | Words of ours. |
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "choose(-1)", "Up", show=False, tooltip="Choose the line before", id="line.up"),
        Binding("down,j", "choose(1)", "Down", show=False, tooltip="Choose the line after", id="line.down"),
        *WISHES,
    ]

    class Wanted(Message):
        """The user wants something of a row, or of the part it is in."""

        def __init__(self, wish: Wish, row: Row, text: str | None = None) -> None:
            super().__init__()
            self.wish = wish
            self.row = row
            self.text = text
            """The new words, once a line is edited; `None` before."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes, markup=False)
        self._rows: tuple[Row, ...] = ()
        self._wrapped: list[list[Content]] = []
        self._cursor = 0
        self._width = 0

    @property
    def rows(self) -> tuple[Row, ...]:
        """What is shown."""
        return self._rows

    @property
    def row(self) -> Row | None:
        """The chosen row."""
        return self._rows[self._cursor] if self._choices() else None

    def show(self, rows: Sequence[Row], width: int = 0) -> Content:
        """Draw these rows; the choice stays with its row, else with its place. Gives the picture."""
        before = self.row
        self._rows = tuple(rows)
        places = self._choices()
        same = [place for place in places if before is not None and self._rows[place].name == before.name]
        near = [place for place in places if place >= self._cursor] or places[-1:]
        self._cursor = next(iter([*same, *near]), 0)
        self._wrap(width or self.size.width or _WIDTH)
        if self.has_focus:
            self.call_after_refresh(self._reveal)
        return self._draw()

    def on_resize(self) -> None:
        """Break the rows anew."""
        if self.size.width != self._width and self._rows:
            self._wrap(self.size.width)
            self._draw()

    def watch_has_focus(self, has_focus: bool) -> None:
        """The chosen row is set off only while keys would act on it."""
        self._draw()
        if has_focus:
            self.call_after_refresh(self._reveal)

    def action_choose(self, step: int) -> None:
        """Choose the row before or after; at the ends, scroll."""
        places = self._choices()
        here = places.index(self._cursor) + step if self._cursor in places else 0
        if not 0 <= here < len(places):
            raise SkipAction
        self._cursor = places[here]
        self._draw()
        self.call_after_refresh(self._reveal)

    def _reveal(self) -> None:
        """Bring the chosen row into view."""
        if self._cursor >= len(self._wrapped) or not isinstance(self.parent, Widget):
            return
        top = sum(len(rows) for rows in self._wrapped[: self._cursor])
        row = Region(0, top, self._width, len(self._wrapped[self._cursor]))
        self.parent.scroll_to_region(row.translate(self.virtual_region.offset), animate=False)

    def action_ask(self, wish: Wish) -> None:
        """Post what is wanted; without a row there is only what is not about one."""
        row = self.row or next(iter(self._rows), None)
        if row is not None:
            self.post_message(self.Wanted(wish, row))

    def _choices(self) -> list[int]:
        return [place for place, row in enumerate(self._rows) if row.can_be_chosen]

    def _wrap(self, width: int) -> None:
        self._width = width
        room = max(width - GUTTER, 10)
        self._wrapped = [row.text.wrap(room if row.line or not row.style else width) for row in self._rows]

    def _draw(self) -> Content:
        lines: list[Content] = []
        for place, (row, wrapped) in enumerate(zip(self._rows, self._wrapped, strict=True)):
            lines += self._row(row, wrapped, is_chosen=place == self._cursor and self.has_focus)
        picture = Content("\n").join(lines)
        self.update(picture, layout=len(lines) != self.size.height)
        return picture

    def _row(self, row: Row, wrapped: Sequence[Content], *, is_chosen: bool) -> list[Content]:
        style = self._style(row.style) if row.style else None
        drawn = [text.stylize_before(style) if style else text for text in wrapped]
        if row.line is not None or not row.style:
            signs = f"{marks(row.line) if row.line else ''}{_CURSOR if is_chosen else ''}"[:GUTTER]
            sign = Content.styled(f"{signs:<{GUTTER}}", self._style("marks"))
            drawn = [
                (sign if place == 0 else Content(" " * GUTTER)) + text for place, text in enumerate(drawn)
            ]
        if is_chosen and row.can_be_chosen:
            chosen = self._style("chosen")
            drawn = [(text + " " * (self._width - text.cell_length)).stylize(chosen) for text in drawn]
        return drawn

    def _style(self, name: str) -> Style:
        return self.get_visual_style(f"lines--{name}", partial=True)
