"""Values as rows and rows as values.

Writing survives any text. Reading survives a file that was edited by hand or written by another version: all text is
made safe again, and what cannot be read loses only itself. No SQL and no file is known here.
"""

import json
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from milk_tui.core.messages import CANCELLED, Message, ToolResult, Turn, Value
from milk_tui.core.session import SessionState
from milk_tui.core.text import sanitize
from milk_tui.core.versions import BrickVersion

V = TypeVar("V", bound=Value)

_ESCAPE = re.compile(r"\\[bfru]")
"""What may stand for an unsafe character in JSON."""


def well_formed(text: str) -> str:
    """The text as UTF-8 can carry it: surrogate pairs joined, a lone half U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def written(value: Value, besides: set[str] | None = None) -> str:
    """A value as JSON, without the fields that are columns and without those at their defaults."""
    try:
        return value.model_dump_json(exclude=besides, exclude_defaults=True)
    except PydanticSerializationError:
        whole = _mapped(value.model_dump(), well_formed, well_formed)
        return type(value).model_validate(whole).model_dump_json(exclude=besides, exclude_defaults=True)


def state_read(session: str, cwd: str, floor: str, value: str) -> SessionState | None:
    """A session's state; a field that cannot be read takes its default. None if what is needed is not there."""
    return _read(SessionState, value, {"id": _safe(session), "cwd": _safe(cwd), "floor": floor})


def message_read(number: int, place: int, role: str, text: str, value: str) -> Message | None:
    """A message. Its text survives even if the rest of it cannot be read."""
    return _read(Message, value, {"id": f"{number}.{place}", "role": role, "text": _safe(text)})


def turn_read(number: int, agent: str, status: str, value: str, messages: Sequence[Message]) -> Turn | None:
    """A turn with these messages; None if it has no prompt or its own row cannot be read."""
    if not messages or messages[0].role != "user":
        return None
    columns = {"number": number, "agent": agent, "status": status, "messages": tuple(messages)}
    return _read(Turn, value, columns)


def version_read(number: int, brick: str, value: str) -> BrickVersion | None:
    """A version of a brick; None if it cannot be read."""
    return _read(BrickVersion, value, {"number": number, "brick": brick})


def closed(turn: Turn, at: datetime) -> Turn:
    """A turn that was running when the program ended: interrupted, and every call has exactly one result."""
    answered = {message.result.call_id for message in turn.messages if message.result}
    open_calls = [call.id for call in turn.calls if call.id not in answered]
    first = len(turn.messages)
    results = (
        Message(
            id=f"{turn.number}.{first + place}",
            role="tool",
            result=ToolResult(call_id=call_id, text=CANCELLED, is_error=True),
        )
        for place, call_id in enumerate(dict.fromkeys(open_calls))
    )
    return turn.model_copy(
        update={"status": "interrupted", "ended_at": at, "messages": (*turn.messages, *results)}
    )


def _read(kind: type[V], value: str, columns: dict[str, Any]) -> V | None:
    fields = {**_object(value), **columns}
    while True:
        try:
            return kind.model_validate(fields)
        except ValidationError as error:
            wrong = {str(each["loc"][0]) for each in error.errors(include_url=False)} & fields.keys()
            if not wrong:
                return None
            for key in wrong:
                del fields[key]


def _safe(column: object) -> str:
    """A text column; whatever else was put there is no text of ours."""
    return sanitize(column) if isinstance(column, str) else ""


def _object(text: str) -> dict[str, Any]:
    """The fields in a JSON object, with every text in them safe; none if it is no object."""
    try:
        value = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return {}
    if not isinstance(value, dict):
        return {}
    # Nearly all rows are safe as they stand, and looking at one text is cheaper than at each in it.
    is_safe = not _ESCAPE.search(text) and sanitize(text) == text
    return value if is_safe else made_safe(value)


def made_safe(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of a value with every text in them safe to show."""
    safe: dict[str, Any] = _mapped(fields, sanitize, well_formed)
    return safe


def _mapped(value: Any, text: Callable[[str], str], arguments: Callable[[str], str]) -> Any:
    """The value with its texts changed. A call's arguments are JSON, which must stay so."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, dict):
        return {
            key: _mapped(item, arguments if key == "arguments" else text, arguments)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_mapped(item, text, arguments) for item in value]
    return value
