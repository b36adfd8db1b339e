"""All sessions: found by writing, opened with Enter; renamed, forked, exported and deleted by keys."""

from collections.abc import Coroutine
from pathlib import Path
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from milk_tui.conversation.library import Library, Listed
from milk_tui.core.errors import MilkError
from milk_tui.ui.screens.filtering import FilterScreen
from milk_tui.ui.screens.mishaps import mistake
from milk_tui.ui.screens.title import TitleScreen

MOST_ROWS = 200
"""Rows that are drawn; more words bring the others."""

_PATH_CHARS = 30
_LOOKING = "Looking…"
_NONE = "No session yet: what is said here is kept, and is in this list then."
_NO_FIT = "No session fits what is written. /search looks through all that was said."


def _key(keys: str, action: str, description: str, tooltip: str) -> Binding:
    # Asked before the line, in which some of these letters would move the cursor.
    return Binding(keys, action, description, tooltip=tooltip, id=f"sessions.{action}", priority=True)


class SessionPicker(FilterScreen[str]):
    """Gives the id of the session to open, or nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        _key("ctrl+r,f2", "rename", "Rename", "Say what the chosen session is called"),
        _key("ctrl+f,f5", "fork", "Fork", "Go on with a copy of the chosen session"),
        _key("ctrl+e,f6", "export", "Export", "Write the chosen session to a file in this directory"),
        _key("ctrl+d,f8", "delete", "Delete", "Delete the chosen session when you quit"),
        _key("ctrl+z,f7", "undo", "Undo", "Take back the last deletion"),
    ]
    TITLE_TEXT = "Sessions"
    HINT = "Enter opens · Ctrl+R renames, F forks, E exports, D deletes, Z undoes"
    PLACEHOLDER = "words of the title, the directory or the first prompt"

    def __init__(self, library: Library, cwd: str, words: str = "") -> None:
        """`cwd` is where exports go."""
        super().__init__(words)
        self._library = library
        self._cwd = cwd
        self._all: list[Listed] | None = None
        self._rows: list[Listed] = []

    def on_mount(self) -> None:
        """Look."""
        self.state("")
        self.show_rows([], _LOOKING)
        self._do(self._look())

    def fit(self) -> None:
        """Show the sessions in which all words stand."""
        if self._all is None:
            return
        words = self.words.casefold().split()
        fitting = [each for each in self._all if all(word in _searched(each) for word in words)]
        self._rows = fitting[:MOST_ROWS]
        self.show_rows([row(each) for each in self._rows], _NO_FIT if self._all else _NONE)
        left = len(fitting) - len(self._rows)
        self.state(f"{left:,} more: write more words." if left else "")

    def take(self, index: int) -> None:
        """Open a session, unless it is open somewhere."""
        chosen = self._rows[index]
        if chosen.is_open_elsewhere:
            self._say(
                f"It is open in another window{_process(chosen)}. Close it there, or fork it with Ctrl+F."
            )
        else:
            self.dismiss(None if chosen.is_open_here else chosen.entry.id)

    def action_rename(self) -> None:
        """Ask for a title."""
        if chosen := self._chosen:
            self._do(self._rename(chosen))

    def action_fork(self) -> None:
        """Fork the session and open the fork."""
        if chosen := self._chosen:
            self._do(self._fork(chosen))

    def action_export(self) -> None:
        """Write the session as Markdown."""
        if chosen := self._chosen:
            self._do(self._export(chosen))

    def action_delete(self) -> None:
        """Put the session into the bin."""
        if chosen := self._chosen:
            self._do(self._delete(chosen))

    def action_undo(self) -> None:
        """Take the last one out of the bin."""
        if self._library.take_back() is None:
            self._say("Nothing was deleted since the program began.")
        else:
            self._do(self._look())

    @property
    def _chosen(self) -> Listed | None:
        index = self.index
        return self._rows[index] if index is not None and index < len(self._rows) else None

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something that may fail; what went wrong is said."""

        async def guarded() -> None:
            try:
                await work
            except MilkError as error:
                self._say(str(error))
            except Exception as error:
                self._say(mistake(error))

        self.run_worker(guarded(), exit_on_error=False)

    async def _look(self) -> None:
        self._all = await self._library.listed()
        self.fit()

    async def _rename(self, chosen: Listed) -> None:
        title = await self.app.push_screen_wait(TitleScreen(chosen.entry.title))
        if title is not None:
            await self._library.rename(chosen.entry.id, title)
            await self._look()

    async def _fork(self, chosen: Listed) -> None:
        self.dismiss(await self._library.forked(chosen.entry.id))

    async def _export(self, chosen: Listed) -> None:
        name = f"session-{chosen.entry.id[:8]}.md"
        path, text = await self._library.export(chosen.entry.id, name, self._cwd)
        self._say(f"{len(text):,} characters are in {path}, which only you may read.")

    async def _delete(self, chosen: Listed) -> None:
        await self._library.delete(chosen.entry.id)
        await self._look()
        self._say(f"“{chosen.entry.title}” is deleted when you quit. Ctrl+Z takes it back.")

    def _say(self, text: str) -> None:
        self.notify(text, markup=False)


def row(listed: Listed) -> Content:
    """A session as two lines."""
    entry = listed.entry
    turns = f"{entry.turns:,} turn" + ("" if entry.turns == 1 else "s")
    facts = [
        "◆ Claude" if entry.floor == "claude" else "● local",
        f"{entry.used_at.astimezone():%Y-%m-%d %H:%M}",
        turns,
        _short(entry.cwd),
    ]
    if listed.is_open_here:
        facts.insert(0, "open here")
    if listed.is_open_elsewhere:
        facts.insert(0, f"open in another window{_process(listed)}")
    if entry.words and entry.words != entry.title:
        facts.append(entry.words)
    return Content.assemble((entry.title, "bold"), "\n", (f"  {' · '.join(facts)}", "$foreground-muted"))


def _searched(listed: Listed) -> str:
    entry = listed.entry
    return f"{entry.title}\n{entry.words}\n{entry.cwd}\n{entry.floor}\n{entry.id}".casefold()


def _process(listed: Listed) -> str:
    return f" (process {listed.owner})" if listed.owner else ""


def _short(cwd: str) -> str:
    """A directory with `~` for the user's home; of a long one the end, for it names the project."""
    home = str(Path.home())
    path = f"~{cwd[len(home) :]}" if cwd == home or cwd.startswith(f"{home}/") else cwd
    return path if len(path) <= _PATH_CHARS else f"…{path[1 - _PATH_CHARS :]}"
