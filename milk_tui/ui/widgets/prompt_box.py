"""The frame around the prompt: who is spoken to, and the list of commands over it.

It joins the two widgets and holds no state of its own but the recipient's name.
"""

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.reactive import reactive

from milk_tui.ui.widgets.completion import CommandList, Completion
from milk_tui.ui.widgets.prompt import Prompt

_TITLES = {"local": "to the local agent", "claude": "to Claude, until F9 gives the floor back"}


class PromptBox(Vertical):
    """A `Prompt` in its frame. The class `-claude` says that the next prompt goes to Claude."""

    recipient: reactive[str] = reactive("local")
    """Who gets the next prompt: `local` or `claude`."""

    def __init__(self, prompt: Prompt, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.prompt = prompt

    def compose(self) -> ComposeResult:
        """The list is drawn over what stands above the frame."""
        yield CommandList()
        yield self.prompt

    def on_mount(self) -> None:
        """Let the list follow the prompt."""
        self.watch(self.prompt, "completion", self._show_completion)

    def _show_completion(self, shown: Completion | None) -> None:
        self.query_one(CommandList).completion = shown

    def on_command_list_clicked(self, event: CommandList.Clicked) -> None:
        """Take the clicked command."""
        event.stop()
        self.prompt.complete(event.index)
        self.prompt.focus()

    def watch_recipient(self, recipient: str) -> None:
        """Name who is spoken to, so that nobody has to tell it from a colour."""
        self.set_class(recipient == "claude", "-claude")
        self.border_title = _TITLES.get(recipient, "")
