"""The hand-off preview: exactly what would leave for Claude, part by part, before anything does."""

from collections.abc import Awaitable, Callable
from time import monotonic
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.reactive import reactive
from textual.screen import ModalScreen
from textual.widgets import Static

from milk_tui.conversation.checkup import Check
from milk_tui.conversation.forecast import Forecast
from milk_tui.core.bricks import BrickLine
from milk_tui.core.secrets import found, looks
from milk_tui.core.text import sanitize
from milk_tui.ui.screens.handoff_words import facts, flip_hint, price
from milk_tui.ui.screens.masking import Masking
from milk_tui.ui.screens.preview_keys import PREVIEW, SHAPING_HINT
from milk_tui.ui.screens.preview_rows import changed_rows, rows
from milk_tui.ui.widgets.line_editor import LineEditor
from milk_tui.ui.widgets.line_list import LineList
from milk_tui.ui.widgets.prompt import Prompt

DEAF_SECONDS = 0.5
"""How long a preview that the user did not ask for ignores Enter: it may have been meant for the chat."""


class PreviewScreen(ModalScreen[str | None]):
    """Enter gives the prompt to send, Esc gives nothing. What was written is in `written` either way."""

    AUTO_FOCUS = "#preview-prompt"
    BINDINGS: ClassVar[list[BindingType]] = PREVIEW

    claude: reactive[Check | None] = reactive(None, init=False)
    """What is known about Claude Code; `None` while it is being looked at."""

    is_masked: reactive[bool] = reactive(False, init=False)
    """Whether what looks like a secret is masked in what is shown and sent."""

    is_comparing: reactive[bool] = reactive(False, init=False)
    """Whether only what is different from the last hand-off is shown."""

    def __init__(
        self,
        forecast: Callable[[bool | None, bool], Forecast],
        claude: Check | None,
        look: Callable[[], Awaitable[Check]],
        shape: Callable[[LineList.Wanted, Callable[[], None]], None],
    ) -> None:
        """Show a forecast. Unless Claude Code is there, it is looked at again.

        Args:
            forecast: Makes it, for a fresh start, a resume or neither, and masked or not.
            claude: What is known about Claude Code.
            look: Looks at it.
            shape: Does what is wanted of a line, and calls back once something has changed.
        """
        super().__init__()
        self.fresh: bool | None = None
        """What the user chose: a fresh start, a resume, or nothing."""
        self.jump_to: BrickLine | None = None
        """The line whose message the user wants to see instead."""
        self._make = forecast
        self._shape = shape
        self._take()
        self.written = self._plain.prompt
        """The prompt as the user left it."""
        self.deaf_seconds = DEAF_SECONDS if self._plain.reason else 0.0
        self._masking = Masking()
        self._look = look
        self._opened_at = monotonic()
        self.set_reactive(PreviewScreen.claude, claude)

    def compose(self) -> ComposeResult:
        """The facts, the parts in the order in which they are sent, and the prompt."""
        with Vertical(id="preview", classes="dialog") as dialog:
            dialog.border_title = "Hand over to Claude Code"
            yield Static(id="preview-facts", markup=False)
            yield Static(id="preview-line", markup=False)
            with VerticalScroll(id="preview-parts", can_focus=False):
                yield LineList(id="preview-lines")
            yield LineEditor()
            yield Static(id="preview-sender", markup=False)
            prompt = Prompt(placeholder="What should Claude do?", id="preview-prompt")
            prompt.border_title = "Prompt to send with it"
            yield prompt
            yield Static(id="preview-hint", classes="dialog-hint", markup=False)

    def on_mount(self) -> None:
        """Put the prompt where it can still be changed."""
        self.query_one(Prompt).write(self._plain.prompt)
        self.watch_is_masked()
        self.watch_claude()
        if self.claude is None or not self._can_send:
            self.run_worker(self._look_again(), exit_on_error=False)

    def _take(self) -> None:
        """Take the forecasts for the present choice."""
        self._plain, self._masked = self._make(self.fresh, False), self._make(self.fresh, True)
        handoff = self._plain.handoff
        added = self._plain.reason if handoff.situation == "resume" else ""
        self._in_parts = sum(len(found(text)) for text in (added, *(part.text for part in handoff.parts)))

    @property
    def _forecast(self) -> Forecast:
        return self._masked if self.is_masked else self._plain

    def watch_is_masked(self) -> None:
        """Show the parts as they would leave now. A masked hand-off has the same parts in the same order."""
        shown = self._forecast
        self.query_one("#preview-facts", Static).update(Content("\n".join(facts(shown))))
        self.query_one("#preview-lines", LineList).show(
            list(
                changed_rows(shown.handoff, shown.handed, shown.handed_turn)
                if self.is_comparing
                else rows(shown.handoff, self._plain.handoff)
            )
        )
        self._show_line()

    def watch_is_comparing(self) -> None:
        """Show all of it, or only what is different."""
        self.query_one("#preview-parts", VerticalScroll).scroll_home(animate=False)
        self.watch_is_masked()

    @on(LineList.Wanted)
    def _take_wish(self, event: LineList.Wanted) -> None:
        """Shape a line, edit it here, or leave for the message that it came from."""
        event.stop()
        if event.wish == "edit" and event.text is None:
            self.query_one(LineEditor).open(event.row, self.query_one(LineList))
        elif event.wish == "jump" and event.row.line is not None and event.row.line.sources:
            self.jump_to = event.row.line
            self.action_back()
        else:
            self._shape(event, self._follow)

    def _follow(self) -> None:
        """Show the hand-off as it is after a change."""
        self._take()
        self.watch_is_masked()

    @on(Prompt.Changed)
    def _show_line(self) -> None:
        """The line that leaving begins at, with what is known of it."""
        text = self.query_one(Prompt).full_text
        forecast = self._forecast.model_copy(update={"prompt": text})
        line = f"Below leaves this machine · {price(forecast)}"
        parts = self._in_parts
        prompt = self._masking.count if self.is_masked else len(found(text))
        if self.is_masked:
            count = "once" if parts + prompt == 1 else f"{parts + prompt:,} times"
            line += f"\nMasked in this hand-off: what looks like a secret, {count} (a hint, no promise) · F3 unmasks"
        elif parts + prompt:
            line += f"\n{looks(parts + prompt)} (a hint, no promise) · F3 masks"
        self.query_one("#preview-line", Static).update(Content(line))

    def watch_claude(self) -> None:
        """Say through whom it leaves, or why it cannot."""
        self.set_class(not self._can_send, "-blocked")
        self.query_one("#preview-sender", Static).update(self._sender())
        self._show_hint()

    def on_descendant_focus(self) -> None:
        """Other keys work now."""
        self._show_hint()

    def _show_hint(self) -> None:
        """The keys that work where the focus is."""
        if isinstance(self.focused, LineList):
            self.query_one("#preview-hint", Static).update(SHAPING_HINT)
            return
        keys = "Enter sends · Esc goes back" if self._can_send else "Esc goes back"
        # With a choice to tell of, the line has no room for more on a small terminal.
        middle = flip_hint(self._forecast)
        start = f"{keys} · {middle}" if middle else f"{keys}, nothing lost"
        self.query_one("#preview-hint", Static).update(f"{start} · Tab to the lines")

    @property
    def _can_send(self) -> bool:
        return self.claude is None or self.claude.state != "failed"

    @on(Prompt.Submitted)
    def send(self, event: Prompt.Submitted) -> None:
        """Send, if there is somebody to send to and something to say."""
        event.stop()
        is_deaf = monotonic() - self._opened_at < self.deaf_seconds
        if self.is_masked and found(event.text):
            # Written since: it must be seen as it leaves before it does.
            self._masking.mask(self.query_one(Prompt))
            self._show_line()
        elif self._can_send and event.text.strip() and not is_deaf:
            self.written = event.text
            self.dismiss(event.text)

    @on(Prompt.ScrollRequested)
    def _keep_scroll(self, event: Prompt.ScrollRequested) -> None:
        event.stop()

    def action_back(self) -> None:
        """Leave without sending."""
        prompt = self.query_one(Prompt)
        self._masking.unmask(prompt)
        self.written = prompt.full_text
        self.dismiss(None)

    def action_mask(self) -> None:
        """Mask what looks like a secret in parts and prompt, or show it again."""
        prompt = self.query_one(Prompt)
        if self.is_masked:
            self._masking.unmask(prompt)
        elif self._in_parts or found(prompt.full_text):
            self._masking.mask(prompt)
        else:
            self.notify("Nothing here looks like a secret.", markup=False)
            return
        self.is_masked = not self.is_masked

    def action_flip(self) -> None:
        """Start fresh instead of resuming, or the other way round; what is shown follows."""
        route = self._plain.route
        if route is None or not route.has_choice:
            return
        self.fresh = not route.is_fresh
        self._follow()
        self.query_one("#preview-parts", VerticalScroll).scroll_home(animate=False)
        self.watch_claude()

    def action_compare(self) -> None:
        """Show what is different from the last hand-off, or all of it again."""
        if self._plain.handed_turn:
            self.is_comparing = not self.is_comparing
        else:
            self.notify("Nothing was handed over in this session yet.", markup=False)

    def action_scroll(self, pages: int) -> None:
        """Read on while the prompt keeps the focus."""
        parts = self.query_one("#preview-parts", VerticalScroll)
        parts.scroll_relative(y=pages * max(parts.size.height - 1, 1), animate=False)

    async def _look_again(self) -> None:
        self.claude = await self._look()

    def _sender(self) -> Content:
        if self.claude is None:
            return Content("Looking at Claude Code…")
        words = "Leaves through Claude Code" if self._can_send else "Cannot be sent:"
        return Content(f"{words} {sanitize(self.claude.text)}")
