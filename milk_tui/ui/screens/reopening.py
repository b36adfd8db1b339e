"""Going from one session to another: the list, a new one, a fork, a search, and what is taken out of a session."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any

from textual import on
from textual.screen import Screen

from milk_tui.conversation.library import Library
from milk_tui.conversation.workbench import Workbench
from milk_tui.core.errors import MilkError
from milk_tui.core.messages import Turn
from milk_tui.core.secrets import found, looks
from milk_tui.storage.search.words import Query
from milk_tui.ui.screens.search import SearchScreen
from milk_tui.ui.screens.session_picker import SessionPicker
from milk_tui.ui.screens.title import TitleScreen
from milk_tui.ui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from milk_tui.ui.app import MilkApp
    from milk_tui.ui.screens.chat import ChatScreen

_NOWHERE = "No sessions are kept here."


class Reopening:
    """Opens the lists and does what is chosen there. The app puts the other session on the screen."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen
        self._bench = screen.bench
        origin = screen.talk.session.state.origin
        if origin is not None:
            screen.story.note(f"Forked from “{origin.title}” after its turn {origin.turn}.")

    def sessions(self, words: str = "") -> None:
        """Show the sessions, those first that fit the words; and open the chosen one."""
        self._do(lambda library: self._sessions(library, words))

    def open(self, session_id: str) -> None:
        """Open a session."""
        self._do(lambda library: self._open_known(library, session_id))

    def begin(self) -> None:
        """Begin a session in the same directory; this one is kept."""
        cwd = self._screen.talk.session.state.cwd
        self._do(lambda library: self._begin(library, cwd))

    def search(self, words: str = "") -> None:
        """Look for words in all sessions, and go to the chosen message."""
        self._do(lambda library: self._search(library, words))

    def fork(self, key: str = "") -> None:
        """Go on with a copy of this session: up to the block of that key, or all of it.

        From a prompt on, it is to be said in another way: the prompt comes along unsent.
        """
        self._do(lambda library: self._fork(library, key))

    def rename(self, title: str = "") -> None:
        """Say what the session is called, or be asked for it."""
        self._do(lambda library: self._rename(library, title))

    def export(self, name: str = "") -> None:
        """Write the whole session to a new file, in the form that its name asks for."""
        self._do(lambda library: self._export(library, name))

    def go_to(self, message_id: str, words: str) -> None:
        """Bring a message into view and mark it, with the line in which the words are."""
        story, turns = self._screen.story, self._screen.talk.session.turns
        number = int(message_id.partition(".")[0])
        turn = next((turn for turn in turns if turn.number == number), None)
        key = story.key_of(turn, message_id) if turn is not None else None
        if key is None:
            self._screen.tell("That message is not in the conversation any more.")
            return
        transcript = self._screen.query_one(Transcript)
        block = next(block for block in transcript.blocks if block.key == key)
        transcript.go_to(key, Query(words).place_in(block.body))
        transcript.focus()

    def _do(self, work: Callable[[Library], Coroutine[Any, Any, None]]) -> None:
        """Do something that may fail; what went wrong is told. This screen may be gone before it is done."""
        library = self._bench.library
        if library is None:
            self._screen.tell(_NOWHERE)
            return
        known = library

        async def guarded() -> None:
            try:
                await work(known)
            except MilkError as error:
                self._screen.tell(str(error))
            except Exception as error:
                self._screen.mishaps.admit(error)

        self._screen.app.run_worker(guarded(), group="sessions", exclusive=True)

    async def _sessions(self, library: Library, words: str) -> None:
        cwd = self._screen.talk.session.state.cwd
        chosen = await self._screen.app.push_screen_wait(SessionPicker(library, cwd, words))
        if chosen is not None:
            await self._open(lambda: library.reopened(chosen))

    async def _open_known(self, library: Library, session_id: str) -> None:
        if session_id != self._screen.talk.session.state.id:
            await self._open(lambda: library.reopened(session_id))

    async def _search(self, library: Library, words: str) -> None:
        goal = await self._screen.app.push_screen_wait(SearchScreen(library, words))
        if goal is None:
            return
        if goal.hit.session == self._screen.talk.session.state.id:
            self.go_to(goal.hit.message, goal.words)
        else:
            chat = await self._open(lambda: library.reopened(goal.hit.session))
            chat.call_after_refresh(chat.reopening.go_to, goal.hit.message, goal.words)

    async def _begin(self, library: Library, cwd: str) -> None:
        await self._open(lambda: library.begun(cwd))

    async def _fork(self, library: Library, key: str) -> None:
        self._must_be_free()
        session = self._screen.talk.session
        turn = self._turn(key)
        blocks = self._screen.query_one(Transcript).blocks
        is_prompt = any(block.key == key and block.kind == "user" for block in blocks)
        if turn is None:
            name = await library.forked(session.state.id)
        elif not is_prompt:
            name = await library.forked(session.state.id, turn.number)
        elif turn is session.turns[0]:
            name = ""
        else:
            name = await library.forked(session.state.id, turn.number - 1)
        chat = await self._open(lambda: library.reopened(name) if name else library.begun(session.state.cwd))
        if turn is not None and is_prompt:
            chat.prompt.write(turn.prompt)

    def _turn(self, key: str) -> Turn | None:
        number = self._screen.story.turn_of(key)
        return next((turn for turn in self._screen.talk.session.turns if turn.number == number), None)

    async def _rename(self, library: Library, title: str) -> None:
        session = self._screen.talk.session
        written = title or await self._screen.app.push_screen_wait(TitleScreen(session.title))
        if written is not None:
            await library.rename(session.state.id, written)
            self._screen.tell(f"This session is called “{session.title}”.")

    async def _export(self, library: Library, name: str) -> None:
        state = self._screen.talk.session.state
        path, text = await library.export(state.id, name or f"session-{state.id[:8]}.md", state.cwd)
        count = len(found(text))
        hint = f" {looks(count)} in it; nothing is masked." if count else ""
        self._screen.tell(f"{len(text):,} characters are in {path}, which only you may read.{hint}")

    async def _open(self, opening: Callable[[], Awaitable[Workbench]]) -> "ChatScreen":
        self._must_be_free()
        return await self._app.change_session(opening())

    def _must_be_free(self) -> None:
        """Raise `MilkError` if leaving this session would stop or lose something."""
        if self._screen.talk.is_busy:
            raise MilkError("A turn is running.", "Esc stops it; then go to another session.")
        if not self._screen.talk.is_saved:
            raise MilkError(
                "This session could not be saved, and would be lost.", "/export saves it elsewhere."
            )

    @property
    def _app(self) -> "MilkApp":
        from milk_tui.ui.app import MilkApp

        app = self._screen.app
        assert isinstance(app, MilkApp)
        return app


class SessionActions(Screen[None]):
    """The part of the chat's actions that is about it."""

    reopening: Reopening

    @on(Transcript.Wanted)
    def _fork_at(self, event: Transcript.Wanted) -> None:
        if event.wish == "fork":
            self.reopening.fork(event.block.key)

    def action_sessions(self, words: str = "") -> None:
        """Show the sessions."""
        self.reopening.sessions(words)

    def action_new_session(self, _text: str = "") -> None:
        """Begin a session."""
        self.reopening.begin()

    def action_search(self, words: str = "") -> None:
        """Look for words in all sessions."""
        self.reopening.search(words)

    def action_fork(self, _text: str = "") -> None:
        """Go on with a copy of this session."""
        self.reopening.fork()

    def action_rename(self, title: str = "") -> None:
        """Say what the session is called."""
        self.reopening.rename(title)

    def action_export(self, name: str = "") -> None:
        """Write the whole session to a file."""
        self.reopening.export(name)
