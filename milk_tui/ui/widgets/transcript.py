"""The conversation on screen, however long: one widget that draws rows, and no widget per message.

It shows blocks and tells what the user asks for; who speaks, what is saved and where a copied text goes is not its
business. Everything it draws comes from `Viewport`; this module joins that to Textual's scrolling, selection, keys
and colours.
"""

from collections.abc import Iterable
from dataclasses import replace
from time import monotonic
from typing import ClassVar

from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from milk_tui.ui.markdown.palette import SELECTED, Palette, select
from milk_tui.ui.markdown.rows import BLANK, Row, Run
from milk_tui.ui.widgets.blocks import GUTTER, Block
from milk_tui.ui.widgets.excerpt import Excerpt, Mark, pack, unpack
from milk_tui.ui.widgets.viewport import Line, Spot, Viewport

_FLUSH_SECONDS = 1 / 20
"""Streamed text is shown so often at most."""
_STYLES = (
    "bar border builtin bullet call claude code comment cursor definition deleted em error failure fence formula "
    "h1 h2 h3 h4 h5 h6 heading inserted keyword language link local muted name notice number ok percept prompt "
    "receipt strike string strong th thinking url user"
).split()
_KEPT_STRIPS = 2_000


def _key(keys: str, action: str, description: str, tooltip: str, *, show: bool = False) -> Binding:
    return Binding(keys, action, description, show=show, tooltip=tooltip, id=f"transcript.{action}")


class Transcript(ScrollView, can_focus=True, inherit_bindings=False):
    """The transcript.

    | Key | |
    | :- | :- |
    | up, down, pageup, pagedown | Scroll. |
    | home, end | Go to the beginning; to the end, and stay there. |
    | k, alt+up and j, alt+down | Choose the previous or the next block. |
    | space, enter | Fold or unfold the chosen block. |
    | y | Copy the source of the chosen block. |
    """

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
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"transcript--{name}" for name in _STYLES}

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

    def __init__(
        self, blocks: Iterable[Block] = (), *, name: str | None = None, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._viewport = Viewport()
        self._places: dict[str, int] = {}
        self._pending: dict[str, list[str]] = {}
        self._flush_is_due = False
        self._last_flush = 0.0
        self._cursor: int | None = None
        self._was_following = True
        self._shown: list[Line] = []
        self._moves_itself = False
        self._palette: Palette | None = None
        self._strips: dict[int, tuple[Row, Run, Strip]] = {}
        self.extend(blocks)

    @property
    def is_following(self) -> bool:
        """Whether the end is kept in view as text arrives."""
        return self._viewport.following

    @property
    def blocks(self) -> list[Block]:
        """The blocks as they are shown."""
        return [view.block for view in self._viewport.views]

    def append(self, block: Block) -> None:
        """Put a block at the end."""
        self.extend((block,))

    def extend(self, blocks: Iterable[Block]) -> None:
        """Put blocks at the end. Costs little however many: only what comes into view is drawn."""
        added = list(blocks)
        first = len(self._viewport.views)
        self._places.update((block.key, first + place) for place, block in enumerate(added))
        self._viewport.extend(added)
        self._show()

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
        self._viewport.update(self._places[block.key], block)
        self._show()

    def finish(self, key: str) -> None:
        """Show all that was streamed to a block, and that nothing more comes."""
        self._flush()
        block = self._block(key)
        if block.state == "running":
            self.replace(replace(block, state=""))

    def clear(self) -> None:
        """Remove all blocks, and follow what comes."""
        size = self._viewport
        self._viewport = Viewport()
        self._viewport.resize(size.width, size.height)
        self._places.clear()
        self._pending.clear()
        self._strips.clear()
        self._cursor = None
        self._show()

    def _block(self, key: str) -> Block:
        return self._viewport.views[self._places[key]].block

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
            self._viewport.update(self._places[key], block)
        self._show()
        # Never more than half of the time: where flushing is slow, the next one waits as long as this one took.
        ended = monotonic()
        self._last_flush = max(ended - _FLUSH_SECONDS + (ended - started), started)

    def _show(self) -> None:
        """Bring the screen up to date with the blocks."""
        self._fit()
        if self._viewport.height:
            self._viewport.settle()
            self._update_screen()

    def _fit(self) -> None:
        """Take the size of the widget. A new width is noticed here before the first row is painted at it."""
        size = self.scrollable_content_region.size
        if size and (size.width, size.height) != (self._viewport.width, self._viewport.height):
            if size.width != self._viewport.width:
                self._strips.clear()
                if self.text_selection is not None:
                    self.screen.clear_selection()
            self._viewport.resize(size.width, size.height)
            self._viewport.settle()
            self._update_screen()

    def _update_screen(self) -> None:
        """Pass on what the viewport has found out: the extent, the place, the changed rows, the end followed."""
        viewport = self._viewport
        # Set without the reactive's layout of the whole screen: the scrollbar is always there, and nothing moves.
        self.set_reactive(Widget.virtual_size, Size(viewport.width, viewport.total))
        self.vertical_scrollbar.window_virtual_size = viewport.total
        self._moves_itself = True
        self.scroll_target_y = self.scroll_y = viewport.scroll_y
        self._moves_itself = False
        self._refresh_changed()
        if viewport.following != self._was_following:
            self._was_following = viewport.following
            self.post_message(self.FollowChanged(self, viewport.following))

    def _refresh_changed(self) -> None:
        before, self._shown = self._shown, self._viewport.lines
        after = self._shown
        for y in range(max(len(before), len(after))):
            old = before[y][1:] if y < len(before) else None
            new = after[y][1:] if y < len(after) else None
            if old != new:
                self.refresh(Region(0, y, self.size.width, 1))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Follow the user's scrolling, by wheel, bar or key."""
        self.vertical_scrollbar.position = new_value
        size = self.scrollable_content_region.size
        is_settled = (size.width, size.height) == (self._viewport.width, self._viewport.height)
        if not self._moves_itself and is_settled and round(old_value) != round(new_value):
            self._viewport.scroll(round(new_value))
            self._update_screen()

    def on_resize(self) -> None:
        """Draw what is in view at the new size."""
        self._fit()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Paint rows, at the size that the widget has now."""
        self._fit()
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """Paint one row; its offsets are spots, so that a selection stays on its text whatever moves."""
        width = self.size.width
        palette = self._colours()
        if y >= len(self._viewport.lines):
            end = pack(Spot(len(self._viewport.views)))
            return palette.strip(BLANK, (" " * GUTTER, ""), width).apply_offsets(0, end)
        spot, row, gutter = self._viewport.lines[y]
        line = pack(spot)
        if spot.block == self._cursor and self.has_focus:
            gutter = (gutter[0], f"{gutter[1]} cursor")
        excerpt = self._excerpt()
        columns = excerpt.columns(spot, row) if excerpt else None
        if columns:
            return palette.strip(select(row, *columns), gutter, width).apply_offsets(-GUTTER, line)
        kept = self._strips.get(line)
        if kept is not None and kept[0] is row and kept[1] == gutter:
            return kept[2]
        strip = palette.strip(row, gutter, width).apply_offsets(-GUTTER, line)
        if len(self._strips) >= _KEPT_STRIPS:
            self._strips.clear()
        self._strips[line] = (row, gutter, strip)
        return strip

    def notify_style_update(self) -> None:
        """Drop what was painted in the colours of another theme."""
        super().notify_style_update()
        self._palette = None
        self._strips.clear()

    def _colours(self) -> Palette:
        if self._palette is None:
            self._palette = Palette(self.rich_style, self._colour)
        return self._palette

    def _colour(self, name: str) -> Style:
        if name == SELECTED:
            return self.screen.get_component_rich_style("screen--selection")
        styles = self.get_component_styles(f"transcript--{name}")
        style = styles.rich_style
        own = styles.has_rule("color") or styles.has_rule("auto_color")
        return styles.text_style + Style(
            color=style.color if own else None, bgcolor=style.bgcolor if styles.has_rule("background") else None
        )

    def _excerpt(self) -> Excerpt | None:
        selection = self.text_selection
        return None if selection is None else self._excerpt_of(selection)

    def _excerpt_of(self, selection: Selection) -> Excerpt:
        start, end = selection
        end = end or Offset(0, pack(Spot(len(self._viewport.views))))
        first = Mark(unpack(start.y), max(0, start.x)) if start else Mark(Spot(0), 0)
        return Excerpt(first, Mark(unpack(end.y), max(0, end.x)))

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The source of whole lines and blocks, the visible text of parts of lines."""
        return self._excerpt_of(selection).text(self._viewport.views), "\n"

    def on_click(self, event: events.Click) -> None:
        """A click on the first row of a block folds it; two clicks select a block."""
        offset = event.get_content_offset(self)
        if offset is None or offset.y >= len(self._viewport.lines):
            return
        spot = self._viewport.lines[offset.y].spot
        view = self._viewport.views[spot.block]
        self._choose(spot.block)
        if event.chain == 2:
            event.prevent_default()
            end = Offset(0, pack(Spot(spot.block + 1)))
            self.screen.selections = {self: Selection(Offset(0, pack(Spot(spot.block))), end)}
        elif event.chain == 1 and spot.piece == 0 and spot.row >= view.gap and self.text_selection is None:
            self._viewport.fold(spot.block, not view.folded)
            self._update_screen()

    def action_scroll_up(self) -> None:
        """Scroll up by a row."""
        self._scroll_by(-1)

    def action_scroll_down(self) -> None:
        """Scroll down by a row."""
        self._scroll_by(1)

    def action_page_up(self) -> None:
        """Scroll up by a page, keeping a row of it in view."""
        self._scroll_by(1 - self._viewport.height)

    def action_page_down(self) -> None:
        """Scroll down by a page, keeping a row of it in view."""
        self._scroll_by(self._viewport.height - 1)

    def action_scroll_home(self) -> None:
        """Go to the beginning."""
        self._scroll_by(-self._viewport.total)

    def action_scroll_end(self) -> None:
        """Go to the end and follow it."""
        self._viewport.following = True
        self._show()

    def _scroll_by(self, rows: int) -> None:
        self._viewport.scroll(self._viewport.scroll_y + rows)
        self._update_screen()

    def action_previous_block(self) -> None:
        """Choose the block before the chosen one."""
        self._choose(self._current() - (self._cursor is not None))

    def action_next_block(self) -> None:
        """Choose the block after the chosen one."""
        self._choose(self._current() + (self._cursor is not None))

    def action_toggle_fold(self) -> None:
        """Fold or unfold the chosen block."""
        index = self._current()
        if 0 <= index < len(self._viewport.views):
            self._viewport.fold(index, not self._viewport.views[index].folded)
            self._update_screen()

    def action_copy_block(self) -> None:
        """Ask for the source of the chosen block on the clipboard."""
        index = self._current()
        if 0 <= index < len(self._viewport.views):
            self.post_message(self.CopyRequested(self, self._viewport.views[index].block.copied))

    def _current(self) -> int:
        """The chosen block; the last one in view when none is chosen."""
        if self._cursor is not None:
            return self._cursor
        return self._viewport.lines[-1].spot.block if self._viewport.lines else -1

    def _choose(self, index: int) -> None:
        if not self._viewport.views:
            return
        self._cursor = max(0, min(index, len(self._viewport.views) - 1))
        self._viewport.reveal(self._cursor)
        self._update_screen()
        self.refresh()
