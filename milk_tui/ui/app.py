"""The app: theme tokens, stylesheets, the one main screen, and the last place where an error is caught."""

import asyncio
import gc
import sys
from collections.abc import Awaitable, Iterable
from functools import partial
from importlib import import_module
from typing import ClassVar

from rich.text import Text
from textual import work
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.theme import Theme

from milk_tui.conversation.commands import COMMANDS
from milk_tui.conversation.workbench import Workbench
from milk_tui.storage.mistakes import written_down
from milk_tui.ui.markdown.render import warm_up
from milk_tui.ui.screens.chat import ChatScreen
from milk_tui.ui.styling import stylesheets, theme_tokens
from milk_tui.ui.themes import OWN
from milk_tui.ui.widgets.pasted import Draft


class MilkApp(App[None]):
    """milk-tui in a terminal."""

    TITLE = "milk-tui"
    ENABLE_COMMAND_PALETTE = True
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "quit", "Quit", tooltip="Leave; the session is kept", id="app.quit", priority=True),
    ]

    def __init__(self, bench: Workbench) -> None:
        super().__init__(css_path=list(stylesheets()), watch_css=False)
        self._bench = bench
        self._drafts: dict[str, Draft] = {}
        """What is being written in sessions that are not on the screen."""
        for theme in OWN:
            self.register_theme(theme)

    def on_mount(self) -> None:
        """Show the chat; everything heavy is loaded after its first frame."""
        theme = self._bench.settings.theme
        if theme and theme in self.available_themes:
            self.theme = theme
        self.theme_changed_signal.subscribe(self, self._keep_theme)
        self.push_screen(ChatScreen(self._bench))
        self.call_after_refresh(self._settle)

    async def change_session(self, opening: Awaitable[Workbench]) -> ChatScreen:
        """Put another session in the place of the one on the screen; what was being written there waits for it.

        Raises:
            MilkError: it cannot be opened; nothing has changed.
        """
        bench, before = await opening, self._bench
        chat = next(screen for screen in self.screen_stack if isinstance(screen, ChatScreen))
        self._drafts[before.conversation.session.state.id] = chat.prompt.draft
        self._bench, after = bench, ChatScreen(bench)
        await self.switch_screen(after)
        after.prompt.restore(self._drafts.pop(bench.conversation.session.state.id, Draft()))
        if before.library is not None:
            await before.library.exchange(bench)
        return after

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Our own colours, taken from the theme's."""
        return theme_tokens(self.current_theme)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The palette: our commands first, then Textual's own."""
        if isinstance(screen, ChatScreen):
            for command in COMMANDS:
                yield SystemCommand(command.help, command.name, partial(screen.run_command, command, ""))
        yield from super().get_system_commands(screen)

    def _fatal_error(self) -> None:
        """A mistake of ours that nobody caught, or one after it: the first is told in a sentence."""
        error = sys.exc_info()[1]
        if error is None or self._exit_renderables:
            return
        log = written_down(self._bench.settings.home, error)
        where = f" {log} says more." if log else ""
        self.panic(
            Text(f"milk-tui made a mistake ({type(error).__name__}) and ended. Your session is kept.{where}")
        )

    def _keep_theme(self, theme: Theme) -> None:
        problem = self._bench.keep(theme=theme.name)
        if problem:
            self.notify(problem, severity="warning", markup=False)

    @work(exit_on_error=False)
    async def _settle(self) -> None:
        """After the first frame: load what the first answer needs, then let the collector never look at it again."""
        await asyncio.to_thread(warm_up)
        await asyncio.to_thread(import_module, "milk_tui.agents.server.chat")
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000, 20, 100)
        gc.enable()
