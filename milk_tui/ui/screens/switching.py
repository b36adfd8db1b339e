"""What can be switched about the local agent while it runs: its mode, its model, its grants and its MCP servers."""

from typing import TYPE_CHECKING

from textual.screen import Screen

from milk_tui.ui.screens.grants import GrantsScreen
from milk_tui.ui.screens.mcp import McpScreen
from milk_tui.ui.screens.model_picker import ModelPicker
from milk_tui.ui.widgets.prompt import Prompt
from milk_tui.ui.widgets.prompt_box import PromptBox

if TYPE_CHECKING:
    from milk_tui.ui.screens.chat import ChatScreen

_MODES = {"plan": True, "plans": True, "work": False}
_SAID = {
    (
        "local",
        True,
    ): "From now on the local agent looks and plans only: it changes, runs and fetches nothing.",
    ("local", False): "From now on the local agent may ask to change files and to run commands.",
    (
        "claude",
        True,
    ): "From your next prompt on Claude looks and plans only, and shows its plan for you to approve.",
    ("claude", False): "From your next prompt on Claude may ask to change files and to run commands.",
}
_BY_ITSELF = {
    True: "Claude plans only from here on, and will show its plan for you to approve.",
    False: "Claude works from here on, and asks as it always does.",
}
_WORD = "The user has switched to planning only."


class Switching:
    """Opens the lists and does what is chosen there."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen
        self._bench = screen.bench

    def mode(self, word: str = "") -> None:
        """Let whoever has the floor plan only, or work; without a word, the other of the two."""
        before = self._bench.toolbox.plans_only
        plans = _MODES.get(word.strip().lower(), None if word.strip() else not before)
        if plans is None:
            self._screen.tell(f"There is no mode “{word}”: /mode plan or /mode work.")
            return
        self._bench.toolbox.plans_only = plans
        self.show_mode()
        if plans != before:
            self._screen.tell(_SAID[self._screen.talk.floor, plans])
        if plans and self._screen.asking.is_of_local:
            self._screen.asking.refuse(_WORD)

    def follow(self, plans_only: bool) -> None:
        """Claude has changed its mode: when its plan was approved, or when it went to plan by itself."""
        if plans_only != self._bench.toolbox.plans_only:
            self._bench.toolbox.plans_only = plans_only
            self.show_mode()
            self._screen.tell(_BY_ITSELF[plans_only])

    def show_mode(self) -> None:
        """Draw the mode where it can be seen all the time."""
        plans = self._bench.toolbox.plans_only
        self._screen.query_one(PromptBox).plans_only = plans
        self._screen.stating.planning(plans)

    def grants(self) -> None:
        """Show what is allowed without a question."""
        self._screen.app.push_screen(GrantsScreen(self._bench.desk))

    def servers(self) -> None:
        """Show the MCP servers; what there is to say about them is said when the list is left."""
        servers = self._bench.toolbox.servers

        def tell(_nothing: None) -> None:
            for notice in servers.notices():
                self._screen.tell(notice)

        self._screen.app.push_screen(McpScreen(servers, str(self._bench.settings.home / "tui.json")), tell)

    def models(self) -> None:
        """Choose another model for the local agent; the conversation stays."""
        if self._screen.talk.is_busy:
            self._screen.tell("A turn is running. Esc stops it; then choose another model.")
        else:
            self._screen.run_worker(self._models(), group="models", exclusive=True, exit_on_error=False)

    async def _models(self) -> None:
        choice = await self._screen.app.push_screen_wait(ModelPicker(self._bench.choices))
        setup = self._screen.setup
        if choice is None:
            return
        if choice.kind == "address":
            await setup.ask_address()
        elif choice.kind == "server":
            await setup.use(choice.url, choice.facts.name)
        elif choice.is_here:
            await setup.use_embedded()
        else:
            self._screen.tell("The built-in model is being fetched (98 MB); then it answers.")
            setup.pull()


class SwitchActions(Screen[None]):
    """The part of the chat's actions that is about it."""

    switching: Switching

    def action_switch_or_previous(self) -> None:
        """In the prompt switch the mode; elsewhere go to the pane before."""
        if isinstance(self.focused, Prompt):
            self.switching.mode()
        else:
            self.focus_previous()

    def action_mode(self, word: str = "") -> None:
        """Let whoever has the floor plan only, or work."""
        self.switching.mode(word)

    def action_choose_model(self, _text: str = "") -> None:
        """Choose the local agent's model."""
        self.switching.models()

    def action_permissions(self, _text: str = "") -> None:
        """Show what is allowed without a question."""
        self.switching.grants()

    def action_mcp(self, _text: str = "") -> None:
        """Show the MCP servers."""
        self.switching.servers()
