"""Who answers at an address: several small questions at once, and what their answers mean.

Knows llama.cpp, Ollama and LM Studio by the paths that only they have, and takes everything else with a `/v1/models`
for an OpenAI-compatible server. Trusts no field of an answer, starts nothing, and never asks a model for text.
"""

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from milk_tui.agents.server.catalogue import catalogue
from milk_tui.agents.server.facts import (
    OLLAMA_WINDOW,
    ServerFacts,
    ServerState,
    is_loopback,
    normalised_url,
)
from milk_tui.agents.server.refusals import server_words
from milk_tui.agents.server.wire import client

if TYPE_CHECKING:
    from httpx2 import AsyncClient

DISCOVERY_PORTS = (8080, 11434, 1234, 8000)
"""The default ports of llama.cpp, Ollama, LM Studio and vLLM."""
ANSWER_LIMIT = 8 * 1024 * 1024
"""Bytes of an answer that are read; a list of models is smaller."""


@dataclass(frozen=True)
class Answer:
    """What came back for one question; status 0 when nothing did."""

    status: int
    text: str

    @property
    def fields(self) -> dict[str, Any]:
        """The JSON object in a good answer; empty for anything else."""
        if self.status != 200:
            return {}
        try:
            value = json.loads(self.text)
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}


class Questions:
    """Asks one server."""

    def __init__(self, http: "AsyncClient", api_key: str | None, timeout: float) -> None:
        self._http = http
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._timeout = timeout

    async def ask(self, url: str, body: dict[str, Any] | None = None) -> Answer:
        """GET, or POST when there is a body. Whatever goes wrong is an answer with status 0 and the reason."""
        import httpx2

        method = "GET" if body is None else "POST"
        try:
            async with (
                asyncio.timeout(self._timeout),
                self._http.stream(method, url, headers=self._headers, json=body) as response,
            ):
                read = bytearray()
                async for chunk in response.aiter_bytes():
                    read += chunk
                    if len(read) > ANSWER_LIMIT:
                        return Answer(0, "the answer is too long")
                return Answer(response.status_code, read.decode("utf-8", "replace"))
        except TimeoutError:
            return Answer(0, f"no answer within {self._timeout:g} seconds")
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
            return Answer(0, str(error) or type(error).__name__)


async def inspect(
    url: str, api_key: str | None = None, *, model: str = "", timeout: float = 5.0
) -> ServerFacts:
    """Ask a server who it is. A server that does not answer is a state, not an error.

    Args:
        url: any form that `normalised_url` takes.
        api_key: sent with every question.
        model: the model to ask about; empty for the server's first.
        timeout: seconds for each question.

    Raises:
        ConfigError: the address is none.
    """
    url = normalised_url(url)
    root = url.removesuffix("/v1")
    async with client(is_local=is_loopback(url), is_tls=url.startswith("https:")) as http:
        questions = Questions(http, api_key, timeout)
        listed, props, health, tags, studio = await asyncio.gather(
            questions.ask(f"{url}/models"),
            questions.ask(f"{root}/props"),
            questions.ask(f"{root}/health"),
            questions.ask(f"{root}/api/tags"),
            questions.ask(f"{root}/api/v0/models"),
        )
        state, words = _state(listed, props, health)
        if state != "ok":
            return ServerFacts(url=url, state=state, words=words)
        offered = catalogue(listed.fields, tags.fields, studio.fields)
        facts = _openai(url, listed, model).model_copy(update={"offered": offered})
        if "default_generation_settings" in props.fields:
            return _llama_cpp(facts, props.fields)
        if isinstance(tags.fields.get("models"), list):
            return await _ollama(facts, root, questions)
        return _lm_studio(facts, studio.fields)


async def discover(ports: Sequence[int] = DISCOVERY_PORTS, *, timeout: float = 1.0) -> list[ServerFacts]:
    """The model servers on this machine, in the order of the ports; a port nobody listens on costs nothing."""
    found = await asyncio.gather(*(inspect(f"127.0.0.1:{port}", timeout=timeout) for port in ports))
    return [facts for facts in found if facts.state not in ("unreachable", "not_a_model_server")]


def _state(listed: Answer, props: Answer, health: Answer) -> tuple[ServerState, str]:
    answers = (listed, props, health)
    if all(answer.status == 0 for answer in answers):
        return "unreachable", server_words(listed.text)
    loading = next((a for a in answers if a.status == 503 and "loading" in a.text.lower()), None)
    if loading:
        return "loading", server_words(loading.text)
    if listed.status in (401, 403):
        return "refused", server_words(listed.text)
    # A server without models lists none, in words of its own: Ollama says null.
    if "data" in listed.fields or "default_generation_settings" in props.fields:
        return "ok", ""
    return "not_a_model_server", server_words(listed.text)


def _openai(url: str, listed: Answer, model: str) -> ServerFacts:
    entries = [entry for entry in _list(listed.fields.get("data")) if isinstance(entry.get("id"), str)]
    names = tuple(entry["id"] for entry in entries)
    chosen = model or (names[0] if names else "")
    facts = ServerFacts(url=url, state="ok", models=names, model=chosen)
    # vLLM says it beside the name.
    window = next((_whole(e.get("max_model_len")) for e in entries if e["id"] == chosen), None)
    return _with_window(facts, window)


def _llama_cpp(facts: ServerFacts, props: dict[str, Any]) -> ServerFacts:
    settings = props["default_generation_settings"]
    caps = props.get("chat_template_caps")
    facts = _with_window(facts, _whole(settings.get("n_ctx")) if isinstance(settings, dict) else None)
    has_tools = isinstance(caps, dict) and caps.get("supports_tools") is True
    return facts.model_copy(update={"kind": "llama.cpp", "supports_tools": has_tools})


async def _ollama(facts: ServerFacts, root: str, questions: Questions) -> ServerFacts:
    """Ollama loads a model with the window that is asked for, so the window is decided here.

    It is what the model's own file says, else our default, or more where the model is loaded with more already.
    """
    facts = facts.model_copy(update={"kind": "ollama"})
    if not facts.model:
        return facts
    running, shown = await asyncio.gather(
        questions.ask(f"{root}/api/ps"), questions.ask(f"{root}/api/show", {"model": facts.model})
    )
    capabilities = shown.fields.get("capabilities")
    facts = facts.model_copy(
        update={"supports_tools": isinstance(capabilities, list) and "tools" in capabilities}
    )
    loaded = [
        m for m in _list(running.fields.get("models")) if facts.model in (m.get("name"), m.get("model"))
    ]
    trained = _trained_window(shown.fields)
    present = (_whole(loaded[0].get("context_length")) if loaded else None) or 0
    wanted = _num_ctx(shown.fields) or max(present, OLLAMA_WINDOW)
    facts = facts.model_copy(update={"trained_window": trained})
    return _with_window(facts, min(wanted, trained) if trained else wanted)


def _num_ctx(shown: dict[str, Any]) -> int | None:
    """The window that the model's own file asks Ollama for."""
    found = re.search(r"^num_ctx\s+(\d+)", str(shown.get("parameters", "")), re.MULTILINE)
    return int(found[1]) if found else None


def _trained_window(shown: dict[str, Any]) -> int | None:
    facts = shown.get("model_info")
    if not isinstance(facts, dict):
        return None
    return next((_whole(value) for name, value in facts.items() if name.endswith(".context_length")), None)


def _lm_studio(facts: ServerFacts, studio: dict[str, Any]) -> ServerFacts:
    entry = next((e for e in _list(studio.get("data")) if e.get("id") == facts.model), None)
    if entry is None:
        return facts
    capabilities = entry.get("capabilities")
    has_tools = isinstance(capabilities, list) and "tool_use" in capabilities
    facts = facts.model_copy(update={"supports_tools": has_tools})
    return _with_window(facts, _whole(entry.get("loaded_context_length")))


def _with_window(facts: ServerFacts, window: int | None) -> ServerFacts:
    if not window:
        return facts
    return facts.model_copy(update={"window": window, "window_is_assumed": False})


def _list(value: object) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
