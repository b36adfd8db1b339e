"""Reading by keys and mouse: scrolling, choosing a block, folding it, selecting rows, asking for what is in it.

It says what the user asks for. Where blocks come from, and what is done with a text, is not its business.
"""

from collections.abc import Iterable
from typing import ClassVar, Literal

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Offset
from textual.message import Message
from textual.selection import Selection

from milk_tui.ui.widgets.blocks import Block
from milk_tui.ui.widgets.excerpt import pack
from milk_tui.ui.widgets.stack import Spot
from milk_tui.ui.widgets.window import Window

Wish = Literal["source", "code", "link", "file", "fork"]
"""What the user wants of a block: its source copied, its code copied, a link opened, its whole output shown, or to go
on from it in a copy of the session."""


def _key(
    keys: str, action: str, description: str, tooltip: str, id: str = "", *, show: bool = False
) -> Binding:
    return Binding(keys, action, description, show=show, tooltip=tooltip, id=f"transcript.{id or action}")


class Reader(Window, can_focus=True, inherit_bindings=False):
    """A window with keys: its bindings say which."""

    # A click chooses text; the next letters typed still belong to the prompt.
    FOCUS_ON_CLICK = False
    BINDINGS: ClassVar[list[BindingType]] = [
        _key("up", "scroll_up", "Up", "Scroll up by a row"),
        _key("down", "scroll_down", "Down", "Scroll down by a row"),
        _key("pageup", "page_up", "Page up", "Scroll up by a page"),
        _key("pagedown", "page_down", "Page down", "Scroll down by a page"),
        _key("home", "scroll_home", "Beginning", "Go to the beginning of the conversation"),
        _key("end", "scroll_end", "End", "Go to the end and follow what comes"),
        _key("k", "previous_block", "Previous", "Choose the block before", show=True),
        _key("j", "next_block", "Next", "Choose the block after", show=True),
        _key("K", "previous_prompt", "Prompt before", "Go to your prompt before"),
        _key("J", "next_prompt", "Prompt after", "Go to your next prompt"),
        _key("space,enter", "toggle_fold", "Fold", "Fold or unfold the chosen block", show=True),
        _key("f", "toggle_folds", "Fold all", "Fold or unfold all thinking and tool output"),
        _key("y", "copy", "Copy", "Copy the selection, or the source of the chosen block", show=True),
        _key(
            "c", "ask('code')", "Copy code", "Copy a code block of the chosen block", "copy_code", show=True
        ),
        _key(
            "o", "ask('link')", "Links", "Look at the chosen block's links, and open one", "links", show=True
        ),
        _key(
            "v", "ask('file')", "All of it", "Show the whole output of a call that was shortened", "all_of_it"
        ),
        _key(
            "b", "ask('fork')", "Branch off", "Go on from the chosen block in a copy of the session", "fork"
        ),
        _key("t", "toggle_about", "Times", "Show or hide times and tokens"),
        _key("shift+up", "select(-1)", "Select up", "Select rows upwards", "select_up"),
        _key("shift+down", "select(1)", "Select down", "Select rows downwards", "select_down"),
        _key("escape", "clear_selection", "Select nothing", "Take the selection back"),
        _key("n", "find(1)", "Next hit", "Go to the next hit of what is looked for", "next_hit"),
        _key("N", "find(-1)", "Hit before", "Go to the hit before", "hit_before"),
        _key("slash", "find(0)", "Find", "Look for a text", "find"),
    ]

    class FollowChanged(Message, namespace="transcript"):
        """The end of the transcript is kept in view from now on, or no longer."""

        def __init__(self, reader: "Reader", following: bool) -> None:
            super().__init__()
            self.reader = reader
            self.following = following

        @property
        def control(self) -> "Reader":
            """The transcript."""
            return self.reader

    class Wanted(Message, namespace="transcript"):
        """The user wants something of a block."""

        def __init__(self, reader: "Reader", block: Block, wish: Wish) -> None:
            super().__init__()
            self.reader = reader
            self.block = block
            self.wish = wish

        @property
        def control(self) -> "Reader":
            """The transcript."""
            return self.reader

    class CopyRequested(Message, namespace="transcript"):
        """The user wants the selected text on the clipboard."""

        def __init__(self, reader: "Reader", text: str) -> None:
            super().__init__()
            self.reader = reader
            self.text = text

        @property
        def control(self) -> "Reader":
            """The transcript."""
            return self.reader

    class FindRequested(Message, namespace="transcript"):
        """The user wants to look for a text (0), or goes to the next hit (1) or the one before (-1)."""

        def __init__(self, reader: "Reader", direction: Literal[-1, 0, 1]) -> None:
            super().__init__()
            self.reader = reader
            self.direction = direction

        @property
        def control(self) -> "Reader":
            """The transcript."""
            return self.reader

    def __init__(self, *, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._was_following = True
        self._ends: tuple[Spot, Spot] | None = None
        """Where a selection by keys began, and where it is now."""

    @property
    def is_following(self) -> bool:
        """Whether the end is kept in view as text arrives."""
        return self.viewport.following

    def screen_updated(self) -> None:
        """Tell when the end is followed from now on, or no longer."""
        if self.is_following != self._was_following:
            self._was_following = self.is_following
            self.post_message(self.FollowChanged(self, self.is_following))

    def on_click(self, event: events.Click) -> None:
        """A click on the first row of a block folds it; two clicks select a block."""
        offset = event.get_content_offset(self)
        if offset is None or offset.y >= len(self.viewport.lines):
            return
        spot = self.viewport.lines[offset.y].spot
        view = self.viewport.views[spot.block]
        self._choose(spot.block)
        if event.chain == 2:
            event.prevent_default()
            end = Offset(0, pack(Spot(spot.block + 1)))
            self.screen.selections = {self: Selection(Offset(0, pack(Spot(spot.block))), end)}
        elif event.chain == 1 and spot.piece == 0 and spot.row >= view.gap and self.text_selection is None:
            self.viewport.fold(spot.block, not view.folded)
            self.update_screen()

    def action_scroll_up(self) -> None:
        """Scroll up by a row."""
        self._scroll_by(-1)

    def action_scroll_down(self) -> None:
        """Scroll down by a row."""
        self._scroll_by(1)

    def action_page_up(self) -> None:
        """Scroll up by a page, keeping a row of it in view."""
        self._scroll_by(1 - self.viewport.height)

    def action_page_down(self) -> None:
        """Scroll down by a page, keeping a row of it in view."""
        self._scroll_by(self.viewport.height - 1)

    def action_scroll_home(self) -> None:
        """Go to the beginning."""
        self._scroll_by(-self.viewport.total)

    def action_scroll_end(self) -> None:
        """Go to the end and follow it."""
        self.viewport.following = True
        self.show()

    def _scroll_by(self, rows: int) -> None:
        self.viewport.scroll(self.viewport.scroll_y + rows)
        self.update_screen()

    def action_previous_block(self) -> None:
        """Choose the block before the chosen one."""
        self._choose(self._current() - (self.cursor is not None))

    def action_next_block(self) -> None:
        """Choose the block after the chosen one."""
        self._choose(self._current() + (self.cursor is not None))

    def action_toggle_fold(self) -> None:
        """Fold or unfold the chosen block."""
        index = self._current()
        if 0 <= index < len(self.viewport.views):
            self.viewport.fold(index, not self.viewport.views[index].folded)
            self.update_screen()

    def action_toggle_folds(self) -> None:
        """Fold all thinking and all output of calls; unfold them where all are folded."""
        views = self.viewport.views
        foldable = [index for index, view in enumerate(views) if view.block.kind in ("thinking", "call")]
        self.viewport.fold_all(foldable, any(not views[index].folded for index in foldable))
        self.update_screen()

    def action_toggle_about(self) -> None:
        """Show when things were said and what they took, or show it no longer."""
        self.viewport.tell(not self.viewport.tells)
        self.show()

    def action_previous_prompt(self) -> None:
        """Go to the user's prompt before the chosen block, or before what is at the top."""
        self._go_to_prompt(range(self._start() - (self.cursor is not None), -1, -1))

    def action_next_prompt(self) -> None:
        """Go to the user's prompt after the chosen block, or after what is at the top; to the end after the last."""
        if not self._go_to_prompt(range(self._start() + 1, len(self.viewport.views))):
            self.action_scroll_end()

    def _start(self) -> int:
        return self.viewport.top.block if self.cursor is None else self.cursor

    def _go_to_prompt(self, indices: Iterable[int]) -> bool:
        views = self.viewport.views
        index = next(
            (each for each in indices if each < len(views) and views[each].block.kind == "user"), None
        )
        if index is not None:
            self.cursor = index
            self.viewport.look_from(self.viewport.first_row(index))
            self.update_screen()
            self.refresh()
        return index is not None

    def action_select(self, rows: int) -> None:
        """Select so many rows more, from the chosen block on; fewer where it goes back."""
        viewport = self.viewport
        if not viewport.lines:
            return
        if self._ends is None or self.text_selection is None:
            start = viewport.first_row(self._current())
            start = max(start, viewport.lines[0].spot) if start.block == viewport.top.block else start
            self._ends = (start, start)
        else:
            self._ends = (self._ends[0], viewport.row_from(self._ends[1], rows))
        first, last = sorted(self._ends)
        viewport.reveal(self._ends[1])
        end = len(viewport.rows(last.block, last.piece)[last.row].text)
        self.screen.selections = {self: Selection(Offset(0, pack(first)), Offset(end, pack(last)))}
        self.update_screen()

    def action_clear_selection(self) -> None:
        """Select nothing."""
        self.screen.clear_selection()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave Escape to others while nothing is selected."""
        return action != "clear_selection" or self.text_selection is not None

    def action_find(self, direction: Literal[-1, 0, 1]) -> None:
        """Ask to look for a text, or to go on."""
        self.post_message(self.FindRequested(self, direction))

    def action_copy(self) -> None:
        """Ask for the selection on the clipboard, or for the source of the chosen block."""
        text = self.screen.get_selected_text()
        if text:
            self.post_message(self.CopyRequested(self, text))
        else:
            self.action_ask("source")

    def action_ask(self, wish: Wish) -> None:
        """Ask for something of the chosen block."""
        index = self._current()
        if 0 <= index < len(self.viewport.views):
            self.post_message(self.Wanted(self, self.viewport.views[index].block, wish))

    def _current(self) -> int:
        """The chosen block; the last one in view when none is chosen."""
        if self.cursor is not None:
            return self.cursor
        return self.viewport.lines[-1].spot.block if self.viewport.lines else -1

    def _choose(self, index: int) -> None:
        if not self.viewport.views:
            return
        self.cursor = max(0, min(index, len(self.viewport.views) - 1))
        self.viewport.reveal(self.viewport.first_row(self.cursor))
        self.update_screen()
        self.refresh()
