"""The frame around the prompt: who is spoken to, and the list of commands over it.

It joins the two widgets and holds no state of its own but the recipient's name.
"""

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.reactive import reactive

from milk_tui.core.own_command import own_command
from milk_tui.ui.widgets.completion import Completion, CompletionList
from milk_tui.ui.widgets.prompt import Prompt

_TITLES = {"local": "to the local agent", "claude": "to Claude, until F9 gives the floor back"}


class PromptBox(Vertical):
    """A `Prompt` in its frame. The class `-claude` says that the next prompt goes to Claude."""

    recipient: reactive[str] = reactive("local")
    """Who gets the next prompt: `local` or `claude`; empty while nobody knows."""
    is_command: reactive[bool] = reactive(False)
    """Whether what is written is a command of the user's own."""
    plans_only: reactive[bool] = reactive(False)
    """Whether whoever has the floor only plans."""

    def __init__(self, prompt: Prompt, recipient: str = "local", *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.prompt = prompt
        self.set_reactive(PromptBox.recipient, recipient)

    def compose(self) -> ComposeResult:
        """The list is drawn over what stands above the frame."""
        yield CompletionList()
        yield self.prompt

    def on_mount(self) -> None:
        """Let the list follow the prompt."""
        self.watch(self.prompt, "completion", self._show_completion)

    def _show_completion(self, shown: Completion | None) -> None:
        self.query_one(CompletionList).completion = shown

    def on_completion_list_clicked(self, event: CompletionList.Clicked) -> None:
        """Take the clicked command."""
        event.stop()
        self.prompt.complete(event.index)
        self.prompt.focus()

    def watch_recipient(self) -> None:
        """Name who is spoken to, so that nobody has to tell it from a colour."""
        self.set_class(self.recipient == "claude", "-claude")
        self._write_title()

    @on(Prompt.Changed)
    def _look(self) -> None:
        self.is_command = bool(own_command(self.prompt.text))

    def watch_is_command(self) -> None:
        """Say that nobody will be asked."""
        self.set_class(self.is_command, "-command")
        self._write_title()

    def watch_plans_only(self) -> None:
        """Say what may not be expected of an agent."""
        self._write_title()

    def _write_title(self) -> None:
        if self.is_command:
            self.border_title = "! runs here, as you"
            return
        mode = " · plans only" if self.plans_only else ""
        self.border_title = _TITLES.get(self.recipient, "") + mode
