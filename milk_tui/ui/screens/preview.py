"""The hand-off preview: exactly what would leave for Claude, part by part, before anything does."""

from collections.abc import Awaitable, Callable, Iterator
from time import monotonic
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.reactive import reactive
from textual.screen import ModalScreen
from textual.widgets import Static

from milk_tui.conversation.checkup import Check
from milk_tui.conversation.forecast import Forecast, with_reason
from milk_tui.core.budget import estimated_tokens
from milk_tui.core.handoff import Handoff, Part
from milk_tui.core.text import sanitize
from milk_tui.ui.widgets.prompt import Prompt

DEAF_SECONDS = 0.5
"""How long a preview that the user did not ask for ignores Enter: it may have been meant for the chat."""

_HOW = {
    "first": "Starts a Claude session, which knows nothing but this.",
    "agent": "Starts a Claude session, as the local agent asks.",
    "resume": "Resumes Claude's session with what is new since its last turn.",
}
_BY_CHOICE = {
    "first": "The new session knows nothing but this; the old one stays until this has begun.",
    "agent": "As the local agent asks; the old session stays until this has begun.",
    "resume": "It is told only what it does not know yet.",
}


class PreviewScreen(ModalScreen[str | None]):
    """Enter gives the prompt to send, Esc gives nothing. What was written is in `written` either way."""

    AUTO_FOCUS = "#preview-prompt"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", tooltip="Send nothing, keep what is written", id="preview.back"),
        Binding(
            "ctrl+r,f7",
            "flip",
            "Resume or fresh",
            tooltip="Start a fresh Claude session, or resume the one there is",
            id="preview.flip",
            priority=True,
        ),
        Binding(
            "pageup",
            "scroll(-1)",
            "Up",
            show=False,
            tooltip="Read back",
            id="preview.up",
            priority=True,
        ),
        Binding(
            "pagedown",
            "scroll(1)",
            "Down",
            show=False,
            tooltip="Read on",
            id="preview.down",
            priority=True,
        ),
    ]

    claude: reactive[Check | None] = reactive(None, init=False)
    """What is known about Claude Code; `None` while it is being looked at."""

    def __init__(
        self,
        forecast: Forecast,
        claude: Check | None,
        look: Callable[[], Awaitable[Check]],
        again: Callable[[bool], Forecast],
    ) -> None:
        """Show a forecast; `again` makes it for a fresh start or for a resume.

        Unless Claude Code is known to be there, it is looked at again.
        """
        super().__init__()
        self.written = forecast.prompt
        """The prompt as the user left it."""
        self.deaf_seconds = DEAF_SECONDS if forecast.reason else 0.0
        self._forecast = forecast
        self.fresh: bool | None = None
        """What the user chose: a fresh start, a resume, or nothing."""
        self._look = look
        self._again = again
        self._opened_at = monotonic()
        self.set_reactive(PreviewScreen.claude, claude)

    def compose(self) -> ComposeResult:
        """The facts, the parts in the order in which they are sent, and the prompt."""
        with Vertical(id="preview", classes="dialog") as dialog:
            dialog.border_title = "Hand over to Claude Code"
            yield Static(Content("\n".join(facts(self._forecast))), id="preview-facts", markup=False)
            with VerticalScroll(id="preview-parts", can_focus=False):
                yield from self._pictures()
            yield Static(id="preview-sender", markup=False)
            prompt = Prompt(placeholder="What should Claude do?", id="preview-prompt")
            prompt.border_title = "Prompt to send with it"
            yield prompt
            yield Static(id="preview-hint", classes="dialog-hint", markup=False)

    def on_mount(self) -> None:
        """Put the prompt where it can still be changed."""
        self.query_one(Prompt).write(self._forecast.prompt)
        self.watch_claude()
        if self.claude is None or not self._can_send:
            self.run_worker(self._look_again(), exit_on_error=False)

    def watch_claude(self) -> None:
        """Say through whom it leaves, or why it cannot."""
        self.set_class(not self._can_send, "-blocked")
        self.query_one("#preview-sender", Static).update(self._sender())
        self._hint()

    def _hint(self) -> None:
        route = self._forecast.route
        flip = ""
        if route is not None and route.has_choice:
            flip = " · Ctrl+R resumes instead" if route.is_fresh else " · Ctrl+R starts fresh instead"
        keys = "Enter sends · Esc goes back" if self._can_send else "Esc goes back"
        self.query_one("#preview-hint", Static).update(f"{keys}, nothing lost · PgUp, PgDn read{flip}")

    @property
    def _can_send(self) -> bool:
        return self.claude is None or self.claude.state != "failed"

    @on(Prompt.Submitted)
    def send(self, event: Prompt.Submitted) -> None:
        """Send, if there is somebody to send to and something to say."""
        event.stop()
        is_deaf = monotonic() - self._opened_at < self.deaf_seconds
        if self._can_send and event.text.strip() and not is_deaf:
            self.written = event.text
            self.dismiss(event.text)

    @on(Prompt.ScrollRequested)
    def _keep_scroll(self, event: Prompt.ScrollRequested) -> None:
        event.stop()

    def action_back(self) -> None:
        """Leave without sending."""
        self.written = self.query_one(Prompt).full_text
        self.dismiss(None)

    async def action_flip(self) -> None:
        """Start fresh instead of resuming, or the other way round; what is shown follows."""
        route = self._forecast.route
        if route is None or not route.has_choice:
            return
        self.fresh = not route.is_fresh
        self._forecast = self._again(self.fresh)
        parts = self.query_one("#preview-parts", VerticalScroll)
        self.query_one("#preview-facts", Static).update(Content("\n".join(facts(self._forecast))))
        self._hint()
        async with self.batch():
            await parts.remove_children()
            await parts.mount_all(self._pictures())
        parts.scroll_home(animate=False)

    def _pictures(self) -> Iterator[Static]:
        for part in as_sent(self._forecast.handoff):
            yield Static(self._heading(part), classes="preview-heading", markup=False)
            yield Static(Content(part.text.strip("\n")), classes="preview-text", markup=False)

    def action_scroll(self, pages: int) -> None:
        """Read on while the prompt keeps the focus."""
        parts = self.query_one("#preview-parts", VerticalScroll)
        parts.scroll_relative(y=pages * max(parts.size.height - 1, 1), animate=False)

    async def _look_again(self) -> None:
        self.claude = await self._look()

    def _heading(self, part: Part) -> Content:
        handoff = self._forecast.handoff
        is_known = handoff.situation == "resume" and part.text in handoff.standing
        words = " · as before" if is_known else ""
        return Content(f"{part.name.replace('_', ' ')} · {part.chars:,} of {part.budget:,}{words}")

    def _sender(self) -> Content:
        if self.claude is None:
            return Content("Looking at Claude Code…")
        words = "Leaves through Claude Code" if self._can_send else "Cannot be sent:"
        return Content(f"{words} {sanitize(self.claude.text)}")


def as_sent(handoff: Handoff) -> list[Part]:
    """The parts in the order in which they leave: first the standing ones, which stay in the prompt cache."""
    return sorted(handoff.parts, key=lambda part: part.text not in handoff.standing)


def facts(forecast: Forecast) -> Iterator[str]:
    """What kind of hand-off it is, its size, and what is not in it."""
    handoff = forecast.handoff
    route = forecast.route
    if route is not None and route.has_choice:
        yield f"{route.words[:1].upper()}{route.words[1:]}. {_BY_CHOICE[handoff.situation]}"
    else:
        yield _HOW[handoff.situation]
    size = f"{handoff.chars:,} characters, about {estimated_tokens(handoff.chars):,} tokens"
    is_smaller = handoff.history_chars > handoff.chars
    yield f"{size}, instead of {handoff.history_chars:,} of history" if is_smaller else size
    if forecast.left_out:
        yield f"Left out: {'; '.join(forecast.left_out)}"
    if forecast.reason and handoff.situation == "resume":
        yield f"Added to the prompt: {with_reason('', forecast.reason).strip()}"
