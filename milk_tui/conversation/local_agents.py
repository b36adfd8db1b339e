"""Who fills the local role: the server that is set, else the embedded model, else nobody.

A server that was merely found is offered to the user and never chosen here.
"""

from milk_tui.agents.base import Agent
from milk_tui.agents.embedded.agent import EmbeddedAgent, EmbeddedModel
from milk_tui.agents.embedded.weights import find_weights
from milk_tui.agents.no_model import NoModel
from milk_tui.agents.server.agent import ServerAgent
from milk_tui.agents.server.facts import Server
from milk_tui.agents.toolbox import Toolbox
from milk_tui.conversation.toolbox import EquippedAgent, SessionToolbox
from milk_tui.storage.config import Settings

EMBEDDED_ANSWER = 512
"""Tokens: a model this small rambles when it may."""


def chat_on(server: Server, max_tokens: int, toolbox: Toolbox | None = None) -> Agent:
    """The chat agent on a server."""
    from milk_tui.agents.server.chat import ChatSettings, OpenAIChat

    return OpenAIChat(server, ChatSettings(max_tokens=max_tokens), toolbox)


def agent_at(settings: Settings, toolbox: SessionToolbox, url: str, model: str = "") -> EquippedAgent:
    """The local agent on the server at this address. Raises `ConfigError` when it is no address."""
    agent = ServerAgent(
        url,
        lambda server: chat_on(server, settings.max_tokens, toolbox),
        model=model,
        api_key=settings.api_key,
        window=settings.window,
    )
    return EquippedAgent(agent, toolbox)


def local_agent(settings: Settings, toolbox: SessionToolbox) -> Agent:
    """The agent that the settings choose for the local role. The embedded model is too small for tools."""
    if settings.url:
        return agent_at(settings, toolbox, settings.url, settings.model or "")
    if has_embedded(settings):
        model = EmbeddedModel(settings.home, settings.model_path)
        return EmbeddedAgent(model, lambda server: chat_on(server, min(settings.max_tokens, EMBEDDED_ANSWER)))
    return NoModel()


def has_embedded(settings: Settings) -> bool:
    """Whether the built-in model may be used and its weights are on this machine."""
    return settings.embedded and find_weights(settings.home, settings.model_path) is not None
