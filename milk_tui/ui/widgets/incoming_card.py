"""What came back from Claude, docked above the prompt until the local agent has been told, or the user has said no.

It never takes the focus by itself and blocks nothing: a prompt that is sent meanwhile takes it along. It draws a brick
and posts a decision.
"""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from milk_tui.core.incoming import Choice, IncomingBrick
from milk_tui.core.text import sanitize
from milk_tui.ui.widgets.folding import FoldingTextArea
from milk_tui.ui.widgets.pasted import Draft

NAMED = 4
"""Changed files that are named; the others are counted."""

_STANDS = {
    "open": "Claude's summary, for the local agent · sending a prompt accepts it",
    "accepted": "Claude's summary goes with your next prompt",
    "discarded": "Claude's summary is discarded: the local agent is told nothing",
}


def _key(keys: str, action: str, description: str, tooltip: str, id: str, *, show: bool = True) -> Binding:
    return Binding(keys, action, description, show=show, tooltip=tooltip, id=f"incoming.{id}")


class BrickEditor(FoldingTextArea):
    """Where the user puts the summary into other words. Enter keeps them, Escape drops them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "keep", "Keep", priority=True, tooltip="Keep these words", id="incoming.keep"),
        Binding(
            "ctrl+j,shift+enter,alt+enter",
            "break_line",
            "New line",
            priority=True,
            tooltip="New line",
            id="incoming.break_line",
        ),
        Binding("escape", "leave", "Back", priority=True, tooltip="Leave it as it was", id="incoming.leave"),
    ]

    class Kept(Message):
        """The user is done."""

    class Left(Message):
        """The user does not want these words."""

    def action_keep(self) -> None:
        """Say that the words stand."""
        self.post_message(self.Kept())

    def action_break_line(self) -> None:
        """Begin a new line."""
        self.insert("\n")

    def action_leave(self) -> None:
        """Say that they do not."""
        self.post_message(self.Left())


class IncomingCard(Vertical, can_focus=True):
    """Shows one incoming brick: in full until it is decided about, and whenever it has the focus."""

    BINDINGS: ClassVar[list[BindingType]] = [
        _key("enter,a", "decide('accepted')", "Accept", "Tell the local agent what is shown", "accept"),
        _key("e", "edit", "Edit", "Tell it in other words", "edit"),
        _key("x", "decide('discarded')", "Discard", "Tell the local agent nothing of it", "discard"),
        _key("f", "files", "Files", "What Claude changed in files", "files"),
        _key("up", "scroll(-1)", "Up", "Read back", "up", show=False),
        _key("down", "scroll(1)", "Down", "Read on", "down", show=False),
        _key("escape", "leave", "Later", "Back to the prompt; nothing is decided", "later", show=False),
    ]

    class Decided(Message):
        """The user has decided; `text` is set where the user's own words are told."""

        def __init__(self, choice: Choice, text: str | None = None) -> None:
            super().__init__()
            self.choice = choice
            self.text = text

    class FilesWanted(Message):
        """The user wants to see what was changed in files."""

    class Left(Message):
        """The user goes back to the prompt."""

    def __init__(self, brick: IncomingBrick) -> None:
        super().__init__()
        self._brick = brick
        # Held, for a card may be taken away again before they are in the tree.
        self._text, self._files, self._keys_line = (
            Static(id=f"incoming-{name}", markup=False) for name in ("text", "files", "keys")
        )

    def compose(self) -> ComposeResult:
        """The summary or the editor in its place, the files, and the keys."""
        with VerticalScroll(id="incoming-body", can_focus=False):
            yield self._text
        yield self._files
        yield self._keys_line

    def on_mount(self) -> None:
        """Draw what it was made with."""
        self._draw()

    @property
    def is_in_focus(self) -> bool:
        """Whether the keys go to the card or to the editor in it."""
        editor = self._editor
        return self.has_focus or (editor is not None and editor.has_focus)

    @property
    def _editor(self) -> BrickEditor | None:
        """The editor, while there is one: it is made when it is needed."""
        return next(iter(self.query(BrickEditor)), None) if self.has_class("-editing") else None

    @property
    def words(self) -> str | None:
        """What is being written in the brick's place; `None` while nothing is."""
        return self._editor.full_text if self._editor else None

    def show(self, brick: IncomingBrick) -> None:
        """Show another brick in place of this one; what is being edited stays."""
        self._brick = brick
        if self.is_mounted:
            self._draw()

    def enter(self) -> None:
        """Take the focus: the editor if it is open, else the card."""
        (self._editor or self).focus()

    def action_decide(self, choice: Choice) -> None:
        """Decide; words that were kept before stay with an acceptance."""
        text = self._brick.text if choice == "accepted" and self._brick.is_edited else None
        self.post_message(self.Decided(choice, text))

    async def action_edit(self) -> None:
        """Put the summary into other words, in its place."""
        editor = BrickEditor()
        await self.mount(editor, before="#incoming-files")
        self.add_class("-editing")
        editor.restore(Draft(text=self._brick.text))
        editor.move_cursor((0, 0))
        editor.focus()
        self._write()

    def action_files(self) -> None:
        """Show what was changed in files."""
        self.post_message(self.FilesWanted())

    def action_scroll(self, rows: int) -> None:
        """Read what is longer than the card."""
        self.query_one("#incoming-body", VerticalScroll).scroll_relative(y=rows, animate=False)

    def action_leave(self) -> None:
        """Go back to the prompt."""
        self.post_message(self.Left())

    async def on_brick_editor_kept(self, event: BrickEditor.Kept) -> None:
        """Decide for the new words, unless they are too many. None at all is a no."""
        event.stop()
        text = self.words or ""
        if len(text) > self._brick.room:
            return
        await self._close_editor()
        if not text.strip():
            self.post_message(self.Decided("discarded"))
        elif text == self._brick.text and not self._brick.is_edited:
            self.post_message(self.Decided("accepted"))
        else:
            self.post_message(self.Decided("accepted", text))

    async def on_brick_editor_left(self, event: BrickEditor.Left) -> None:
        """Back to the brick as it was."""
        event.stop()
        await self._close_editor()

    def on_folding_text_area_changed(self, event: FoldingTextArea.Changed) -> None:
        """Count along."""
        event.stop()
        self._write()

    def watch_has_focus(self, _has_focus: bool) -> None:
        """The keys work only while the card has the focus."""
        if self.is_mounted:
            self._write()

    async def _close_editor(self) -> None:
        self.focus()
        self.remove_class("-editing")
        await self.query(BrickEditor).remove()
        self._write()

    def _draw(self) -> None:
        brick = self._brick
        self._text.update(Content(sanitize(brick.text)))
        files = changed_words(brick)
        self._files.update(Content(files))
        self.set_class(bool(files), "-files")
        self._write()

    def _write(self) -> None:
        """The words around the brick."""
        brick, editor = self._brick, self._editor
        is_decided = brick.choice != "open"
        self.set_class(is_decided, "-decided")
        self.set_class(is_decided and not self.has_focus and editor is None, "-closed")
        edited = " · edited" if brick.is_edited else ""
        self.border_title = Content(f"{_STANDS[brick.choice]}{edited}")
        chars = editor.chars if editor else len(brick.text)
        self.border_subtitle = Content(f"{chars:,} of {brick.room:,} characters")
        over = chars - brick.room if editor else 0
        self._keys_line.update(Content(self._keys(over)))

    def _keys(self, over: int) -> str:
        if over > 0:
            return f"{over:,} characters too many for the local model: shorten it · Esc leaves it as it was"
        if self.has_class("-editing"):
            return "Enter keeps these words   Ctrl+J new line   Esc leaves it as it was"
        lead = "" if self.has_focus else "Tab, then:  "
        files = "   f files" if self._brick.files else ""
        return f"{lead}Enter accept   e edit   x discard{files}"


def changed_words(brick: IncomingBrick) -> str:
    """The files that were changed, on one line; empty if nothing is known of any."""
    names = [" ".join(sanitize(name).split()) for name in brick.files[:NAMED]]
    if len(brick.files) > NAMED:
        names.append(f"{len(brick.files) - NAMED:,} more")
    if not names:
        return "It ran commands, which may have changed files." if brick.may_be_more else ""
    more = " · perhaps more through commands" if brick.may_be_more else ""
    return f"Changed: {', '.join(names)}{more}"
