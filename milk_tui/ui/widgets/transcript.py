"""The conversation on screen, however long: one widget that draws rows, and no widget per message.

It shows blocks and tells what the user asks for; who speaks, what is saved and where a copied text goes is not its
business. `Window` draws; this module holds the blocks by their keys, collects what is streamed, and knows the keys.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace
from time import monotonic
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Offset
from textual.message import Message
from textual.selection import Selection

from milk_tui.ui.widgets.blocks import Block
from milk_tui.ui.widgets.excerpt import pack
from milk_tui.ui.widgets.stack import Spot
from milk_tui.ui.widgets.window import Window

_FLUSH_SECONDS = 1 / 20
"""Streamed text is shown so often at most."""


def _key(keys: str, action: str, description: str, tooltip: str, *, show: bool = False) -> Binding:
    return Binding(keys, action, description, show=show, tooltip=tooltip, id=f"transcript.{action}")


class Transcript(Window, can_focus=True, inherit_bindings=False):
    """The transcript.

    | Key | |
    | :- | :- |
    | up, down, pageup, pagedown | Scroll. |
    | home, end | Go to the beginning; to the end, and stay there. |
    | k, alt+up and j, alt+down | Choose the previous or the next block. |
    | space, enter | Fold or unfold the chosen block. |
    | y | Copy the source of the chosen block. |
    | f | Go on from the chosen block in a copy of the session. |
    """

    # A click chooses text; the next letters typed still belong to the prompt.
    FOCUS_ON_CLICK = False
    BINDINGS: ClassVar[list[BindingType]] = [
        _key("up", "scroll_up", "Up", "Scroll up by a row"),
        _key("down", "scroll_down", "Down", "Scroll down by a row"),
        _key("pageup", "page_up", "Page up", "Scroll up by a page"),
        _key("pagedown", "page_down", "Page down", "Scroll down by a page"),
        _key("home", "scroll_home", "Beginning", "Go to the beginning of the conversation"),
        _key("end", "scroll_end", "End", "Go to the end and follow what comes"),
        _key("k,alt+up", "previous_block", "Previous", "Choose the block before", show=True),
        _key("j,alt+down", "next_block", "Next", "Choose the block after", show=True),
        _key("space,enter", "toggle_fold", "Fold", "Fold or unfold the chosen block", show=True),
        _key("y", "copy_block", "Copy", "Copy the source of the chosen block", show=True),
        _key("f", "fork", "Fork", "Go on from the chosen block in a copy of the session", show=True),
    ]

    class FollowChanged(Message):
        """The end of the transcript is kept in view from now on, or no longer."""

        def __init__(self, transcript: "Transcript", following: bool) -> None:
            super().__init__()
            self.transcript = transcript
            self.following = following

        @property
        def control(self) -> "Transcript":
            """The transcript."""
            return self.transcript

    class CopyRequested(Message):
        """The user wants a text on the clipboard."""

        def __init__(self, transcript: "Transcript", text: str) -> None:
            super().__init__()
            self.transcript = transcript
            self.text = text

        @property
        def control(self) -> "Transcript":
            """The transcript."""
            return self.transcript

    class ForkRequested(Message):
        """The user wants to go on from a block in a copy of the session."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(
        self,
        blocks: Iterable[Block] = (),
        *,
        name: str | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._places: dict[str, int] = {}
        self._pending: dict[str, list[str]] = {}
        self._flush_is_due = False
        self._last_flush = 0.0
        self._was_following = True
        self.extend(blocks)

    @property
    def is_following(self) -> bool:
        """Whether the end is kept in view as text arrives."""
        return self.viewport.following

    @property
    def blocks(self) -> list[Block]:
        """The blocks as they are shown."""
        return [view.block for view in self.viewport.views]

    def append(self, block: Block) -> None:
        """Put a block at the end."""
        self.extend((block,))

    def extend(self, blocks: Iterable[Block]) -> None:
        """Put blocks at the end. Costs little however many: only what comes into view is drawn."""
        added = list(blocks)
        first = len(self.viewport.views)
        self._places.update((block.key, first + place) for place, block in enumerate(added))
        self.viewport.extend(added)
        self.show()

    def stream(self, key: str, delta: str) -> None:
        """Add to the text of a block; for a call, to its result. Shown with what else comes within a moment."""
        if key not in self._places:
            raise KeyError(key)
        self._pending.setdefault(key, []).append(delta)
        if self._flush_is_due or not self.is_attached:
            return
        self._flush_is_due = True
        wait = self._last_flush + _FLUSH_SECONDS - monotonic()
        if wait > 0:
            self.set_timer(wait, self._flush)
        else:
            self.call_later(self._flush)

    def replace(self, block: Block) -> None:
        """Show a new state of a block, in full; what was streamed to it and not yet shown is dropped."""
        self._pending.pop(block.key, None)
        self.viewport.update(self._places[block.key], block)
        self.show()

    def take_out(self, keys: Collection[str]) -> None:
        """Take blocks out, such as those of a step that is said again; what is read stays where it is."""
        indices = {self._places[key] for key in keys}
        if not indices:
            return
        for key in keys:
            self._pending.pop(key, None)
        self.viewport.remove(indices)
        self._places = {view.block.key: place for place, view in enumerate(self.viewport.views)}
        self.cursor = None
        self.show()

    def finish(self, key: str) -> None:
        """Show all that was streamed to a block, and that nothing more comes."""
        self._flush()
        block = self._block(key)
        if block.state == "running":
            self.replace(replace(block, state=""))

    def clear(self) -> None:
        """Remove all blocks, and follow what comes."""
        self._places.clear()
        self._pending.clear()
        self.forget()
        self.action_scroll_end()

    def go_to(self, key: str, offset: int = 0) -> None:
        """Choose a block, unfold it, and bring into view the line of its text that has the character at `offset`.

        Raises `KeyError` where there is no such block.
        """
        index = self.cursor = self._places[key]
        if self.viewport.views[index].folded:
            self.viewport.fold(index, False)
        self.viewport.reveal(
            self.viewport.spot_of(index, offset) if offset else self.viewport.first_row(index)
        )
        self.update_screen()
        self.refresh()

    def _block(self, key: str) -> Block:
        return self.viewport.views[self._places[key]].block

    def _flush(self) -> None:
        self._flush_is_due = False
        if not self._pending:
            return
        pending, self._pending = self._pending, {}
        started = monotonic()
        for key, deltas in pending.items():
            block = self._block(key)
            grown = block.body + "".join(deltas)
            block = replace(block, detail=grown) if block.kind == "call" else replace(block, source=grown)
            self.viewport.update(self._places[key], block)
        self.show()
        # Never more than half of the time: where flushing is slow, the next one waits as long as this one took.
        ended = monotonic()
        self._last_flush = max(ended - _FLUSH_SECONDS + (ended - started), started)

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

    def action_copy_block(self) -> None:
        """Ask for the source of the chosen block on the clipboard."""
        index = self._current()
        if 0 <= index < len(self.viewport.views):
            self.post_message(self.CopyRequested(self, self.viewport.views[index].block.copied))

    def action_fork(self) -> None:
        """Ask for a copy of the session up to the chosen block."""
        index = self._current()
        if 0 <= index < len(self.viewport.views):
            self.post_message(self.ForkRequested(self.viewport.views[index].block.key))

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
