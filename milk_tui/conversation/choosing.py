"""Which models could fill the local role: the present server's, those found on this machine, the built-in one.

It asks servers who they are and chooses nothing. A server elsewhere is only asked if it is the present one.
"""

import asyncio
from typing import Literal

from milk_tui.agents.server.facts import ModelFacts, ServerFacts, is_loopback, normalised_url
from milk_tui.agents.server.probe import discover, inspect
from milk_tui.conversation.local_agents import has_embedded
from milk_tui.core.errors import ConfigError
from milk_tui.core.messages import Value
from milk_tui.storage.config import Settings


class ModelChoice(Value):
    """One model that could be chosen."""

    kind: Literal["server", "embedded", "address"]
    """On a server, built in, or on a server whose address is still to be given."""
    url: str = ""
    facts: ModelFacts = ModelFacts(name="")
    is_present: bool = False
    """It has the local role now."""
    is_here: bool = True
    """For the built-in model: its weights are on this machine."""

    @property
    def leaves(self) -> bool:
        """Whether what is said to it leaves this machine."""
        return self.kind == "server" and not is_loopback(self.url)


class Choices(Value):
    """All that can be chosen, the present server's models first, and why some cannot."""

    choices: tuple[ModelChoice, ...]
    problems: tuple[str, ...] = ()


async def choices(settings: Settings) -> Choices:
    """Look at the present server and at what serves on this machine."""
    key = settings.api_key.get_secret_value() if settings.api_key else None
    present, found = await asyncio.gather(_present(settings, key), discover())
    servers = ([present] if present else []) + [
        facts for facts in found if present is None or _place(facts.url) != _place(present.url)
    ]
    offered = [choice for facts in servers for choice in _of_server(facts, settings, present)]
    if settings.embedded:
        is_here = has_embedded(settings)
        is_present = is_here and not settings.url
        offered.append(ModelChoice(kind="embedded", is_here=is_here, is_present=is_present))
    offered.append(ModelChoice(kind="address"))
    problems = tuple(_problem(facts) for facts in servers if facts.state != "ok")
    return Choices(choices=tuple(offered), problems=problems)


async def _present(settings: Settings, key: str | None) -> ServerFacts | None:
    if not settings.url:
        return None
    try:
        return await inspect(settings.url, key, model=settings.model or "")
    except ConfigError as error:
        return ServerFacts(url=settings.url, state="unreachable", words=error.sentence)


def _of_server(facts: ServerFacts, settings: Settings, present: ServerFacts | None) -> list[ModelChoice]:
    """The models of a server; one more where the settings name a model that it does not list."""
    if facts.state != "ok":
        return []
    is_present = facts is present
    models = list(facts.offered)
    if is_present and settings.model and all(model.name != settings.model for model in models):
        models.insert(0, ModelFacts(name=settings.model))
    return [
        ModelChoice(
            kind="server",
            url=facts.url,
            facts=_completed(model, facts),
            is_present=is_present and model.name == facts.model,
        )
        for model in models or [ModelFacts(name=facts.model)]
    ]


def _completed(model: ModelFacts, facts: ServerFacts) -> ModelFacts:
    """What the server says of the model that it was asked about in particular."""
    if model.name != facts.model:
        return model
    changes: dict[str, object] = {}
    if not facts.window_is_assumed:
        changes["window"] = facts.window
    if facts.supports_tools or facts.kind != "openai":
        changes["supports_tools"] = facts.supports_tools
    return model.model_copy(update=changes)


def _place(url: str) -> str:
    """An address for comparing: all names of this machine are one."""
    scheme, _, rest = normalised_url(url).partition("://")
    host, _, path = rest.partition("/")
    return f"{scheme}://:{host.rpartition(':')[2]}/{path}" if is_loopback(url) else f"{scheme}://{rest}"


def _problem(facts: ServerFacts) -> str:
    words = f": {facts.words}" if facts.words else ""
    match facts.state:
        case "refused":
            return f"{facts.url} wants another key; MILK_API_KEY gives it{words}"
        case "loading":
            return f"{facts.url} is loading its model{words}"
        case "not_a_model_server":
            return f"{facts.url} answers, but not as a model server{words}"
        case _:
            return f"Nothing answers at {facts.url}{words}"
