"""The queue on the screen: shows it, lets it be changed, and has the next one given when nothing stands in its way."""

from typing import TYPE_CHECKING

from textual import on
from textual.screen import Screen
from textual.worker import Worker

from milk_tui.conversation.commands import parsed
from milk_tui.conversation.queue import Hold, recipients
from milk_tui.ui.widgets.prompt import Prompt
from milk_tui.ui.widgets.queue_chips import Chip, QueueChips

if TYPE_CHECKING:
    from milk_tui.conversation.controller import Conversation
    from milk_tui.ui.screens.chat import ChatScreen

_IN_THE_WAY = frozenset({"turn", "preview", "return", "models"})
"""Groups of workers during which nothing is given: a turn, and what asks the user first."""
_HELD: dict[Hold, str] = {
    "stopped": "you stopped the turn",
    "failed": "the turn failed",
    "refused": "it could not be sent",
    "reopened": "the session was reopened",
    "nobody": "no model can answer",
    "taken back": "you took an exchange back",
    "question": "Claude waits for your answer",
    "request": "the local agent asks for Claude",
}


class Queueing:
    """Stands between the prompt and the queue."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen
        self._queue = screen.talk.queue
        self._chips = screen.query_one(QueueChips)
        self._place: int | None = None
        """Where the text that is being edited was."""

    @property
    def must_wait(self) -> bool:
        """Whether what is submitted now has to be queued: somebody is at work, or others are before it."""
        return self._is_going_on() or (bool(self._queue.items) and not self._queue.held)

    def put(self, text: str) -> None:
        """Queue a text; one that was taken back for editing goes where it was."""
        self._queue.put(text, self._place)
        self._place = None
        self.show()

    def show(self) -> None:
        """Draw the queue as it is."""
        items = self._queue.items
        to = recipients(items, self._screen.talk.floor)
        self._chips.chips = tuple(
            Chip(id=item.id, text=item.text, to=role or "command")
            for item, role in zip(items, to, strict=True)
        )
        held = self._queue.held
        self._chips.foot = (
            f"Held: {_HELD[held]}. Empty Enter sends; F6 chooses."
            if held and not self._is_going_on()
            else "Sent when the turn ends; F6 chooses."
        )

    def go_on(self) -> None:
        """Give the next one, if it is due and nothing is going on."""
        item = None if self._is_going_on() else self._queue.due
        command = parsed(item.text) if item else None
        if item is None:
            pass
        elif command is not None:
            self._queue.take(item.id)
            self._screen.run_command(*command)
            self._screen.call_later(self.go_on)
        elif self._screen.talk.floor == "local" and not self._screen.setup.can_answer:
            self._queue.hold("nobody")
        else:
            self._screen.converse(self._queue.give(item), item.text)
        self.show()

    def release(self) -> None:
        """Let a held queue go; nothing happens while somebody is at work."""
        if self._queue.held and not self._is_going_on():
            self._queue.release()
            self.go_on()

    def take_back(self, id: int | None = None) -> bool:
        """Take one, else the last one, back into the prompt if that is empty; tells whether it was done."""
        items = self._queue.items
        if not items or self._screen.prompt.full_text:
            return False
        id = items[-1].id if id is None else id
        self._place = next((place for place, item in enumerate(items) if item.id == id), None)
        self._screen.prompt.write(self._queue.take(id))
        self._screen.prompt.focus()
        self.show()
        return True

    def do(self, wished: QueueChips.Wished) -> None:
        """Do what the user wants done with one of them."""
        match wished.wish:
            case "edit":
                if not self.take_back(wished.id):
                    self._screen.tell(
                        "There is a text in the prompt: send it or clear it, then edit this one."
                    )
            case "remove":
                self._queue.take(wished.id)
            case "up" | "down":
                self._queue.move(wished.id, -1 if wished.wish == "up" else 1)
            case "now":
                if self._is_going_on():
                    self._screen.stating.stopping()
                self._queue.send_now(wished.id)
                self.go_on()
        self.show()

    def _is_going_on(self) -> bool:
        return self._screen.talk.is_busy or any(
            worker.group in _IN_THE_WAY and not worker.is_finished for worker in self._screen.workers
        )


class QueueActions(Screen[None]):
    """The part of the chat's actions that is about it."""

    talk: "Conversation"
    prompt: Prompt
    queueing: Queueing

    def action_choose_queued(self) -> None:
        """Go to the queue, if there is one."""
        if self.talk.queue.items:
            self.query_one(QueueChips).focus()

    @on(Prompt.EnteredNothing)
    def _release(self) -> None:
        self.queueing.release()

    @on(QueueChips.Wished)
    def _do(self, event: QueueChips.Wished) -> None:
        self.queueing.do(event)

    @on(QueueChips.Left)
    def _leave_queue(self) -> None:
        self.prompt.focus()

    @on(Worker.StateChanged)
    def _go_on(self, event: Worker.StateChanged) -> None:
        if event.worker.is_finished:
            self.queueing.go_on()
