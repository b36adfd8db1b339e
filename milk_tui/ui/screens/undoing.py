"""Taking the last exchange back, and asking it again. What cannot be taken back is said."""

from typing import TYPE_CHECKING

from textual.screen import Screen

from milk_tui.core.errors import MilkError
from milk_tui.core.messages import Turn

if TYPE_CHECKING:
    from milk_tui.ui.screens.chat import ChatScreen


class Undoing:
    """Does it as soon as no agent is at work; a prompt that is taken back is never lost."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen
        self._talk = screen.talk

    def undo(self) -> None:
        """Take the last exchange back; its prompt goes where it can be edited."""
        self._screen.run_worker(self._undo(), group="return", exit_on_error=False)

    def retry(self) -> None:
        """Ask the same again: whoever has the floor, as before. Handing over again is shown first."""
        self._screen.run_worker(self._retry(), group="return", exit_on_error=False)

    async def _undo(self) -> None:
        turn = await self._taken_back(keeps_claude=False)
        if turn is None:
            return
        self._give(turn.prompt)
        self._screen.tell(" ".join(_words(turn)))

    async def _retry(self) -> None:
        turn = await self._taken_back(keeps_claude=True)
        if turn is None:
            return
        if turn.calls:
            self._screen.tell(_stays(turn))
        if turn.agent == "claude" and self._talk.floor == "local":
            self._give(turn.prompt)
            self._screen.action_escalate()
        else:
            queue = self._talk.queue
            queue.put(turn.prompt, 0)  # kept there until it is accepted, whatever is written in the prompt
            queue.send_now(queue.items[0].id)

    async def _taken_back(self, *, keeps_claude: bool) -> Turn | None:
        """The turn that is no more; `None` if that was refused."""
        last = self._talk.session.turns[-1] if self._talk.session.turns else None
        try:
            updates = await self._talk.undo(keeps_claude=keeps_claude)
        except MilkError as error:
            self._screen.tell(str(error))
            return None
        for update in updates:
            self._screen.show(update)
        self._screen.show_floor()
        return last

    def _give(self, prompt: str) -> None:
        """Put a prompt back; where something else is written meanwhile, in front of what is queued."""
        if not self._screen.prompt.full_text:
            self._screen.prompt.write(prompt)
        else:
            self._talk.queue.put(prompt, 0)
            self._talk.queue.hold("taken back")
            self._screen.queueing.show()


class UndoActions(Screen[None]):
    """The part of the chat's actions that is about it."""

    undoing: Undoing

    def action_undo(self, _text: str = "") -> None:
        """Take the last exchange back."""
        self.undoing.undo()

    def action_retry(self, _text: str = "") -> None:
        """Ask the same again."""
        self.undoing.retry()


def _words(turn: Turn) -> list[str]:
    """What was done, and what was not."""
    words = ["The last exchange is taken back."]
    if turn.calls:
        words.append(_stays(turn))
    if turn.agent == "claude":
        words.append("Claude's own session still knows it, so the next hand-off starts a fresh one.")
    return words


def _stays(turn: Turn) -> str:
    count = len(turn.calls)
    return f"What its {count} tool {'call' if count == 1 else 'calls'} did, to files too, is not undone."
