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
from typing import Any

from pydantic import SecretStr, ValidationError

from milk_tui.core.errors import ConfigError
from milk_tui.storage.files import make_folder, replace_text
from milk_tui.storage.go_config import settings_of
from milk_tui.storage.mcp_settings import with_usable_servers
from milk_tui.storage.settings import KEYS, Settings

__all__ = ["KEYS", "Settings", "home", "load", "reloaded", "save"]

PREFIX = "MILK_"


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
