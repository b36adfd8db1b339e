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
from milk_tui.core.prices import dollars
from milk_tui.core.secrets import found, looks
from milk_tui.core.text import sanitize
from milk_tui.ui.screens.masking import Masking, marked
from milk_tui.ui.widgets.prompt import Prompt

DEAF_SECONDS = 0.5
"""How long a preview that the user did not ask for ignores Enter: it may have been meant for the chat."""

_HOW = {
    "first": "Starts a Claude session, which knows nothing but this.",
    "agent": "Starts a Claude session, as the local agent asks.",
    "resume": "Resumes Claude's session with what is new since its last turn.",
}


class PreviewScreen(ModalScreen[str | None]):
    """Enter gives the prompt to send, Esc gives nothing. What was written is in `written` either way."""

    AUTO_FOCUS = "#preview-prompt"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", tooltip="Send nothing, keep what is written", id="preview.back"),
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
        Binding(
            "f3", "mask", "Mask", tooltip="Mask what looks like a secret, or show it again", id="preview.mask"
        ),
    ]

    claude: reactive[Check | None] = reactive(None, init=False)
    """What is known about Claude Code; `None` while it is being looked at."""

    is_masked: reactive[bool] = reactive(False, init=False)
    """Whether what looks like a secret is masked in what is shown and sent."""

    def __init__(
        self,
        forecast: Forecast,
        masked: Forecast,
        claude: Check | None,
        look: Callable[[], Awaitable[Check]],
    ) -> None:
        """Show a forecast, and if it is wanted the masked one. Unless Claude Code is there, it is looked at again."""
        super().__init__()
        self.written = forecast.prompt
        """The prompt as the user left it."""
        self.deaf_seconds = DEAF_SECONDS if forecast.reason else 0.0
        self._plain, self._masked = forecast, masked
        self._masking = Masking()
        added = forecast.reason if forecast.handoff.situation == "resume" else ""
        self._in_parts = sum(len(found(text)) for text in (added, *(p.text for p in forecast.handoff.parts)))
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
                for _ in self._plain.handoff.parts:
                    yield Static(classes="preview-heading", markup=False)
                    yield Static(classes="preview-text", markup=False)
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

    @property
    def _forecast(self) -> Forecast:
        return self._masked if self.is_masked else self._plain

    def watch_is_masked(self) -> None:
        """Show the parts as they would leave now. A masked hand-off has the same parts in the same order."""
        self.query_one("#preview-facts", Static).update(Content("\n".join(facts(self._forecast))))
        headings, texts = self.query(".preview-heading"), self.query(".preview-text")
        for part, heading, text in zip(as_sent(self._forecast.handoff), headings, texts, strict=True):
            assert isinstance(heading, Static) and isinstance(text, Static)
            heading.update(self._heading(part))
            text.update(marked(part.text.strip("\n")))
        self._show_line()

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
        keys = "Enter sends · Esc goes back" if self._can_send else "Esc goes back"
        self.query_one("#preview-hint", Static).update(f"{keys}, nothing lost · PgUp, PgDn read")

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


def price(forecast: Forecast) -> str:
    """What it costs to have it read, as far as that is known."""
    cost = forecast.cost_usd
    return "price unknown" if cost is None else f"about {dollars(cost)} to send (input only)"


def facts(forecast: Forecast) -> Iterator[str]:
    """What kind of hand-off it is, its size, and what is not in it."""
    handoff = forecast.handoff
    yield _HOW[handoff.situation]
    size = f"{handoff.chars:,} characters, about {estimated_tokens(handoff.chars):,} tokens"
    is_smaller = handoff.history_chars > handoff.chars
    yield f"{size}, instead of {handoff.history_chars:,} of history" if is_smaller else size
    if forecast.left_out:
        yield f"Left out: {'; '.join(forecast.left_out)}"
    if forecast.reason and handoff.situation == "resume":
        yield f"Added to the prompt: {with_reason('', forecast.reason).strip()}"
