"""Model servers as values: their addresses, and what has to be known to talk to one.

Asks nobody and opens no connection; `milk_tui.agents.server.probe` finds the facts.
"""

import re
from ipaddress import ip_address
from typing import Literal
from urllib.parse import SplitResult, urlsplit

from pydantic import SecretStr

from milk_tui.core.errors import ConfigError
from milk_tui.core.messages import Value

ServerKind = Literal["llama.cpp", "ollama", "openai"]
ServerState = Literal["ok", "loading", "unreachable", "refused", "not_a_model_server"]

ASSUMED_WINDOW = 8_192
"""Tokens taken for granted where a server does not say."""
OLLAMA_WINDOW = 16_384
"""Tokens asked of Ollama where nobody says otherwise: its own default is too small for tools and their results, and
what a model was trained for often takes more memory than there is."""


class Server(Value):
    """A server, and what has to be known to talk to one of its models."""

    url: str
    """The base address as `normalised_url` gives it, `/v1` included."""
    model: str = ""
    api_key: SecretStr | None = None
    window: int | None = None
    """The most tokens that the model reads; `None` where nobody has asked yet."""
    window_is_assumed: bool = False
    """The window is our guess. On Ollama it is never one: the server does what we ask."""
    supports_tools: bool = False
    """Tools are offered in the request's own field; a refusal is found out and remembered."""
    text_tools: bool = False
    """Where the server has no place for tools, they are described in the system prompt."""
    kind: ServerKind = "openai"

    @property
    def tokens(self) -> int:
        """The window to work with, assumed where it is not known."""
        return self.window or ASSUMED_WINDOW

    @property
    def has_known_window(self) -> bool:
        """The server itself has said how much its model reads."""
        return self.window is not None and not self.window_is_assumed


class ModelFacts(Value):
    """One model that a server offers, with what the server says of it."""

    name: str
    """As the server wants it asked for; see `shown_name`."""
    parameters: str = ""
    """How many it has, as in `7.6B`; empty where nobody says."""
    size: int | None = None
    """Bytes."""
    quantization: str = ""
    window: int | None = None
    """The most tokens that it reads."""
    supports_tools: bool | None = None
    """`None` where the server does not say."""


class ServerFacts(Value):
    """What a server said when it was asked who it is."""

    url: str
    state: ServerState
    kind: ServerKind = "openai"
    models: tuple[str, ...] = ()
    offered: tuple[ModelFacts, ...] = ()
    """The same models, with what the server says of each."""
    model: str = ""
    """The model that window and tools are about: the one asked for, else the first."""
    window: int = ASSUMED_WINDOW
    window_is_assumed: bool = True
    trained_window: int | None = None
    """The most tokens that the model was made to read, where the server says."""
    supports_tools: bool = False
    """The server says that its model knows tools."""
    words: str = ""
    """The server's own words, where the state is not "ok"; at most 300 characters."""

    def server(self, api_key: str | None = None) -> Server:
        """The server as an agent needs it."""
        return Server(
            url=self.url,
            model=self.model,
            api_key=SecretStr(api_key) if api_key else None,
            window=self.window,
            window_is_assumed=self.window_is_assumed,
            supports_tools=self.supports_tools,
            kind=self.kind,
        )


def normalised_url(address: str) -> str:
    """The base address of a server, as in `http://127.0.0.1:8080/v1`.

    Takes `host:port`, with or without a scheme, a trailing slash, `/v1` or the path of one of its endpoints.

    Raises:
        ConfigError: this is no address.
    """
    parts = _split(address)
    path = re.sub(r"/(chat/completions|completions|models)$", "", parts.path.rstrip("/")).rstrip("/")
    if not path.endswith("/v1"):
        path += "/v1"
    return f"{parts.scheme}://{parts.netloc.lower()}{path}"


def shown_name(model: str) -> str:
    """A model's name as it is shown: of a path, which is how llama.cpp names a file, the last part."""
    is_path = model.endswith(".gguf") or re.match(r"[/\\.~]|[A-Za-z]:[/\\]", model)
    return re.split(r"[/\\]", model.rstrip("/\\"))[-1] if is_path else model


def is_loopback(url: str) -> bool:
    """Whether the address is on this machine."""
    host = (urlsplit(url).hostname or "").rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _split(address: str) -> SplitResult:
    text = address.strip()
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        fits = bool(parts.hostname) and parts.port != 0
    except ValueError:
        fits = False
    if not fits or parts.scheme not in ("http", "https") or re.search(r"\s", text):
        raise ConfigError(
            f"“{address}” is not the address of a server.", "Write it as http://127.0.0.1:8080."
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise ConfigError(
            "The address of a server cannot hold a user name, a password or a query.",
            "Write only the address, as in http://127.0.0.1:8080, and set the key by itself.",
        )
    return parts
