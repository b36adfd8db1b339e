"""The local agent on a server that is named in the settings: asks who the server is when it is first needed.

The server may come up later, load another model or be gone for a while; whatever it is, a turn is tried and the chat
agent says what came of it.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from pydantic import SecretStr

from milk_tui.agents.base import Agent, TurnRequest
from milk_tui.agents.server.facts import Server, normalised_url
from milk_tui.agents.server.probe import inspect
from milk_tui.core.errors import Failure
from milk_tui.core.events import AgentEvent, AgentFailed

_MODEL_MAY_BE_WRONG = ("unreachable", "loading", "server", "lost", "context_full")


class ServerAgent:
    """Answers on one address, whatever serves there."""

    def __init__(
        self,
        url: str,
        chat: Callable[[Server], Agent],
        *,
        model: str = "",
        api_key: SecretStr | None = None,
        window: int | None = None,
    ) -> None:
        """`chat` makes the agent that asks a given server. Raises `ConfigError` when the address is none."""
        self.url = normalised_url(url)
        self._make_chat = chat
        self._model = model
        self._api_key = api_key
        self._window = window
        self._chat: Agent | None = None

    async def run(self, request: TurnRequest) -> AsyncGenerator[AgentEvent, None]:
        """Answer one turn. After a failure the server is asked again who it is, for it may have changed."""
        chat = await self._introduced()
        async with aclosing(chat.run(request)) as events:
            async for event in events:
                if isinstance(event, AgentFailed) and _is_worth_asking_again(event.failure):
                    await self.close()
                yield event

    async def close(self) -> None:
        """Close the connections; the next turn opens them again."""
        chat, self._chat = self._chat, None
        if chat is not None:
            await chat.close()

    async def _introduced(self) -> Agent:
        if self._chat is None:
            key = self._api_key.get_secret_value() if self._api_key else None
            facts = await inspect(self.url, key, model=self._model)
            server = facts.server(key).model_copy(update={"model": self._model or facts.model})
            if self._window and (server.window is None or server.window_is_assumed):
                server = server.model_copy(update={"window": self._window, "window_is_assumed": False})
            self._chat = self._make_chat(server)
        return self._chat


def _is_worth_asking_again(failure: Failure) -> bool:
    return failure.kind in _MODEL_MAY_BE_WRONG
