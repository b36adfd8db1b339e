"""The written forms of a tool call: where one ends, and what it says.

Reads text and returns values; what cannot be read becomes a call with broken arguments, so that the model is told. It
knows nothing of streams but that a call may arrive in fragments, and nothing of what a tool does.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

FUNCTION = "<function="
OPEN = "<tool_call>"
CLOSE = "</tool_call>"
PYTHON = "<|python_tag|>"
MISTRAL = "[TOOL_CALLS]"

_IN_STRING = re.compile(r'["\\]')
_OUTSIDE = re.compile(r'["{}<]')
_CLOSED = re.compile(CLOSE)
_XML = re.compile(r"<parameter=|</parameter>|</function>|</tool_call>")
_NAME = re.compile(r"<function=([^<>\s]+)>")
_PARAMETER = re.compile(r"<parameter=([^<>\s]+)>(.*?)</parameter>", re.DOTALL)
_ANY_NAME = re.compile(
    r'"(?:name|function)"\s*:\s*"([^"\\]{1,64})"|<function=([^<>\s]{1,64})>|^([\w.-]{1,64})'
)
_BETWEEN = re.compile(r"(?:[\s;,]|<\|python_tag\|>|\[TOOL_CALLS\]|<\|eom_id\|>|<\|eot_id\|>|</s>)*")
_NAMED = re.compile(r"([\w.-]{1,64})(?:\[CALL_ID\][\w-]*)?(?:\[ARGS\])?\s*(?=\{)")
_JSON = json.JSONDecoder(strict=False)
"""Takes line ends inside strings, which small models do not escape."""


class TextCall(NamedTuple):
    """A call as it was written."""

    name: str
    arguments: str
    """JSON text, or whatever stood there if it could not be read."""


class ObjectEnd:
    """Finds the end of a JSON object; after a `<` that JSON has no place for, the end of the whole call."""

    def __init__(self) -> None:
        self._depth = 0
        self._is_string = False
        self._is_escaped = False
        self._closed: _Marks | None = None

    def find(self, text: str) -> int:
        """Where the object ends in this fragment, or -1."""
        place = 1 if self._is_escaped and text else 0
        self._is_escaped = self._is_escaped and not text
        while self._closed is None:
            found = (_IN_STRING if self._is_string else _OUTSIDE).search(text, place)
            if found is None:
                return -1
            place = self._passed(found, len(text))
            if self._depth == 0 and self._closed is None:
                return place
        mark = self._closed.next(text, place)
        return mark[1] if mark else -1

    def _passed(self, found: re.Match[str], length: int) -> int:
        match found[0]:
            case '"':
                self._is_string = not self._is_string
            case "\\":
                self._is_escaped = found.end() == length
                return found.end() + 1
            case "{":
                self._depth += 1
            case "}":
                self._depth -= 1
            case _:
                self._closed = _Marks(_CLOSED)
                return found.start()
        return found.end()


class FunctionEnd:
    """Finds the end of a `<function=…>`, whose parameters may hold anything but `</parameter>`."""

    def __init__(self) -> None:
        self._marks = _Marks(_XML)
        self._is_parameter = False

    def find(self, text: str) -> int:
        """Where the call ends in this fragment, or -1."""
        place = 0
        while mark := self._marks.next(text, place):
            name, place = mark
            if self._is_parameter:
                self._is_parameter = name != "</parameter>"
            elif name == "<parameter=":
                self._is_parameter = True
            elif name != "</parameter>":
                return place
        return -1


class _Marks:
    """Finds marks in a text that arrives in fragments, each of them once."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern
        self._tail = ""

    def next(self, text: str, start: int) -> tuple[str, int] | None:
        """The next mark and where it ends in this fragment."""
        reach = len(CLOSE) - 1
        seam = self._pattern.search(self._tail + text[start : start + reach]) if self._tail else None
        found = seam or self._pattern.search(text, start)
        if found is None:
            self._tail = (self._tail + text[max(start, len(text) - reach) :])[-reach:]
            return None
        end = start + seam.end() - len(self._tail) if seam else found.end()
        self._tail = ""
        return found[0], end


def parameter_types(function: Mapping[str, Any]) -> dict[str, str]:
    """The type of each parameter of a function's schema, where it says one."""
    properties = function.get("parameters", {}).get("properties", {})
    return {name: str(about.get("type", "")) for name, about in properties.items()}


def object_call(body: str) -> TextCall:
    """The call in `{"name": …, "arguments": …}`."""
    body = body.removesuffix(CLOSE)
    try:
        return _call_of(_JSON.decode(body))
    except (ValueError, RecursionError):
        return broken(body)


def function_call(body: str, types: Mapping[str, Mapping[str, str]]) -> TextCall:
    """The call in `<function=name><parameter=key>value</parameter>…</function>`.

    A value is the text as it stands, unless the tool's schema says that it is no string.
    """
    named = _NAME.match(body)
    if named is None:
        return broken(body)
    known = types.get(named[1], {})
    values = {
        key: _typed(value.removeprefix("\n").removesuffix("\n"), known.get(key, "string"))
        for key, value in _PARAMETER.findall(body, named.end())
    }
    return TextCall(named[1], json.dumps(values, ensure_ascii=False))


def broken(body: str) -> TextCall:
    """A call that cannot be read, by the name that seems to be meant."""
    found = _ANY_NAME.search(body[:300])
    name = next((group for group in found.groups() if group), "") if found else ""
    return TextCall(name.removesuffix(".call"), body or "…")


def tail_calls(body: str) -> tuple[list[TextCall], str]:
    """The calls at the end of an answer, Llama's or Mistral's, and the text after them."""
    calls: list[TextCall] = []
    place = 0
    try:
        while (place := _after(body, place)) < len(body):
            found, place = _next_calls(body, place)
            if not found:
                break
            calls += found
    except (ValueError, RecursionError):
        return [*calls, broken(body[place:])], ""
    return (calls, body[place:]) if calls else ([broken(body[place:])], "")


def _after(body: str, place: int) -> int:
    between = _BETWEEN.match(body, place)
    return between.end() if between else place


def _next_calls(body: str, place: int) -> tuple[list[TextCall], int]:
    if named := _NAMED.match(body, place):
        value, place = _JSON.raw_decode(body, named.end())
        return [TextCall(named[1], json.dumps(value, ensure_ascii=False))], place
    if body[place] not in "[{":
        return [], place
    value, end = _JSON.raw_decode(body, place)
    return [_call_of(each) for each in _each(value)], end


def _each(value: Any) -> Iterator[Any]:
    yield from value if isinstance(value, list) else [value]


def _call_of(value: Any) -> TextCall:
    """A call out of an object in any of the usual shapes."""
    if not isinstance(value, dict):
        raise ValueError("not an object")
    inner = value.get("function")
    value = inner if isinstance(inner, dict) else value
    name = value.get("name") or inner
    arguments = value.get("arguments", value.get("parameters"))
    if not isinstance(arguments, str):
        arguments = json.dumps({} if arguments is None else arguments, ensure_ascii=False)
    return TextCall(name if isinstance(name, str) else "", arguments)


def _typed(text: str, kind: str) -> Any:
    if kind in ("string", ""):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
