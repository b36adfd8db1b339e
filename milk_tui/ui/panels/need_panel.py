"""Draws the need and lets the user say it: the one brick that is edited in place."""

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Input

from milk_tui.core.text import sanitize
from milk_tui.ui.panels.panel import Panel
from milk_tui.ui.widgets.line_list import OFF, WISHES, LineList, Row, Wish

if TYPE_CHECKING:
    from milk_tui.core.bricks import Brick

_SPEAKERS = {
    "user": "said by you",
    "local": "said by the local agent",
    "claude": "said by Claude",
    "inferred": "guessed from your words",
}
_EMPTY = "Nobody has said yet what you are after. Press e to say it yourself."


class NeedPanel(Panel["Brick"]):
    """A picture of the need; `e` edits it, Enter keeps the edit and Escape drops it.

    `h` shows what it was before, and the keys of a line work as in the other bricks. An edit, a word of an agent and a
    guess are told apart in the frame.

    | Class | Description |
    | :- | :- |
    | `need--empty` | What stands in place of a need that nobody has said. |
    | `need--earlier` | What the need was before. |
    """

    KEYS: ClassVar[list[BindingType]] = [
        Binding("e", "edit", "Edit need", id="need.edit", tooltip="Say yourself what you want to get done"),
        Binding(
            "h", "earlier", "Earlier", id="need.earlier", tooltip="Show or hide what the need was before"
        ),
        Binding(
            "escape", "cancel", "Cancel", show=False, id="need.cancel", tooltip="Keep the need as it was"
        ),
    ]
    """What only the need has."""
    BINDINGS: ClassVar[list[BindingType]] = [*KEYS, *(wish for wish in WISHES if wish.id != "line.edit")]

    class Edited(Message):
        """The user says what the need is. Empty text gives the word back to the agents."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    @property
    def is_editing(self) -> bool:
        """Is the editor open?"""
        return self.has_class("-editing")

    def compose(self) -> ComposeResult:
        """The picture, and the editor that takes its place."""
        yield from super().compose()
        yield Input(compact=True, select_on_focus=False, placeholder="Empty lets the agents say it")

    def draw(self, value: "Brick") -> Content:
        """The sentence; who said it is in the frame."""
        self.set_class(value.is_stale, "-stale")
        self.set_class(not value.text, "-empty")
        self.set_class(value.is_off, "-off")
        stale, off = " · stale" if value.is_stale else "", f" · {OFF} off" if value.is_off else ""
        self.frame(f"need{stale}{off}", _SPEAKERS.get(value.by, "") if value.text else "")
        if not value.text:
            return Content.styled(_EMPTY, self.get_visual_style("need--empty", partial=True))
        return Content(value.text) + self._earlier(value)

    def _earlier(self, value: "Brick") -> Content:
        if not self.has_class("-earlier"):
            return Content()
        lines = [
            f"turn {past.turn}: {past.text} ({_SPEAKERS.get(past.by, 'said')})" for past in value.earlier
        ] or ["There was no other need before."]
        style = self.get_visual_style("need--earlier", partial=True)
        return Content.styled("\n\nBefore:\n" + "\n".join(lines), style)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Escape is this panel's only while it is being edited, and then every other key is a letter."""
        return {"cancel": self.is_editing}.get(action, not self.is_editing)

    def action_ask(self, wish: Wish) -> None:
        """Post what is wanted of the need."""
        lines = self.value.lines if self.value else ()
        row = Row(Content(), "current_need", next(iter(lines), None))
        self.post_message(LineList.Wanted(wish, row))

    def action_edit(self) -> None:
        """Open the editor on the present need."""
        if self.is_editing:
            return
        self.add_class("-editing")
        editor = self.query_one(Input)
        editor.value = self.value.text if self.value else ""
        editor.cursor_position = 0
        editor.focus()
        self.call_after_refresh(
            editor.action_end
        )  # the editor scrolls to its cursor only once it has a width

    def action_earlier(self) -> None:
        """Show or hide what the need was before."""
        self.toggle_class("-earlier")
        self.redraw()

    def action_cancel(self) -> None:
        """Close the editor and keep the need as it was."""
        self.remove_class("-editing")
        self.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Close the editor and tell the new need."""
        event.stop()
        self.action_cancel()
        self.post_message(self.Edited(" ".join(sanitize(event.value).split())))
