"""The prompt in the user's own editor, opened from the chat and taken back when that is closed.

A turn that runs goes on meanwhile.
"""

from contextlib import suppress
from typing import TYPE_CHECKING

from textual.screen import Screen
from textual.worker import Worker, WorkerCancelled

from milk_tui.core.errors import MilkError
from milk_tui.ui.lending import LendingApp

if TYPE_CHECKING:
    from milk_tui.ui.screens.chat import ChatScreen


class Editing:
    """Opens the editor. What is written stays in the prompt until there is something else to put there."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen
        self._prompt = screen.prompt
        self._worker: Worker[None] | None = None
        self._given = ""
        """What the editor was opened on."""

    def open(self) -> None:
        """Open it on the prompt, with large pastes in full."""
        self._worker = self._screen.run_worker(
            self._edit(), group="editor", exclusive=True, exit_on_error=False
        )

    async def close(self) -> None:
        """End it, and take what was saved in it."""
        if self._worker is not None and not self._worker.is_finished:
            self._worker.cancel()
            with suppress(WorkerCancelled):
                await self._screen.workers.wait_for_complete([self._worker])

    async def _edit(self) -> None:
        from milk_tui.conversation.own_editor import edit

        app = self._screen.app
        assert isinstance(app, LendingApp)
        self._given = self._prompt.full_text
        try:
            await edit(self._given, self._screen.talk.session.state.cwd, app.lend, self._take)
        except MilkError as error:
            self._screen.tell(str(error))
        self._prompt.focus()

    def _take(self, text: str) -> None:
        """Put it into the prompt, behind what came back there meanwhile, such as the prompt of a failed turn."""
        now = self._prompt.full_text
        self._prompt.rewrite(text if now in (self._given, "") else f"{now}\n\n{text}")


class EditActions(Screen[None]):
    """The part of the chat's actions that is about it."""

    editing: Editing

    def action_edit_outside(self) -> None:
        """Open the prompt in the user's own editor."""
        self.editing.open()
