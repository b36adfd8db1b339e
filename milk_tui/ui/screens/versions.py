"""What a brick was before: one row for each version, how it differs, and a way back."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static

from milk_tui.core.bricks import BrickName
from milk_tui.core.text import sanitize
from milk_tui.core.versions import KEPT, BrickVersion, difference
from milk_tui.ui.screens.listing import ListScreen
from milk_tui.ui.widgets.differing import counted, differing

_TITLES: dict[BrickName, str] = {
    "current_need": "the need",
    "local_summary": "the local summary",
    "claude_summary": "the Claude summary",
    "percepts": "the facts",
}


class VersionsScreen(ListScreen[None]):
    """The versions of one brick, newest first. A restored one stays as it was until it is thawed or handed over."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "r",
            "restore",
            "Restore",
            tooltip="Make the brick what it was, and keep it so",
            id="versions.restore",
        ),
        Binding("f", "freeze", "Freeze", tooltip="Keep the brick as it is, or thaw it", id="versions.freeze"),
        Binding("d", "compare", "Compare", tooltip="Compare with now, or with before", id="versions.compare"),
    ]
    HINT = "r restores the chosen one · f freezes, or thaws · d compares with now · Esc"
    EMPTY = "There is no version yet. One is kept each time the brick changes."

    def __init__(
        self,
        name: BrickName,
        versions: Callable[[], Sequence[BrickVersion]],
        frozen_at: Callable[[], int | None],
        *,
        restore: Callable[[BrickVersion], None],
        freeze: Callable[[bool], None],
    ) -> None:
        """Show what a brick was.

        Args:
            name: The brick.
            versions: Its versions, oldest first.
            frozen_at: The turn as of which it is kept, if it is.
            restore: Makes it a version.
            freeze: Keeps it as it is, or not.
        """
        super().__init__()
        self._title = f"Versions of {_TITLES.get(name, name)}"
        self._look = versions
        self._frozen_at = frozen_at
        self._restore = restore
        self._freeze = freeze
        self._versions: list[BrickVersion] = []
        self._is_with_now = False

    def compose_head(self) -> ComposeResult:
        """Whether the brick is frozen, and what is different in the chosen version."""
        yield Static(id="versions-state", classes="dialog-hint", markup=False)
        with VerticalScroll(id="versions-change", can_focus=False):
            yield Static(id="versions-rows", markup=False)

    def on_mount(self) -> None:
        """Draw what there is."""
        self.query_one(".dialog").border_title = self._title
        self._draw()

    def action_restore(self) -> None:
        """Go back to the chosen version."""
        if self._chosen is not None:
            self._restore(self._chosen)
            self._draw()

    def action_freeze(self) -> None:
        """Freeze the brick as it is, or thaw it."""
        self._freeze(self._frozen_at() is None)
        self._draw()

    def action_compare(self) -> None:
        """Compare with what is now instead of with what was before, and the other way round."""
        self._is_with_now = not self._is_with_now
        self._show_difference()

    @property
    def _chosen(self) -> BrickVersion | None:
        index = self.index
        return self._versions[index] if index is not None and index < len(self._versions) else None

    def _draw(self) -> None:
        self._versions = list(reversed(self._look()))
        turn = self._frozen_at()
        state = "Rebuilt after each turn." if turn is None else f"Frozen as of turn {turn}: not rebuilt."
        self.query_one("#versions-state", Static).update(f"{state} The last {KEPT} versions are kept.")
        self.show_rows([as_row(version) for version in self._versions])
        self._show_difference()

    @on(OptionList.OptionHighlighted)
    def _show_difference(self) -> None:
        version = self._chosen
        if version is None:
            return
        older = self._versions[self._versions.index(version) + 1 :]
        if self._is_with_now:
            words, rows = "from then to now", difference(version.text, self._versions[0].text)
        else:
            words = "from the version before to this one"
            rows = difference(older[0].text if older else "", version.text)
        head = Content.styled(f"{counted(rows)} {words}", "dim")
        self.query_one("#versions-rows", Static).update(Content("\n").join([head, *differing(rows)]))


def as_row(version: BrickVersion) -> Content:
    """A version on one line: when, why and how large."""
    when = f"{version.at.astimezone():%H:%M} · " if version.at else ""
    why = version.why if version.why.startswith("after turn") else f"turn {version.turn} · {version.why}"
    return Content(f"{when}{sanitize(why)} · {len(version.text):,} characters")
