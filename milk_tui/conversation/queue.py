"""The queue: what was written while an agent was at work, kept with the session until it is given to somebody.

The next one is due when a turn has ended by itself and nothing stands in its way. It leaves the queue in the moment in
which its turn begins, so that it is given once, under its own prompt, whatever happens. A queue that is held stays
until the user lets it go. Who shows it, and who runs a command that waits here, is not known.
"""

from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from itertools import takewhile
from typing import Literal

from milk_tui.conversation.commands import parsed
from milk_tui.conversation.update import Update
from milk_tui.core import events as ev
from milk_tui.core.errors import MilkError
from milk_tui.core.messages import AgentRole
from milk_tui.core.queued import Queued, moved, put, without
from milk_tui.core.session import Session
from milk_tui.core.text import sanitize

Hold = Literal["", "stopped", "failed", "refused", "reopened", "nobody", "taken back", "question", "request"]
"""Why nothing is given now; empty if nothing stands in the way.

The last turn was stopped or failed; the next one was refused before it began; the session was reopened; there is no
model to answer; an exchange was taken back; Claude's question waits for an answer; the local agent asks for Claude.
"""
_FLOOR_AFTER: dict[str, AgentRole] = {
    "return_to_local": "local",
    "escalate": "claude",
    "escalate_now": "claude",
}


class Queue:
    """What waits in one session."""

    def __init__(
        self,
        session: Session,
        *,
        send: Callable[[str], AsyncGenerator[Update, None]],
        stop: Callable[[], None],
        save: Callable[[], None],
    ) -> None:
        """Go on with what waits in the session; that of a reopened one is held.

        Args:
            session: where it is kept.
            send: gives a prompt to whoever has the floor.
            stop: stops the turn in progress.
            save: puts the session on disk.
        """
        self._session = session
        self._send = send
        self._stop = stop
        self._save = save
        self._hold: Hold = "reopened" if self.items else ""
        self._judged = self._last_turn
        """The last turn whose ending has been looked at."""
        self._first: int | None = None
        """What the user wants given as soon as nobody is at work, whatever holds the others."""

    @property
    def items(self) -> tuple[Queued, ...]:
        """What waits, the next one first."""
        return self._session.state.queue

    @property
    def held(self) -> Hold:
        """Why nothing is given now."""
        self._judge()
        if not self.items:
            return ""
        return self._hold or self._question()

    @property
    def due(self) -> Queued | None:
        """What is to be given now, if nobody is at work."""
        held = self.held
        wanted = next((each for each in self.items if each.id == self._first), None)
        return wanted or (self.items[0] if self.items and not held else None)

    def put(self, text: str, place: int | None = None) -> None:
        """Let a text wait: at the end, or at this place."""
        if not self.items:
            self._hold, self._judged = "", self._last_turn
        self._change(put(self.items, sanitize(text), place))

    def take(self, id: int) -> str:
        """Take one out; its text, empty if it has just been given."""
        found = next((each.text for each in self.items if each.id == id), "")
        if self._first == id:
            self._first = None
        self._change(without(self.items, id))
        return found

    def move(self, id: int, by: int) -> None:
        """Move one towards the front (below zero) or the end."""
        place = next((place for place, each in enumerate(self.items) if each.id == id), None)
        if place is not None:
            self._change(moved(self.items, id, place + by))

    def send_now(self, id: int) -> None:
        """Stop the turn in progress, if there is one, and give this one next."""
        self._judge()
        self._first = id
        self._change(moved(self.items, id, 0))
        self._stop()

    def hold(self, why: Hold) -> None:
        """Give nothing before the user lets it go."""
        self._hold, self._first = why, None

    def release(self) -> None:
        """The user lets it go."""
        self._judge()
        self._hold = ""
        self._first = self.items[0].id if self.items else None

    async def give(self, item: Queued) -> AsyncGenerator[Update, None]:
        """Give one to whoever has the floor. Raises `MilkError` if it is refused; then it waits on, held."""
        self._first = None
        if self._question() == "request":
            self._session.apply(ev.BriefSet(text=""))  # the user wants something else done first
        try:
            async with aclosing(self._send(item.text)) as updates:
                async for update in updates:
                    if isinstance(update.event, ev.TurnStarted) and item in self.items:
                        # Nothing is saved between the two: on disk it either waits or has its turn.
                        self._apply(without(self.items, item.id))
                    yield update
        except MilkError:
            if item in self.items:
                self.hold("refused")
            raise

    def _judge(self) -> None:
        """Look once at how each turn has ended."""
        judged, self._judged = self._judged, max(self._judged, self._last_turn)
        for turn in takewhile(lambda turn: turn.number > judged, reversed(self._session.turns)):
            # What Claude did not know any more has been asked again by the next turn.
            is_asked_again = turn.failure is not None and turn.failure.kind == "unknown_session"
            if turn.status != "finished" and not is_asked_again and self._first is None:
                self._hold = "failed" if turn.status == "failed" else "stopped"
                return

    def _question(self) -> Hold:
        """What the user should answer first."""
        if self._session.is_waiting:
            return "question"
        return "request" if self._session.state.brief and self._session.state.floor == "local" else ""

    @property
    def _last_turn(self) -> int:
        return self._session.turns[-1].number if self._session.turns else 0

    def _change(self, queue: tuple[Queued, ...]) -> None:
        self._apply(queue)
        self._save()

    def _apply(self, queue: tuple[Queued, ...]) -> None:
        self._session.apply(ev.QueueChanged(queue=queue))


def recipients(queue: tuple[Queued, ...], floor: AgentRole) -> Iterator[AgentRole | None]:
    """Who gets each of them, as far as it can be told now; `None` for a command."""
    for each in queue:
        command = parsed(each.text)
        if command is None:
            yield floor
        else:
            floor = _FLOOR_AFTER.get(command[0].action, floor)
            yield None
