"""All sessions of one home, and the one that is open: listed, searched, renamed, forked, deleted and exchanged.

One of it lives as long as the program. What takes time is done beside the event loop, each time with files that are
opened and closed for it. The only place where one open session takes another one's place is `Library.exchange`.
"""

import asyncio
from collections.abc import Callable, Collection
from contextlib import closing
from pathlib import Path
from threading import Event

from milk_tui.conversation.elsewhere import saved
from milk_tui.conversation.opening import Opened, alone, forked_from, new_session, stored
from milk_tui.conversation.workbench import Workbench
from milk_tui.core.errors import MilkError
from milk_tui.core.messages import Value
from milk_tui.core.session import Session
from milk_tui.core.text import sanitize
from milk_tui.storage import shelf
from milk_tui.storage.config import Settings
from milk_tui.storage.exporting.forms import exported, form_of
from milk_tui.storage.locks import held_elsewhere
from milk_tui.storage.reading import SessionEntry
from milk_tui.storage.search.searcher import Found, Searcher
from milk_tui.storage.search.words import Query
from milk_tui.storage.session_store import SessionStore

LISTED = 5_000
"""Sessions that are listed at the most, the last used ones."""

Assembled = Callable[[Settings, Opened], Workbench]
"""Puts an opened session on a workbench with its agents."""


class Listed(Value):
    """One session in the list."""

    entry: SessionEntry
    is_open_here: bool = False
    is_open_elsewhere: bool = False
    owner: int | None = None
    """The process that has it open, as far as that says so."""


class Library:
    """The sessions of one home folder. All that can fail raises `MilkError`."""

    def __init__(self, home: Path, assembled: Assembled) -> None:
        self._home = home
        self._assembled = assembled
        self._bench: Workbench | None = None
        self._bin = shelf.Bin(home)
        self._is_closed = Event()
        self._leaving: asyncio.Task[None] | None = None
        """Closes the session before, whoever stops waiting for that."""

    def hold(self, bench: Workbench) -> None:
        """The session on this bench is the one that is open."""
        self._bench = bench
        bench.library = self

    async def listed(self) -> list[Listed]:
        """The sessions, last used first, without the deleted ones."""
        return await asyncio.to_thread(self._listed)

    async def prompts(self) -> list[str]:
        """What was written in all sessions but the open one, newest first and each text once."""
        here = self._bench.conversation.session.state.id if self._bench is not None else ""
        return await asyncio.to_thread(self._prompts, (here, *self._bin.sessions))

    async def catch_up(self, told: Callable[[float], None]) -> None:
        """Bring the index up to date. `told` is called from another thread with the part that is done."""
        await asyncio.to_thread(self._catch_up, told)

    async def search(self, query: Query, limit: int) -> Found:
        """Search what is in the index, the newest messages first."""
        return await asyncio.to_thread(self._search, query, limit)

    async def reopened(self, session_id: str) -> Workbench:
        """Open a session, unless another window has it open."""
        await self._left()
        return await asyncio.to_thread(self._open, lambda store, settings: alone(store, settings, session_id))

    async def begun(self, cwd: str) -> Workbench:
        """Begin a session in a directory."""
        return await asyncio.to_thread(self._open, lambda store, settings: new_session(store, settings, cwd))

    async def forked(self, session_id: str, up_to: int | None = None) -> str:
        """Fork a session as it was after a turn, or as it is; the fork's id."""
        open_one = self._open_session(session_id)
        return await asyncio.to_thread(self._fork, session_id, up_to, open_one)

    async def exchange(self, bench: Workbench) -> None:
        """Let this bench take the place of the one before.

        That one's agents end with their processes, what is unsaved is written, and its lock is given back.
        """
        before = self._bench
        self.hold(bench)
        if before is not None:
            self._leaving = asyncio.create_task(before.close(), name="leave a session")
            await self._left()
            self._leaving.result()

    async def rename(self, session_id: str, title: str) -> None:
        """Give a session a title; an empty one gives it back the one that it makes itself."""
        if self._bench is not None and self._open_session(session_id) is not None:
            self._bench.conversation.rename(title)
        else:
            await asyncio.to_thread(shelf.rename, self._home, session_id, sanitize(title))

    async def delete(self, session_id: str) -> None:
        """Put a session into the bin, from which it can be taken back until the program ends."""
        if self._open_session(session_id) is not None:
            raise MilkError("This session is open here.", "/new begins another one; then delete this one.")
        await self._left()
        await asyncio.to_thread(self._bin.put, session_id)

    def take_back(self) -> str | None:
        """Take back the session that was deleted last; its id."""
        return self._bin.take_back()

    async def export(self, session_id: str, name: str, cwd: str) -> tuple[Path, str]:
        """Write a whole session to a new file, in the form that its name asks for; where, and the text."""
        open_one = self._open_session(session_id)
        return await asyncio.to_thread(self._export, session_id, name, cwd, open_one)

    async def close(self) -> None:
        """Close what is open, and delete what was deleted."""
        self._is_closed.set()
        await self._left()
        if self._bench is not None:
            await self._bench.close()
        await asyncio.to_thread(self._bin.empty)

    async def _left(self) -> None:
        """Wait until the session before is closed."""
        if self._leaving is not None:
            await asyncio.wait({self._leaving})

    def _open_session(self, session_id: str) -> Session | None:
        session = self._bench.conversation.session if self._bench is not None else None
        return session if session is not None and session.state.id == session_id else None

    def _listed(self) -> list[Listed]:
        here = self._bench.conversation.session.state.id if self._bench is not None else ""
        with closing(SessionStore(self._home)) as store:
            entries = store.listed(limit=LISTED)
        elsewhere = held_elsewhere(self._home, besides=(here, *self._bin.sessions))
        return [
            Listed(
                entry=entry,
                is_open_here=entry.id == here,
                is_open_elsewhere=entry.id in elsewhere,
                owner=elsewhere.get(entry.id),
            )
            for entry in entries
            if entry.id not in self._bin.sessions
        ]

    def _prompts(self, besides: Collection[str]) -> list[str]:
        with closing(SessionStore(self._home)) as store:
            return store.prompts(besides)

    def _catch_up(self, told: Callable[[float], None]) -> None:
        with closing(Searcher(self._home)) as searcher:
            searcher.catch_up(told, self._is_closed.is_set)

    def _search(self, query: Query, limit: int) -> Found:
        with closing(Searcher(self._home)) as searcher:
            return searcher.search(query, limit, besides=self._bin.sessions)

    def _open(self, opened: Callable[[SessionStore, Settings], Opened]) -> Workbench:
        assert self._bench is not None
        settings = self._bench.settings
        session = opened(SessionStore(self._home), settings)
        try:
            return self._assembled(settings, session)
        except BaseException:
            session.keeper.close()
            raise

    def _fork(self, session_id: str, up_to: int | None, open_one: Session | None) -> str:
        assert self._bench is not None
        with closing(SessionStore(self._home)) as store:
            session = open_one or stored(store, self._bench.settings, session_id)
            return forked_from(store, session, up_to)

    def _export(self, session_id: str, name: str, cwd: str, open_one: Session | None) -> tuple[Path, str]:
        assert self._bench is not None
        with closing(SessionStore(self._home)) as store:
            session = open_one or stored(store, self._bench.settings, session_id)
        text = exported(session, form_of(name))
        return saved(text, name, cwd, what="session"), text
