"""Fields of JSON objects that another program wrote: whatever is not as it should be is not there."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

Fields = Mapping[str, Any]

_EARLIEST = 1980
"""An earlier year is a clock that was never set, or a time that was never written."""


def text_in(fields: Fields, key: str) -> str:
    """A text; empty without one."""
    value = fields.get(key)
    return value if isinstance(value, str) else ""


def object_in(fields: Fields, key: str) -> dict[str, Any]:
    """An object; empty without one."""
    value = fields.get(key)
    return value if isinstance(value, dict) else {}


def objects_in(fields: Fields, key: str) -> list[dict[str, Any]]:
    """The objects in a list; none where there is no list."""
    value = fields.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def count_in(fields: Fields, key: str) -> int:
    """A count; zero without one."""
    value = fields.get(key)
    return max(value, 0) if isinstance(value, int) and not isinstance(value, bool) else 0


def moment_in(fields: Fields, key: str) -> datetime | None:
    """A time, of which nine digits of a second may be written; without a zone it is UTC."""
    try:
        moment = datetime.fromisoformat(text_in(fields, key))
    except ValueError:
        return None
    if not _EARLIEST <= moment.year < datetime.max.year:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def is_uuid(text: str) -> bool:
    """Whether it is a UUID as programs write it, with its hyphens."""
    try:
        return str(UUID(text)) == text.lower()
    except ValueError:
        return False
