"""The hand-off preview: exactly what would leave for Claude, part by part, before anything does."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from milk_tui.conversation.checkup import Check
from milk_tui.conversation.forecast import Forecast
from milk_tui.core.budget import estimated_tokens
from milk_tui.core.handoff import Part
from milk_tui.ui.widgets.prompt import Prompt

_HOW = {
    "first": "Starts a Claude session: it knows nothing but what is below.",
    "agent": "Starts a Claude session, as the local agent asks.",
    "resume": "Resumes Claude's own session: only what is new since its last turn is added.",
}


class PreviewScreen(ModalScreen[str | None]):
    """Enter gives the prompt to send, Esc gives nothing. What was written stays where it was."""

    AUTO_FOCUS = "#preview-prompt"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Back", tooltip="Send nothing", id="preview.back"),
        Binding("pageup", "scroll(-1)", "Up", show=False, id="preview.up", priority=True),
        Binding("pagedown", "scroll(1)", "Down", show=False, id="preview.down", priority=True),
    ]

    def __init__(self, forecast: Forecast, claude: Check | None) -> None:
        super().__init__()
        self._forecast = forecast
        self._claude = claude

    def compose(self) -> ComposeResult:
        """The facts, the parts in the order in which they are sent, and the prompt."""
        handoff = self._forecast.handoff
        with Vertical(id="preview", classes="dialog"):
            yield Static(self._facts(), id="preview-facts", markup=False)
            with VerticalScroll(id="preview-parts", can_focus=False):
                for part in handoff.parts:
                    yield Static(_heading(part), classes="preview-heading", markup=False)
                    yield Static(Content(part.text.strip("\n")), classes="preview-text", markup=False)
            yield Static(self._sender(), id="preview-sender", markup=False)
            prompt = Prompt(placeholder="What should Claude do?", id="preview-prompt")
            prompt.border_title = "Prompt to send with it"
            yield prompt
            yield Static(self._keys(), classes="dialog-hint", markup=False)

    def on_mount(self) -> None:
        """Put the prompt where it can still be changed."""
        self.query_one("#preview", Vertical).border_title = "Hand over to Claude Code"
        self.query_one(Prompt).write(self._forecast.prompt)
        self.set_class(not self._can_send, "-blocked")

    @property
    def _can_send(self) -> bool:
        return self._claude is None or self._claude.state != "failed"

    @on(Prompt.Submitted)
    def send(self, event: Prompt.Submitted) -> None:
        """Send, if there is somebody to send to and something to say."""
        event.stop()
        if self._can_send and event.text.strip():
            self.dismiss(event.text)

    @on(Prompt.ScrollRequested)
    def _keep_scroll(self, event: Prompt.ScrollRequested) -> None:
        event.stop()

    def action_scroll(self, pages: int) -> None:
        """Read on while the prompt keeps the focus."""
        parts = self.query_one("#preview-parts", VerticalScroll)
        parts.scroll_relative(y=pages * max(parts.size.height - 1, 1), animate=False)

    def _facts(self) -> Content:
        handoff = self._forecast.handoff
        lines = [
            _HOW[handoff.situation],
            f"{handoff.chars:,} characters, about {estimated_tokens(handoff.chars):,} tokens. "
            f"The history has {handoff.history_chars:,}; none of it is sent.",
        ]
        if self._forecast.reason:
            lines.append(f"The local agent's reason: {self._forecast.reason}")
        lines += [f"Left out: {item}." for item in self._forecast.left_out]
        return Content("\n".join(lines))

    def _sender(self) -> Content:
        if self._claude is None:
            return Content("Looking at Claude Code…")
        if self._can_send:
            return Content(f"Leaves this machine through Claude Code {self._claude.text}")
        return Content(f"Cannot be sent: {self._claude.text}")

    def _keys(self) -> str:
        back = "Esc goes back, nothing is lost"
        return f"Enter sends · {back} · PageUp and PageDown read on" if self._can_send else back


def _heading(part: Part) -> Content:
    name = part.name.replace("_", " ")
    return Content(f"{name} · {part.chars:,} of {part.budget:,}")
