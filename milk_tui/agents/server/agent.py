"""The local agent on a server that is named in the settings: asks who the server is when it is first needed.

The server may come up later, load another model or be gone for a while; whatever it is, a turn is tried and the chat
agent says what came of it.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from milk_tui.agents.base import Agent, Sized, TurnRequest
from milk_tui.agents.server.facts import Server, ServerFacts, normalised_url
from milk_tui.agents.server.probe import inspect
from milk_tui.core.errors import Failure
from milk_tui.core.events import AgentEvent, AgentFailed

if TYPE_CHECKING:
    from milk_tui.agents.server.body import Overhead

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

    def overhead(self, nonce: str, project: str = "") -> "Overhead | None":
        """What every request carries before anything is said; `None` until the server has been asked who it is."""
        from milk_tui.agents.server.chat import OpenAIChat

        return self._chat.overhead(nonce, project) if isinstance(self._chat, OpenAIChat) else None

    def share(self) -> int | None:
        """A quarter of the window in bytes of text; see `Sized`."""
        return self._chat.share() if isinstance(self._chat, Sized) else None

    async def close(self) -> None:
        """Close the connections; the next turn opens them again."""
        chat, self._chat = self._chat, None
        if chat is not None:
            await chat.close()

    async def _introduced(self) -> Agent:
        if self._chat is None:
            key = self._api_key.get_secret_value() if self._api_key else None
            facts = await inspect(self.url, key, model=self._model)
            self._chat = self._make_chat(chosen(facts, key, self._model, self._window))
        return self._chat


def chosen(facts: ServerFacts, key: str | None, model: str, window: int | None) -> Server:
    """The server as the user wants it used: the settings' model, and their window where it can be chosen.

    A server that does not say whether it takes tools is asked with tools.
    """
    server = facts.server(key)
    changes: dict[str, Any] = {
        "model": model or facts.model,
        "supports_tools": facts.supports_tools or facts.kind == "openai",
        "text_tools": True,
    }
    if window and (facts.kind == "ollama" or not server.has_known_window):
        changes["window"] = min(window, facts.trained_window or window)
        changes["window_is_assumed"] = False
    return server.model_copy(update=changes)


def _is_worth_asking_again(failure: Failure) -> bool:
    return failure.kind in _MODEL_MAY_BE_WRONG
