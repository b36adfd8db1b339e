"""JSON from outside, made safe as text is: a tool call's arguments, above all. It knows no tool and no file."""

import json
from typing import Any

from milk_tui.core.text import sanitize


def clean_json(arguments: str) -> str:
    """A JSON object as text with every string in it sanitized; `{}` for anything else."""
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return "{}"
    return json.dumps(_clean_value(value), ensure_ascii=False) if isinstance(value, dict) else "{}"


def _clean_value(value: Any) -> Any:
    if isinstance(value, str):
        return sanitize(value)
    if isinstance(value, list):
        return [_clean_value(item) for item in value]
    if isinstance(value, dict):
        return {sanitize(key): _clean_value(item) for key, item in value.items()}
    return value
