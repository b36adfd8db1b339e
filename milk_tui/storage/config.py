"""Settings: what the program is told, by whom, and what it does with a value that is no use.

Read with this precedence: command line, `MILK_*` environment, `tui.json`, `config.json`, defaults. `config.json` is
the Go program's file and is never written; our own changes go to `tui.json`. A damaged file or a wrong value loses
only itself and is named in `Settings.warnings`. A project's `.env` is never read. Nothing here knows what a setting
is used for.
"""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
)

from milk_tui.core.errors import ConfigError
from milk_tui.storage.files import make_folder, replace_text
from milk_tui.storage.go_config import settings_of
from milk_tui.storage.mcp_settings import with_usable_servers
from milk_tui.tools.mcp_setting import McpServer

PREFIX = "MILK_"


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
    reduced_motion: bool = Field(
        False, description="Whether nothing moves by itself: no animation, no blinking."
    )
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


def home(chosen: str | Path | None = None, environ: Mapping[str, str] = os.environ) -> Path:
    """The folder of everything we keep: what the command line says, `MILK_HOME`, or `~/.milk`.

    Raises:
        ConfigError: nobody's home folder can be found.
    """
    try:
        return Path(chosen or environ.get("MILK_HOME") or "~/.milk").expanduser().absolute()
    except (RuntimeError, OSError) as error:
        raise ConfigError(
            f"The home folder cannot be found: {error}.", "Name a folder with MILK_HOME."
        ) from error


def load(
    folder: Path, command_line: Mapping[str, object] | None = None, environ: Mapping[str, str] = os.environ
) -> Settings:
    """The settings that hold. `None` on the command line and an empty variable mean that nothing was said.

    Raises:
        ConfigError: a value on the command line is no use.
    """
    warnings: list[str] = []
    own = _object(folder / "tui.json", warnings)
    go = settings_of(_object(folder / "config.json", warnings), warnings)
    own = with_usable_servers(own, str(folder / "tui.json"), warnings)
    go = with_usable_servers(go, str(folder / "config.json"), warnings)
    variables = {key: environ.get(PREFIX + key.upper(), "").strip() or None for key in KEYS}
    layers: list[tuple[Callable[[str], str], dict[str, object]]] = [
        (_option, _said(command_line or {})),
        (_variable, _said(variables)),
        (lambda key: f"{key} in {folder / 'tui.json'}", _said(own)),
        (lambda key: f"{key} in {folder / 'config.json'}", _said(go)),
    ]
    while True:
        merged = {key: value for _, layer in reversed(layers) for key, value in layer.items()}
        try:
            sources = {key: name(key) for name, layer in reversed(layers) for key in layer}
            return Settings.model_validate(
                merged | {"home": folder, "warnings": tuple(warnings), "sources": sources}
            )
        except ValidationError as error:
            for key, reason in _reasons(error).items():
                name, layer = next((name, layer) for name, layer in layers if key in layer)
                del layer[key]
                if layer is layers[0][1]:
                    raise ConfigError(f"{name(key)} cannot be used: {reason}.") from None
                warnings.append(f"{name(key)} is not used: {reason}.")


def reloaded(settings: Settings, environ: Mapping[str, str] = os.environ) -> Settings:
    """The settings as they are now that a file has changed; what the command line said still holds."""
    given = {
        key: getattr(settings, key) for key, source in settings.sources.items() if source == _option(key)
    }
    return load(settings.home, given, environ)


def save(folder: Path, **changes: object) -> None:
    """Write changes to `tui.json`; `None` takes a key out. Other keys stay; a damaged file is kept aside.

    Raises:
        ConfigError: a value is no use, or the file cannot be written.
    """
    unknown = changes.keys() - set(KEYS)
    if unknown:
        raise ConfigError(f"There is no setting {', '.join(sorted(unknown))}.")
    try:
        checked = Settings.model_validate(_said(changes) | {"home": folder})
    except ValidationError as error:
        key, reason = next(iter(_reasons(error).items()))
        raise ConfigError(f"{key} cannot be set: {reason}.") from None
    # A link to the real file, as dotfile managers make, stays a link.
    path = (folder / "tui.json").resolve()
    try:
        make_folder(path.parent)
        kept = _kept(path) | {key: _plain(getattr(checked, key)) for key in changes}
        written = {key: value for key, value in kept.items() if not (key in changes and changes[key] is None)}
        replace_text(path, json.dumps(written, indent=2, ensure_ascii=True) + "\n")
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be written: {error.strerror or error}.", "The change holds until you quit."
        ) from error


def _kept(path: Path) -> dict[str, object]:
    """What `tui.json` holds. If that is damaged it is moved aside, so that nothing of it is overwritten."""
    warnings: list[str] = []
    if path.exists():
        path.read_bytes()  # what cannot be read must not be replaced
    found = _object(path, warnings)
    if warnings:
        path.replace(path.with_name("tui.json.damaged"))
    return found


def _object(path: Path, warnings: list[str]) -> dict[str, Any]:
    """The JSON object in a file; empty if there is no file, or with a warning if it cannot be used."""
    try:
        if not path.exists():
            return {}
        if not path.is_file():
            raise ValueError("it is not a file")
        value = json.loads(path.read_text(encoding="utf-8-sig"))
        if not isinstance(value, dict):
            raise ValueError("it does not hold a JSON object")
    except OSError as error:
        warnings.append(f"{path} cannot be read and is not used: {error.strerror or error}.")
    except RecursionError:
        warnings.append(f"{path} is damaged and is not used: it is nested too deeply.")
    except ValueError as error:
        warnings.append(f"{path} is damaged and is not used: {error}.")
    else:
        return value
    return {}


def _option(key: str) -> str:
    return f"--{key.replace('_', '-')}"


def _variable(key: str) -> str:
    return PREFIX + key.upper()


def _said(values: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in values.items() if key in KEYS and value is not None}


def _reasons(error: ValidationError) -> dict[str, str]:
    """Why each key is no use, without its value, which may be a secret."""
    return {
        str(each["loc"][0]): each["msg"].removeprefix("Value error, ").replace("Input should", "it should")
        for each in error.errors(include_input=False, include_url=False)
    }


def _plain(value: object) -> object:
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, tuple):
        return [server.stored() for server in value]
    return str(value) if isinstance(value, Path) else value
