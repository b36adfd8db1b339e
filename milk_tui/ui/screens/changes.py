"""The files that agents have changed, and in each what is different: over the chat, nothing can be changed here."""

from collections.abc import Awaitable, Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from milk_tui.core.file_diff import Changes, FileDiff
from milk_tui.core.text import sanitize
from milk_tui.ui.widgets.diff_view import DiffView

_HINT = "n, p other file · j, k read · y copies the difference · Esc goes back"
_NOTHING = "No tool call has changed a file{}."
_COMMANDS = ", and what commands change is not known"


def _key(keys: str, action: str, description: str, tooltip: str, id: str) -> Binding:
    return Binding(keys, action, description, tooltip=tooltip, id=f"changes.{id}")


class ChangesScreen(ModalScreen[None]):
    """The list on the left or on top, the difference beside it."""

    AUTO_FOCUS = "DiffView"
    BINDINGS: ClassVar[list[BindingType]] = [
        _key("n,right", "step(1)", "Next", "The next file", "next"),
        _key("p,left", "step(-1)", "Previous", "The file before", "previous"),
        _key("y", "copy", "Copy", "Copy the difference as a patch", "copy"),
        _key("escape,q", "dismiss(None)", "Back", "Back to the chat", "close"),
    ]

    def __init__(
        self, title: str, look: Callable[[], Awaitable[Changes]], copy: Callable[[str], None]
    ) -> None:
        """Show what `look` finds; `copy` takes the texts that are copied."""
        super().__init__()
        self._title = title
        self._look = look
        self._copy = copy
        self.changes: Changes | None = None
        """What was found; `None` while it is being looked for."""

    def compose(self) -> ComposeResult:
        """The list, the difference, and the keys."""
        with Vertical(classes="dialog", id="changes") as dialog:
            dialog.border_title = Content(self._title)
            yield Static("Looking at the files…", id="changes-words", markup=False)
            with Container(id="changes-panes"):
                yield OptionList(id="changes-list", markup=False)
                yield DiffView(id="changes-diff")
            yield Static(_HINT, classes="dialog-hint", markup=False)

    def on_mount(self) -> None:
        """Look at the files once the frame is there."""
        self.query_one(OptionList).can_focus = False
        self.run_worker(self._find(), exit_on_error=False)

    async def _find(self) -> None:
        self.changes = changes = await self._look()
        self.query_one("#changes-words", Static).update(_words(changes))
        self.set_class(bool(changes.files), "-found")
        files = self.query_one(OptionList)
        files.add_options(Option(_row(file)) for file in changes.files)
        files.highlighted = 0 if changes.files else None

    @on(OptionList.OptionHighlighted)
    def _show(self, event: OptionList.OptionHighlighted) -> None:
        if self.changes is not None:
            self.query_one(DiffView).show(self.changes.files[event.option_index])

    def action_step(self, step: int) -> None:
        """Go to another file."""
        files = self.query_one(OptionList)
        if files.highlighted is not None:
            files.highlighted = (files.highlighted + step) % files.option_count

    def action_copy(self) -> None:
        """Copy the difference that is shown."""
        chosen = self.query_one(OptionList).highlighted
        if self.changes is not None and chosen is not None:
            self._copy(self.changes.files[chosen].patch)


def _words(changes: Changes) -> str:
    """How many files there are, and what is not known."""
    count = len(changes.files)
    if not count:
        return _NOTHING.format(_COMMANDS if changes.may_be_more else "")
    more = ", and perhaps more through commands" if changes.may_be_more else ""
    return f"{count:,} {'file' if count == 1 else 'files'}{more}"


_MARKS = {"changed": "±", "created": "+", "deleted": "−", "unchanged": "=", "asked": "?"}


def _row(file: FileDiff) -> Content:
    """What became of a file, in a mark, its name, and in a word or in numbers."""
    match file.kind:
        case "changed":
            words = f"+{file.added:,} −{file.removed:,}"
        case "asked":
            words = "as asked"
        case _:
            words = file.kind
    return Content(f"{_MARKS[file.kind]} {' '.join(sanitize(file.name).split())} · {words}")
