"""Everything that can be set: names, kinds, bounds, defaults and what each is for.

A value and its rules. Where it is read from and written to is `storage.config`'s business.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr

from milk_tui.tools.mcp_setting import McpServer


def _line(text: str) -> str:
    text = text.strip()
    if not text or not text.isprintable():
        raise ValueError("it must be one line of visible text")
    return text


def _url(text: str) -> str:
    address = _line(text) if "://" in text else f"http://{_line(text)}"
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("it must be an address such as http://127.0.0.1:8080")
    return address


def _key(secret: SecretStr) -> SecretStr:
    text = secret.get_secret_value().strip()
    if not text or not text.isascii() or not text.isprintable():
        raise ValueError("it must be one word of ASCII characters")
    return SecretStr(text)


def _path(path: Path) -> Path:
    try:
        path = Path(_line(str(path.expanduser())))
    except RuntimeError as error:
        raise ValueError(str(error)) from error
    # A relative one would be looked for in whatever project is open, and a program found there would be run.
    if not path.is_absolute():
        raise ValueError("it must be an absolute path")
    return path


def _from_text(value: object) -> object:
    """A variable can only hold a list as JSON."""
    return json.loads(value) if isinstance(value, str) else value


Line = Annotated[str, AfterValidator(_line)]
Url = Annotated[str, AfterValidator(_url)]
Key = Annotated[SecretStr, AfterValidator(_key)]
File = Annotated[Path, AfterValidator(_path)]
Keymap = Annotated[dict[str, str], BeforeValidator(_from_text)]
Servers = Annotated[tuple[McpServer, ...], BeforeValidator(_from_text)]


class Settings(BaseModel):
    """Everything that can be set. Every field in `KEYS` is a key of `tui.json` and a `MILK_*` variable."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)

    home: Path
    warnings: tuple[str, ...] = ()
    sources: Mapping[str, str] = Field(default_factory=dict)
    """Who said what each setting is: `--url`, `MILK_URL`, `tui.json`, `config.json`; a default has none."""

    url: Url | None = Field(
        None, description="Address of the local model's server; without one, servers are looked for."
    )
    model: Line | None = Field(None, description="Name of the model to ask the server for.")
    api_key: Key | None = Field(None, description="Key sent to the local model's server, where it wants one.")
    window: int | None = Field(
        None,
        ge=256,
        description="Tokens the local model accepts, where its server does not say; for Ollama, what it is asked for.",
    )
    max_tokens: int = Field(4_096, ge=1, description="The most tokens of one answer of the local model.")
    embedded: bool = Field(True, description="Whether the built-in model answers when no server does.")
    model_path: File | None = Field(None, description="A GGUF file to use as the built-in model.")
    context_budget_chars: int = Field(
        12_000, ge=500, le=1_000_000, description="The most characters of one brick."
    )
    returning_fresh_start_local_turns: int = Field(
        8, ge=0, description="Local turns after which a hand-off starts Claude afresh; 0 for never."
    )
    agent_escalation: Literal["ask", "auto", "off"] = Field(
        "ask", description="What happens when the local agent asks for Claude: `ask`, `auto` or `off`."
    )
    http_get: bool = Field(
        False, description="Whether the local agent may fetch web pages; each host is asked about."
    )
    claude_path: File | None = Field(
        None, description="The `claude` program; without one, the one that came along."
    )
    claude_model: Line | None = Field(
        None, description="The model Claude Code uses; without one, its own choice."
    )
    claude_budget_usd: float | None = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        description="US dollars that Claude may spend on one hand-off before it stops; without a number, no limit.",
    )
    claude_session_budget_usd: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="The same for all hand-offs of one session together."
    )
    claude_silence_seconds: float = Field(
        60,
        ge=1,
        allow_inf_nan=False,
        description="Seconds without a word after which Claude counts as silent.",
    )
    theme: Line | None = Field(None, description="Name of the colour theme.")
    reduced_motion: bool = Field(False, description="Whether nothing is animated.")
    notify: Literal["auto", "bell", "osc9", "osc777", "off"] = Field(
        "auto",
        description="How a terminal out of focus hears of a question or a long turn's end: "
        "`auto`, `bell`, `osc9`, `osc777` or `off`.",
    )
    notify_after_seconds: float = Field(
        15,
        ge=0,
        allow_inf_nan=False,
        description="Seconds that a turn must have taken for its end to be told.",
    )
    keys: Keymap = Field(
        {}, description='Other keys, by the ids that the help shows: `{"chat.bricks": "f3"}`.'
    )
    mcp_servers: Servers = Field((), description="MCP servers whose tools the local agent is offered.")


KEYS = tuple(name for name in Settings.model_fields if name not in ("home", "warnings", "sources"))
"""What can be set, in the order in which the README lists it."""
