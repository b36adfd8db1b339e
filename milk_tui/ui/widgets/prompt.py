"""The widget in which the user writes a prompt.

It sends nothing and clears nothing by itself: it says what was submitted, and whoever accepts the prompt clears it,
so that no text is ever lost. It knows no conversation, no history and no meaning of a command.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic
from typing import Literal

from textual import events
from textual.binding import Binding
from textual.message import Message
from textual.reactive import reactive
from textual.timer import Timer
from textual.widgets.text_area import Selection

from milk_tui.ui.widgets.completion import Completion, completion, path_completion
from milk_tui.ui.widgets.highlighting import MarkdownTextArea
from milk_tui.ui.widgets.keystrokes import BURST, BrokenReport, Burst

ScrollStep = Literal["page_up", "page_down", "home", "end"]

_MENTION = re.compile(r"(?:(?<=\s)|^)@[^\s\"]*$")
"""A path that is being typed at the end of a text."""
_BURST_KEYS = ("enter", "ctrl+j", "tab")
"""The keys that text pasted without marks is made of, beside printable characters."""


def _key(keys: str, action: str, what: str, id: str) -> Binding:
    return Binding(keys, action, what, show=False, tooltip=what, id=f"prompt.{id}")


class Prompt(MarkdownTextArea):
    r"""A text area that grows with its text. Enter submits it; Ctrl+J, Shift+Enter and `\` Enter break the line.

    Keys that are not its own, such as Escape and Shift+Tab, go on to the screen; so does Alt with any key.
    """

    BINDINGS = [
        _key("ctrl+j,shift+enter,alt+enter", "break_line", "New line", "break_line"),
        _key("pageup", "scroll('page_up')", "Scroll the conversation up", "page_up"),
        _key("pagedown", "scroll('page_down')", "Scroll the conversation down", "page_down"),
        _key("ctrl+home", "scroll('home')", "Go to the first message", "home"),
        _key("ctrl+end", "scroll('end')", "Go to the latest message and follow", "end"),
    ]

    completion: reactive[Completion | None] = reactive(None)
    """What the text, or its last word, may be the beginning of, while that is offered."""

    class Changed(MarkdownTextArea.Changed):
        """The text is another one; `chars` is the length of what would be sent now."""

    class Submitted(Message):
        """The user sends the prompt. It stays in the widget until somebody clears it."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text
            """What to send, large pastes in full."""

    class EnteredNothing(Message):
        """Enter was pressed where nothing is written."""

    class HistoryRequested(Message):
        """Up on the first row (-1) or Down on the last one (+1)."""

        def __init__(self, direction: Literal[-1, 1]) -> None:
            super().__init__()
            self.direction = direction

    class FilesWanted(Message):
        """A word that begins with `@` is being typed: whoever knows files may `offer_files` for its letters."""

        def __init__(self, letters: str) -> None:
            super().__init__()
            self.letters = letters

    class ScrollRequested(Message):
        """A key that scrolls the transcript was pressed here."""

        def __init__(self, step: ScrollStep) -> None:
            super().__init__()
            self.step = step

    def __init__(
        self, commands: Sequence[tuple[str, str]] = (), *, placeholder: str = "", id: str | None = None
    ) -> None:
        """Make a prompt that offers these commands, each a name and a line of help."""
        self.commands = commands
        self.meaning: Callable[[str], str] = str
        """What a text that is pasted stands for; itself, unless somebody knows better."""
        self._burst = Burst()
        self._report = BrokenReport()
        self._entered: float | None = None
        self._timer: Timer | None = None
        self._is_dismissed = False
        super().__init__(placeholder=placeholder, id=id)

    # Keys are acted on here and not through bindings alone: a binding runs after the key has gone up to the app,
    # and by then letters that were typed after it may already be in the text.

    async def _on_key(self, event: events.Key) -> None:
        self._settle_enter(event)
        is_burst = self._burst.holds(event.time)
        is_chord = _is_chord(event.key)
        if event.key == "enter":
            self._press_enter(event.time, is_burst)
        elif event.is_printable and event.character and not is_chord:
            self._type(event.character, event.time)
        elif event.key == "tab" and is_burst:
            self._type("\t", event.time)
        elif not (self._press_in_completion(event.key) or await self._run_own_binding(event.key)):
            event.prevent_default(is_chord)
            return
        event.stop()
        event.prevent_default()

    async def _run_own_binding(self, key: str) -> bool:
        active = self.screen.active_bindings.get(key)
        if active is None or active.node is not self or not active.enabled:
            return False
        return await self.app.run_action(active.binding.action, self)

    def _type(self, character: str, time: float) -> None:
        self._replace_via_keyboard(character, *self.selection)
        if pieces := self._report.feed(character, time):
            row, column = self.cursor_location
            self._delete_via_keyboard((row, max(0, column - pieces)), (row, column))

    def check_consume_key(self, key: str, character: str | None = None) -> bool:
        """Leave Alt and its like to whoever binds them."""
        return not _is_chord(key) and super().check_consume_key(key, character)

    # Enter acts a moment later, when nothing has followed it: lines that are pasted without marks arrive as keys.

    def _press_enter(self, time: float, is_burst: bool) -> None:
        if is_burst:
            self.action_break_line()
        else:
            self._entered = time
            self._wait_for_more(is_first=True)

    def _wait_for_more(self, is_first: bool) -> None:
        self._timer = self.set_timer(BURST, partial(self._end_wait, monotonic(), is_first))

    def _end_wait(self, since: float, is_first: bool) -> None:
        is_late = monotonic() - since > 2 * BURST
        if is_late and is_first:  # the app was busy, and keys may be on their way here
            self._wait_for_more(is_first=False)
        else:
            self._act_on_enter()

    def _settle_enter(self, event: events.Key) -> None:
        """Decide what the Enter before this key was."""
        if self._entered is None:
            return
        is_text = event.is_printable or event.key in _BURST_KEYS
        if is_text and event.time - self._entered < BURST:
            self._forget_enter()
            self._burst.begin()
            self.action_break_line()
        else:
            self._act_on_enter()

    def _act_on_enter(self) -> None:
        self._forget_enter()
        row, column = self.cursor_location
        if self.selection.is_empty and self.document[row][:column].endswith("\\"):
            self.selection = Selection((row, column - 1), (row, column))
            self.action_break_line()
        elif self.completion and not self.completion.is_exact:
            self.complete()
        elif self.text.strip():
            self.submit()
        else:
            self.post_message(self.EnteredNothing())

    def submit(self) -> None:
        """Say that this text is to be sent, if there is any."""
        if self.text.strip():
            self.post_message(self.Submitted(self.full_text))

    def _forget_enter(self) -> None:
        self._entered = None
        if self._timer is not None:
            self._timer.stop()

    def action_break_line(self) -> None:
        """Break the line at the cursor."""
        self._replace_via_keyboard("\n", *self.selection)

    # Keys that go to the list of what is offered first, then to the text, then to the screen

    def update_suggestion(self) -> None:
        """Offer commands, or ask for files, while the text may be the beginning of one."""
        typed = self._beginning()
        self._is_dismissed = self._is_dismissed and bool(typed)
        if self._is_dismissed or not typed.startswith("@"):
            self.completion = None if self._is_dismissed else completion(typed, self.commands)
        else:
            self.post_message(self.FilesWanted(typed[1:]))

    def offer_files(self, letters: str, paths: Sequence[str]) -> None:
        """Offer these paths, if these letters are still what stands behind the `@`."""
        if not self._is_dismissed and self._beginning() == f"@{letters}":
            self.completion = path_completion(f"@{letters}", paths)

    def _beginning(self) -> str:
        """What may be completed: the whole text if it is a command's, the word before the cursor if it is a path's."""
        if self.document.line_count == 1 and self.document[0].startswith("/"):
            return self.document[0]
        row, column = self.cursor_location
        word = _MENTION.search(self.document[row], 0, column)
        return word[0] if word else ""

    def paste(self, text: str) -> None:
        """Put in what a text from outside means."""
        super().paste(self.meaning(text))

    def _press_in_completion(self, key: str) -> bool:
        if self.completion is None or key not in ("tab", "escape"):
            return False
        if key == "tab":
            self.complete()
        else:
            self._is_dismissed, self.completion = True, None
        return True

    def complete(self, index: int | None = None) -> None:
        """Put the chosen text, or the one at this index, in place of what was typed."""
        if self.completion is None or self.completion.typed != self._beginning():
            return
        by = 0 if index is None else index - self.completion.index
        row, column = self.cursor_location
        is_path = self.completion.typed.startswith("@")
        start = (row, column - len(self.completion.typed)) if is_path else (0, 0)
        end = (row, column) if is_path else self.document.end
        self._replace_via_keyboard(self.completion.moved(by).chosen, start, end)

    def action_cursor_up(self, select: bool = False) -> None:
        """Move up, in the list of commands if there is one; ask for history on the first row."""
        is_first = self.navigator.is_first_wrapped_line(self.cursor_location)
        if not self._move_in_completion(-1) and not self._ask_history(-1, is_first and not select):
            super().action_cursor_up(select)

    def action_cursor_down(self, select: bool = False) -> None:
        """Move down, in the list of commands if there is one; ask for history on the last row."""
        is_last = self.navigator.is_last_wrapped_line(self.cursor_location)
        if not self._move_in_completion(1) and not self._ask_history(1, is_last and not select):
            super().action_cursor_down(select)

    def _move_in_completion(self, by: int) -> bool:
        if self.completion is not None:
            self.completion = self.completion.moved(by)
        return self.completion is not None

    def _ask_history(self, direction: Literal[-1, 1], is_asked: bool) -> bool:
        if is_asked:
            self.post_message(self.HistoryRequested(direction))
        return is_asked

    def action_scroll(self, step: ScrollStep) -> None:
        """Ask for the transcript to be scrolled."""
        self.post_message(self.ScrollRequested(step))


def _is_chord(key: str) -> bool:
    """Is a modifier held that makes a letter something else than text?"""
    return any(key.startswith(f"{modifier}+") for modifier in ("alt", "super", "hyper", "meta"))
