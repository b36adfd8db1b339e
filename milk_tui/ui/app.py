"""The app: theme tokens, stylesheets, the one main screen, and the last place where an error is caught.

Everything imported here is loaded before the first frame; what that does not show is imported where it is used.
"""

import asyncio
import gc
import sys
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import work
from textual.app import SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.theme import Theme

from milk_tui.conversation.commands import COMMANDS
from milk_tui.core.errors import MilkError
from milk_tui.ui.holding import HoldingApp
from milk_tui.ui.lending import LendingApp
from milk_tui.ui.screens.shell import Shell
from milk_tui.ui.styling import FIRST, LATER, stylesheets, theme_tokens
from milk_tui.ui.themes import DARK, OWN
from milk_tui.ui.widgets.prompt import Prompt

if TYPE_CHECKING:
    from textual.command import Provider

    from milk_tui.conversation.workbench import Workbench
    from milk_tui.ui.screens.chat import ChatScreen


def _sessions_and_themes() -> "type[Provider]":
    from milk_tui.ui.palette import SessionsAndThemes

    return SessionsAndThemes


class MilkApp(HoldingApp, LendingApp):
    """milk-tui in a terminal."""

    TITLE = "milk-tui"
    ENABLE_COMMAND_PALETTE = True
    COMMANDS = LendingApp.COMMANDS | {_sessions_and_themes}
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "quit", "Quit", tooltip="Leave; the session is kept", id="app.quit", priority=True),
    ]

    def __init__(
        self,
        bench: "Workbench | None" = None,
        *,
        opening: "Callable[[], Awaitable[Workbench]] | None" = None,
        theme: str = "",
    ) -> None:
        """Make an app on a workbench, or one that opens a workbench once its first frame is there.

        An opening that raises a `MilkError` ends the app; whoever opened tells why.
        """
        super().__init__(css_path=list(stylesheets(FIRST)), watch_css=False)
        self._bench = bench
        self._opening = opening
        for ours in OWN:
            self.register_theme(ours)
        self._wear(DARK.name)
        self._wear(theme)

    def get_default_screen(self) -> Screen[None]:
        """What stands in for the chat until that is there."""
        return Shell() if self._bench is None else super().get_default_screen()

    def on_mount(self) -> None:
        """Show the chat if it can be; everything heavy is loaded after the first frame."""
        if self._bench is not None:
            self.push_screen(self._chat(self._bench))
        self.call_after_refresh(self._settle)

    async def change_session(self, opening: "Awaitable[Workbench]") -> "ChatScreen":
        """Put another session in the place of the one on the screen; what was being written there waits for it.

        Raises:
            MilkError: it cannot be opened; nothing has changed.
        """
        from milk_tui.ui.screens.chat import ChatScreen

        bench, before = (
            await opening,
            next(each for each in self.screen_stack if isinstance(each, ChatScreen)),
        )
        await before.drafting.finish()
        self._bench, after = bench, ChatScreen(bench)
        await self.switch_screen(after)
        if before.bench.library is not None:
            await before.bench.library.exchange(bench)
        return after

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Our own colours, taken from the theme's."""
        return theme_tokens(self.current_theme)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The palette: our commands first, then Textual's own."""
        run = getattr(screen, "run_command", None)
        if run is not None:
            for command in COMMANDS:
                yield SystemCommand(command.help, command.name, partial(run, command, ""))
        yield from super().get_system_commands(screen)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """There is no palette before there is a chat."""
        return action != "command_palette" or self._bench is not None

    def _fatal_error(self) -> None:
        """A mistake of ours that nobody caught, or one after it: the first is told in a sentence."""
        error = sys.exc_info()[1]
        if error is None or self._exit_renderables:
            return
        from milk_tui.storage.mistakes import written_down

        log = written_down(self._bench.settings.home, error) if self._bench is not None else None
        where = f" {log} says more." if log else ""
        self.panic(
            Text(f"milk-tui made a mistake ({type(error).__name__}) and ended. Your session is kept.{where}")
        )

    def _chat(self, bench: "Workbench") -> "ChatScreen":
        from milk_tui.ui.screens.chat import ChatScreen

        for sheet in stylesheets(LATER):
            self.stylesheet.read(sheet)
        self._bench = bench
        self._wear(bench.settings.theme or "")
        self.theme_changed_signal.subscribe(self, self._keep_theme)
        return ChatScreen(bench)

    def _wear(self, theme: str) -> None:
        if theme in self.available_themes:
            self.theme = theme

    def _keep_theme(self, theme: Theme) -> None:
        problem = self._bench.keep(theme=theme.name) if self._bench is not None else ""
        if problem:
            self.notify(problem, severity="warning", markup=False)

    async def _become_chat(self, opening: "Callable[[], Awaitable[Workbench]]") -> None:
        """Put the chat in the shell's place, with what was typed so far."""
        try:
            bench = await opening()
        except MilkError:
            self.exit(return_code=1)
            return
        shell = self.screen
        typed = shell.query_one(Prompt)
        async with self.held_back(typed):
            with self.batch_update():
                chat = self._chat(bench)
                await self.push_screen(chat)
                if not chat.prompt.text:
                    chat.prompt.restore(typed.draft)
                    chat.prompt.selection = typed.selection
                elif typed.text:  # behind what was left unsent the last time
                    chat.prompt.insert(typed.full_text)
                chat.prompt.focus()
                await shell.remove_children()
        if isinstance(shell, Shell) and shell.submitted == chat.prompt.full_text:
            chat.prompt.submit()

    @work
    async def _settle(self) -> None:
        """After the first frame: open, load what an answer needs, and let the collector never look at it again."""
        if self._opening is not None:
            await self._become_chat(self._opening)
        await asyncio.to_thread(_load)
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000, 20, 100)
        gc.enable()


def _load() -> None:
    """Import and compile what the first answer would wait for."""
    from milk_tui.ui.markdown.render import warm_up

    warm_up()
    import_module("milk_tui.agents.server.chat")
