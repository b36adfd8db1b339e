"""The first frame: the chat's layout, with a prompt that takes keys while the session is still being opened.

It loads nothing that a first frame does not show: no session, no agents, no value of the core.
"""

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widgets import Footer, Static

from milk_tui.conversation.commands import COMMANDS
from milk_tui.ui.panels.registry import BrickColumn
from milk_tui.ui.panels.strip import BrickStrip
from milk_tui.ui.widgets.prompt import Prompt
from milk_tui.ui.widgets.prompt_box import PromptBox
from milk_tui.ui.widgets.status_line import Status, StatusLine

_WAITS = "your prompt is sent then"


class Shell(Screen[None]):
    """Stands in for the chat until that is there."""

    AUTO_FOCUS = "Prompt"
    submitted = ""
    """What Enter was pressed on; it is still in the prompt."""

    def compose(self) -> ComposeResult:
        """The panes without anything in them."""
        with Horizontal(id="panes"):
            with Vertical(id="conversation"):
                yield Static(id="transcript")
                yield BrickStrip(id="strip")
                yield PromptBox(new_prompt(), recipient="")
            yield BrickColumn(id="bricks")
        yield StatusLine(Status(state="opening"), id="status")
        yield Footer(show_command_palette=False)

    @on(Prompt.Submitted)
    def keep(self, event: Prompt.Submitted) -> None:
        """There is nobody yet to send it to."""
        self.submitted = event.text
        self.query_one(StatusLine).status = Status(state="opening", detail=_WAITS)


def new_prompt() -> Prompt:
    """The prompt, as the chat has it."""
    commands = [(command.name[1:], command.help) for command in COMMANDS]
    return Prompt(commands, placeholder="Write, and press Enter", id="prompt")
