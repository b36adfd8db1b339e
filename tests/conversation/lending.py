"""A library of stored sessions, with scripted agents for whatever is opened."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path

from milk_tui.agents.scripted import Reply, Say, ScriptedAgent
from milk_tui.conversation.checkup import Check, LocalCheckup
from milk_tui.conversation.controller import Conversation
from milk_tui.conversation.library import Library
from milk_tui.conversation.opening import Opened, new_session
from milk_tui.conversation.permissions import PermissionDesk
from milk_tui.conversation.toolbox import SessionToolbox
from milk_tui.conversation.workbench import Workbench
from milk_tui.core.session import Session
from milk_tui.storage.config import Settings
from milk_tui.storage.drafts import Drafts
from milk_tui.storage.session_store import SessionStore
from tests.storage import stored_sessions


class Lending:
    """A home folder, its library, and every agent that was put on a bench."""

    def __init__(self, home: Path, replies: Sequence[Reply] = ((Say("Local answer."),),)) -> None:
        self.home = home
        self.settings = Settings.model_validate({"home": home, "embedded": False})
        self.agents: list[tuple[ScriptedAgent, ScriptedAgent]] = []
        self.library = Library(home, self.assembled)
        self._replies = replies

    def keep(self, name: str, *said: tuple[str, str], cwd: str = "/tmp") -> Session:
        """Store a session."""
        session = stored_sessions.new_session(name, cwd)
        for prompt, answer in said:
            stored_sessions.say(session, prompt, answer)
        with closing(SessionStore(self.home)) as store:
            store.save(session)
        return session

    def stored(self, name: str) -> Session:
        """A session as it is on disk."""
        with closing(SessionStore(self.home)) as store:
            return store.load(name)

    def assembled(self, settings: Settings, opened: Opened) -> Workbench:
        """A bench with scripted agents."""
        state = opened.session.state
        desk = PermissionDesk()
        local = ScriptedAgent(self._replies, model="small")
        claude = ScriptedAgent(((Say("Claude's answer."),),), model="opus", session_id="claude-1")
        self.agents.append((local, claude))
        talk = Conversation(opened.session, local=local, claude=claude, store=opened.keeper)

        async def end() -> None:
            opened.keeper.close()

        return Workbench(
            settings,
            talk,
            desk,
            SessionToolbox(settings, state.cwd, state.id, desk.ask),
            opened.notices,
            check_local=_look,
            check_claude=_look_at_claude,
            keeps_settings=False,
            end=end,
            drafts=Drafts(self.home),
        )

    def begin(self, cwd: str = "/tmp") -> Workbench:
        """The first bench: a new session in this directory."""
        bench = self.assembled(self.settings, new_session(SessionStore(self.home), self.settings, cwd))
        self.library.hold(bench)
        return bench


async def _look(_settings: Settings) -> LocalCheckup:
    return LocalCheckup(
        check=Check(name="Local model", state="ok", text="small at http://127.0.0.1:1/v1"),
        window=Check(name="Window", state="ok", text="8,192 tokens"),
    )


async def _look_at_claude(_settings: Settings) -> Check:
    return Check(name="Claude Code", state="ok", text="2.1, your subscription")


@asynccontextmanager
async def lending(home: Path) -> AsyncIterator[Lending]:
    """A library with a new session open; closed at the end."""
    lent = Lending(home)
    lent.begin()
    yield lent
    await lent.library.close()
