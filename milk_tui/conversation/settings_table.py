"""The settings as a table to look at and to change: what each is, who says so, and when a change holds.

It knows no screen. Values are checked and written by the storage room.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import SecretStr

from milk_tui.core.text import sanitize
from milk_tui.storage.config import KEYS, Settings

AT_ONCE = frozenset({"theme", "reduced_motion", "notify", "notify_after_seconds", "keys", "agent_escalation"})
"""Settings that hold as soon as they are changed; the others from the next start on."""


@dataclass(frozen=True)
class SettingRow:
    """One setting as it is now."""

    key: str
    value: str
    """As it would be written; what is secret only as dots, and nothing where there is nothing."""
    source: str
    """Who says so; `default` if nobody does."""
    help: str
    choices: tuple[str, ...] = ()
    """All the values it can have, if they are few."""
    is_secret: bool = False
    typed: str | None = ""
    """What an editor begins with; `None` for what is better changed in the file."""

    @property
    def next_choice(self) -> str:
        """The value behind the present one, in a circle."""
        place = self.choices.index(self.value) + 1 if self.value in self.choices else 0
        return self.choices[place % len(self.choices)]

    def fits(self, words: list[str]) -> bool:
        """Whether all words are in the key, its value or its help."""
        text = f"{self.key} {self.value} {self.help}".lower()
        return all(word in text for word in words)


def table(settings: Settings) -> list[SettingRow]:
    """Every setting, in the order of the documentation."""
    return [_row(settings, key) for key in KEYS]


def when(key: str, settings: Settings) -> str:
    """When a change that was just written holds, in a sentence."""
    source = settings.sources.get(key, "")
    if source.startswith(("--", "MILK_")):
        return f"{key} is written; {source} says otherwise and wins as long as it is there."
    return f"{key} is written and holds {'now' if key in AT_ONCE else 'from the next start on'}."


def _row(settings: Settings, key: str) -> SettingRow:
    field = Settings.model_fields[key]
    value = getattr(settings, key)
    source = settings.sources.get(key, "default")
    return SettingRow(
        key=key,
        value=_written(value),
        source=source.rpartition("/")[2] or source,
        help=field.description or "",
        choices=_choices(field.annotation),
        is_secret=isinstance(value, SecretStr),
        typed=_typed(value),
    )


def _written(value: object) -> str:
    match value:
        case None | () | {}:
            return ""
        case bool():
            return str(value).lower()
        case SecretStr():
            return "••••••••"
        case tuple():
            return ", ".join(sanitize(server.name) for server in value)
        case dict():
            return ", ".join(f"{sanitize(name)}: {sanitize(keys)}" for name, keys in value.items())
        case Path():
            return sanitize(str(value))
    return sanitize(str(value))


def _typed(value: object) -> str | None:
    match value:
        case SecretStr():
            return ""
        case tuple():
            return None
        case dict():
            return json.dumps(value) if value else ""
    return _written(value)


def _choices(kind: Any) -> tuple[str, ...]:
    if kind is bool:
        return ("true", "false")
    if get_origin(kind) is Literal:
        return tuple(map(str, get_args(kind)))
    return ()
