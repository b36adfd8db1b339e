"""Everything a screen works with: the conversation, its settings, and what can be changed about them while it runs.

Built once by whoever joins the parts. The demo and tests put other checks and agents into it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from milk_tui.agents.base import Agent
from milk_tui.agents.embedded.weights import Progress, fetch
from milk_tui.agents.server.facts import normalised_url
from milk_tui.conversation import checkup, choosing
from milk_tui.conversation.checkup import Check, LocalCheckup
from milk_tui.conversation.choosing import Choices
from milk_tui.conversation.controller import Conversation
from milk_tui.conversation.file_watch import FileWatch, Unkept
from milk_tui.conversation.local_agents import agent_at, local_agent
from milk_tui.conversation.permissions import PermissionDesk
from milk_tui.conversation.settings_table import when
from milk_tui.conversation.toolbox import EquippedAgent, SessionToolbox
from milk_tui.core.bricks import Segment
from milk_tui.core.errors import ConfigError
from milk_tui.core.file_diff import Changes
from milk_tui.core.messages import Turn
from milk_tui.storage import config
from milk_tui.storage.config import Settings
from milk_tui.storage.drafts import Drafts, StoredDraft
from milk_tui.storage.session_store import SessionStore
from milk_tui.storage.usage import UsageReport
from milk_tui.tools.file_finder import FileFinder

if TYPE_CHECKING:
    from milk_tui.conversation.library import Library


class Workbench:
    """One conversation and its surroundings."""

    def __init__(
        self,
        settings: Settings,
        conversation: Conversation,
        desk: PermissionDesk,
        toolbox: SessionToolbox,
        notices: tuple[str, ...] = (),
        *,
        check_local: Callable[[Settings], Awaitable[LocalCheckup]] = checkup.check_local,
        check_claude: Callable[[Settings], Awaitable[Check]] = checkup.check_claude,
        look_for_models: Callable[[Settings], Awaitable[Choices]] = choosing.choices,
        keeps_settings: bool = True,
        watch: FileWatch | None = None,
        end: Callable[[], Awaitable[None]] | None = None,
        drafts: Drafts | None = None,
    ) -> None:
        self.settings = settings
        self.conversation = conversation
        self.desk = desk
        self.toolbox = toolbox
        self.files = FileFinder(Path(conversation.session.state.cwd))
        """The files that a prompt can mention."""
        self.notices = notices
        """What the user should be told when the screen opens."""
        self._check_local = check_local
        self._check_claude = check_claude
        self._look_for_models = look_for_models
        self._keeps_settings = keeps_settings
        self._watch = watch
        self._end = end
        self._drafts = drafts
        self.library: Library | None = None
        """All sessions, this one among them; `None` where none are kept."""

    async def close(self) -> None:
        """Stop everything, keep everything, and let others open the session."""
        await self.conversation.close()
        await self.toolbox.close()
        if self._end is not None:
            await self._end()

    def first_draft(self) -> StoredDraft | None:
        """What was left unsent in this session; in a new one, what was left in another new one in its directory."""
        if self._drafts is None:
            return None
        session = self.conversation.session
        own = self._drafts.of_session(session.state.id)
        if own is not None or session.turns:
            return own
        return self._drafts.left_behind(session.state.cwd, self._is_stored)

    def keep_draft(self, draft: StoredDraft) -> None:
        """Keep what is not sent yet."""
        if self._drafts is not None:
            self._drafts.keep(self.conversation.session.state.id, draft)

    def _is_stored(self, session_id: str) -> bool:
        with closing(SessionStore(self.settings.home)) as store:
            return store.has(session_id)

    async def changes(self, turns: Sequence[Turn]) -> Changes:
        """The files that these turns changed, and how they differ now from before."""
        watch = self._watch or FileWatch(self.conversation.session, Unkept())
        return await watch.changes(turns)

    async def check_local(self) -> LocalCheckup:
        """Look at the local role as it is set now."""
        return await self._check_local(self.settings)

    async def check_claude(self) -> Check:
        """Look at Claude Code as it is set now."""
        return await self._check_claude(self.settings)

    async def use_server(self, url: str, model: str = "") -> str:
        """Put the server at this address in the local role, now and from now on.

        Returns what could not be kept, in a sentence; empty if all is well. Raises `ConfigError` for a bad address.
        """
        agent = agent_at(self.settings, self.toolbox, url, model)
        return await self._use(agent, url=normalised_url(url), model=model or None)

    async def use_embedded(self) -> str:
        """Put the built-in model in the local role, now and from now on; returns and raises as `use_server`."""
        settings = self.settings.model_copy(update={"url": None, "model": None})
        return await self._use(local_agent(settings, self.toolbox), url=None, model=None)

    async def fetch_model(self, progress: Progress) -> str:
        """Fetch the built-in model and put it in the local role, as `use_embedded`. Raises `ModelError`."""
        await asyncio.to_thread(fetch, self.settings.home, progress)
        return await self.use_embedded()

    async def choices(self) -> Choices:
        """The models that could fill the local role."""
        return await self._look_for_models(self.settings)

    def carried(self) -> tuple[Segment, ...]:
        """What each request to the local model carries before anything is said; empty until that is known."""
        agent = self.conversation.agents["local"]
        if not isinstance(agent, EquippedAgent):
            return ()
        return agent.carried(self.conversation.session.state.nonce)

    async def _use(self, agent: Agent, **changes: str | None) -> str:
        await self.conversation.use_local(agent)
        self.settings = self.settings.model_copy(update=changes)
        return self.keep(**changes)

    async def usage(self) -> UsageReport:
        """What all stored turns have spent. Raises `StoreError`."""
        return await asyncio.to_thread(_usage, self.settings.home)

    def change(self, key: str, text: str) -> str:
        """Set a setting to what the user wrote, or back to its default with nothing; says what came of it.

        Raises `ConfigError`: the text is no use, or it cannot be written.
        """
        if not self._keeps_settings:
            raise ConfigError("Settings are not kept here, so none can be changed.")
        config.save(self.settings.home, **{key: text.strip() or None})
        self.settings = config.reloaded(self.settings)
        if key == "agent_escalation":
            self.conversation.escalation = self.settings.agent_escalation
        return when(key, self.settings)

    def keep(self, **changes: object) -> str:
        """Write settings to our own file; returns why that failed, or nothing."""
        if not self._keeps_settings:
            return ""
        try:
            config.save(self.settings.home, **changes)
        except ConfigError as error:
            return str(error)
        return ""


def _usage(home: Path) -> UsageReport:
    """Read in one thread by a store of its own, which is closed there."""
    with closing(SessionStore(home)) as store:
        return store.usage()
