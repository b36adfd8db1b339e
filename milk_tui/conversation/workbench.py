"""Everything a screen works with: the conversation, its settings, and what can be changed about them while it runs.

Built once by whoever joins the parts. The demo and tests put other checks and agents into it.
"""

import asyncio
from collections.abc import Awaitable, Callable

from milk_tui.agents.embedded.weights import Progress, fetch
from milk_tui.agents.server.facts import normalised_url
from milk_tui.conversation import checkup
from milk_tui.conversation.checkup import Check, LocalCheckup
from milk_tui.conversation.controller import Conversation
from milk_tui.conversation.local_agents import agent_at, local_agent
from milk_tui.conversation.permissions import PermissionDesk
from milk_tui.conversation.toolbox import SessionToolbox
from milk_tui.core.errors import ConfigError
from milk_tui.storage import config
from milk_tui.storage.config import Settings


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
        keeps_settings: bool = True,
    ) -> None:
        self.settings = settings
        self.conversation = conversation
        self.desk = desk
        self.toolbox = toolbox
        self.notices = notices
        """What the user should be told when the screen opens."""
        self._check_local = check_local
        self._check_claude = check_claude
        self._keeps_settings = keeps_settings

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
        changes = {"url": normalised_url(url), "model": model or None}
        self.settings = self.settings.model_copy(update=changes)
        await self.conversation.use_local(agent)
        return self.keep(**changes)

    async def fetch_model(self, progress: Progress) -> None:
        """Fetch the built-in model and put it in the local role. Raises `ModelError`."""
        await asyncio.to_thread(fetch, self.settings.home, progress)
        await self.conversation.use_local(local_agent(self.settings, self.toolbox))

    def keep(self, **changes: object) -> str:
        """Write settings to our own file; returns why that failed, or nothing."""
        if not self._keeps_settings:
            return ""
        try:
            config.save(self.settings.home, **changes)
        except ConfigError as error:
            return str(error)
        return ""
