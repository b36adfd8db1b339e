"""Earlier prompts: this session's and behind them all others', on Up and Down at the prompt's edges, or searched.

What was being written comes back.
"""

from typing import TYPE_CHECKING, Literal

from textual.screen import Screen

from milk_tui.conversation.earlier import prompts_of
from milk_tui.core.errors import MilkError
from milk_tui.ui.screens.prompt_picker import PromptPicker
from milk_tui.ui.widgets.pasted import Draft

if TYPE_CHECKING:
    from milk_tui.ui.screens.chat import ChatScreen


class Recalling:
    """A walk through earlier prompts, newest first, and the search among them."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen
        self._prompt = screen.prompt
        self._session = screen.talk.session
        self._others: list[str] | None = None
        """The prompts of other sessions; `None` until somebody wants them."""
        self._walk: list[str] = []
        self._back = 0
        """How many prompts back the one shown is; 0 is what the user was writing."""
        self._shown = ""
        self._draft: Draft | None = None

    def step(self, direction: Literal[-1, 1]) -> None:
        """Go one prompt back or forth."""
        if self._back == 0 or self._prompt.full_text != self._shown:
            self._back, self._draft = 0, self._prompt.draft
            self._walk = prompts_of(self._session, self._others or ())
        target = self._back - direction
        if target > len(self._walk) and self._others is None:
            self._screen.run_worker(self._step_on(), group="recall", exclusive=True, exit_on_error=False)
        elif 0 <= target <= len(self._walk):
            self._show(target)

    def search(self) -> None:
        """Find one by its words, and put it in the place of what is written."""
        self._screen.app.push_screen(PromptPicker(self._look), self._take)

    def _show(self, target: int) -> None:
        self._back = target
        if target == 0 and self._draft is not None:
            self._prompt.restore(self._draft)
        else:
            self._prompt.write(self._walk[target - 1])
        self._shown = self._prompt.full_text

    async def _step_on(self) -> None:
        """Go one back to where other sessions begin, unless somebody wrote on meanwhile."""
        shown = self._prompt.full_text
        try:
            self._others = await self._found()
        except MilkError as error:
            self._others = []
            self._screen.tell(str(error))
        if self._prompt.full_text == shown:
            self._walk = prompts_of(self._session, self._others)
            if self._back < len(self._walk):
                self._show(self._back + 1)

    async def _look(self) -> list[str]:
        self._others = await self._found()
        return prompts_of(self._session, self._others)

    async def _found(self) -> list[str]:
        library = self._screen.bench.library
        return await library.prompts() if library is not None else []

    def _take(self, text: str | None) -> None:
        if text is not None:
            self._prompt.rewrite(text)
            self._prompt.focus()


class RecallActions(Screen[None]):
    """The part of the chat's actions that is about it."""

    recalling: Recalling

    def action_recall(self) -> None:
        """Look for an earlier prompt."""
        self.recalling.search()
