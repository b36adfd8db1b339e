"""A window on a viewport: joins it to Textual's scrolling, painting, selection and colours.

Nothing is laid out anew when text arrives: only the rows that changed are painted. Knows rows and spots, and
nothing of messages or keys.
"""

from itertools import zip_longest

from rich.style import Style
from textual.geometry import Offset, Region, Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from milk_tui.ui.dyed import Dyed
from milk_tui.ui.markdown.palette import SELECTED, Palette, select
from milk_tui.ui.markdown.rows import BLANK, Row, Run
from milk_tui.ui.widgets.blocks import GUTTER, chosen
from milk_tui.ui.widgets.excerpt import Excerpt, Mark, pack, unpack
from milk_tui.ui.widgets.marking import Marking
from milk_tui.ui.widgets.needle import Needle
from milk_tui.ui.widgets.search import Place
from milk_tui.ui.widgets.stack import Spot
from milk_tui.ui.widgets.viewport import Line, Viewport

_KEPT_STRIPS = 2_000


class Window(ScrollView, Dyed, can_focus=True, inherit_bindings=False):
    """Shows the lines of a viewport."""

    def __init__(self, *, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self.viewport = Viewport()
        """What is shown."""
        self.cursor: int | None = None
        """The chosen block; marked while the window has the focus."""
        self._shown: list[Line] = []
        self._moves_itself = False
        self._thumb = (0, 0)
        self._palette: Palette | None = None
        self._strips: dict[Spot, tuple[Row, Run, Strip]] = {}
        self._marking = Marking()

    def mark(self, needle: Needle | None, place: Place | None = None) -> None:
        """Mark every place of a needle from now on, and one of them as the one that is meant."""
        self._marking = Marking(needle, place)
        self.refresh()

    def screen_updated(self) -> None:
        """Called whenever the screen was brought up to date."""

    def forget(self) -> None:
        """Start with an empty viewport of the same size."""
        size = self.viewport
        self.viewport = Viewport()
        self.viewport.resize(size.width, size.height)
        self.viewport.following = size.following
        self._strips.clear()
        self.cursor = None

    def show(self) -> None:
        """Bring the screen up to date with the blocks."""
        self._fit()
        if self.viewport.height:
            self.viewport.settle()
            self.update_screen()

    def _fit(self) -> None:
        """Take the size of the widget. A new width is noticed here before the first row is painted at it."""
        size = self.scrollable_content_region.size
        if size and (size.width, size.height) != (self.viewport.width, self.viewport.height):
            if size.width != self.viewport.width:
                self._strips.clear()
                if self.text_selection is not None:
                    self.screen.clear_selection()
            self.viewport.resize(size.width, size.height)
            self.viewport.settle()
            self.update_screen()

    def update_screen(self) -> None:
        """Pass on what the viewport has found out: the extent, the place, the changed rows, the end followed."""
        viewport = self.viewport
        # Set without the reactive's layout of the whole screen: the scrollbar is always there, and nothing moves.
        self.set_reactive(Widget.virtual_size, Size(viewport.width, viewport.total))
        self._moves_itself = True
        self.scroll_target_y = self.scroll_y = viewport.scroll_y
        self._moves_itself = False
        self._move_scrollbar()
        self._refresh_changed()
        self.screen_updated()

    def _move_scrollbar(self) -> None:
        """Paint the bar anew only where a change can be seen: an eighth of a cell."""
        viewport = self.viewport
        scale = 8 * viewport.height / max(1, viewport.total)
        thumb = (round(scale * viewport.height), round(scale * viewport.scroll_y))
        if thumb != self._thumb:
            self._thumb = thumb
            self.vertical_scrollbar.window_virtual_size = viewport.total
            self.vertical_scrollbar.position = viewport.scroll_y

    def _refresh_changed(self) -> None:
        before, self._shown = self._shown, self.viewport.lines
        width = self.size.width
        pairs = zip_longest(before, self._shown)
        changed = [Region(0, y, width, 1) for y, (old, new) in enumerate(pairs) if _looks(old) != _looks(new)]
        if changed:
            self.refresh(*changed)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Follow the user's scrolling, by wheel, bar or key."""
        size = self.scrollable_content_region.size
        is_settled = (size.width, size.height) == (self.viewport.width, self.viewport.height)
        if not self._moves_itself and is_settled and round(old_value) != round(new_value):
            self.viewport.scroll(round(new_value))
            self.update_screen()

    def on_resize(self) -> None:
        """Draw what is in view at the new size."""
        self._fit()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Paint rows, at the size that the widget has now.

        A row keeps its strip, and with it all that Textual has made of that, wherever it stands on the screen. Other
        widgets keep theirs by the place instead, and whoever scrolls makes all of them anew.
        """
        self._fit()
        excerpt = self._excerpt()
        strips = [self._paint(y, excerpt) for y in crop.line_range]
        background = self.background_colors[1]
        for line_filter in self.get_line_filters():
            strips = [strip.apply_filter(line_filter, background) for strip in strips]
        return [strip.crop(*crop.column_span) for strip in strips]

    def render_line(self, y: int) -> Strip:
        """One row for the pointer, which asks for the place of each character.

        The line of these places is a packed spot, so that a selection stays on its text whatever moves.
        """
        lines = self.viewport.lines
        spot = lines[y].spot if y < len(lines) else Spot(len(self.viewport.views))
        return self._paint(y, self._excerpt()).apply_offsets(-GUTTER, pack(spot))

    def _paint(self, y: int, excerpt: Excerpt | None) -> Strip:
        # Without the scrollbar's column: then Textual need not cut by its own measure what is painted.
        width = self.viewport.width
        palette = self._colours()
        if y >= len(self.viewport.lines):
            return palette.strip(BLANK, (" " * GUTTER, ""), width)
        spot, row, gutter = self.viewport.lines[y]
        if spot.block == self.cursor and self.has_focus and not self.viewport.is_gap(spot):
            gutter = chosen(gutter)
        columns = excerpt.columns(spot, row) if excerpt else None
        marked = self._marking.on(self.viewport.views[spot.block], spot, row)
        if columns:
            marked = select(marked, *columns)
        if marked is not row:
            return palette.strip(marked, gutter, width)
        kept = self._strips.get(spot)
        if kept is not None and kept[:2] == (row, gutter):
            return kept[2]
        strip = palette.strip(row, gutter, width)
        if len(self._strips) >= _KEPT_STRIPS:
            self._strips.clear()
        self._strips[spot] = (row, gutter, strip)
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
        # What a component does not say itself would be inherited and lie over the styles below it.
        styles = (
            self.screen.get_component_styles("screen--selection")
            if name == SELECTED
            else self.get_component_styles(f"transcript--{name}")
        )
        style = styles.rich_style
        own = styles.auto_color or (styles.has_rule("color") and styles.color.a > 0)
        return styles.text_style + Style(
            color=style.color if own else None,
            bgcolor=style.bgcolor if styles.has_rule("background") else None,
        )

    def _excerpt(self) -> Excerpt | None:
        selection = self.text_selection
        return None if selection is None else self._excerpt_of(selection)

    def _excerpt_of(self, selection: Selection) -> Excerpt:
        start, end = selection
        end = end or Offset(0, pack(Spot(len(self.viewport.views))))
        first = Mark(unpack(start.y), max(0, start.x)) if start else Mark(Spot(0), 0)
        return Excerpt(first, Mark(unpack(end.y), max(0, end.x)))

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The source of whole lines and blocks, the visible text of parts of lines."""
        return self._excerpt_of(selection).text(self.viewport.views), "\n"


def _looks(line: Line | None) -> tuple[Row, Run] | None:
    """What is seen of a line, wherever it stands."""
    return None if line is None else (line.row, line.gutter)
