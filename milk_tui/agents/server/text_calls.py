"""Tool calls that a model writes into its answer, taken out of it while it streams.

Models without a tool template, and some with one, write calls as text. The forms read here are `<tool_call>{…}`
(Hermes, Qwen), `<function=name><parameter=key>…` (Qwen coder), `<|python_tag|>{…}` and a bare object as the whole
answer (Llama 3), and `[TOOL_CALLS] […]` (Mistral). How the answer is cut into chunks makes no difference, and the cost
grows with its length only. A form inside Markdown code is an example; text that cannot be a call passes at once. It
knows no server and no event, and what becomes of a call is decided elsewhere.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from milk_tui.agents.server.call_forms import (
    CLOSE,
    FUNCTION,
    MISTRAL,
    OPEN,
    PYTHON,
    FunctionEnd,
    ObjectEnd,
    TextCall,
    broken,
    function_call,
    object_call,
    parameter_types,
    tail_calls,
)
from milk_tui.agents.server.code_marks import CodeMarks

LOOK_AHEAD = 256
"""Characters after which a beginning that has not become a call is ordinary text."""

Form = Literal["object", "function", "tail", "bare"]

_MARKS = (OPEN, FUNCTION, PYTHON, MISTRAL)
_SPECIAL = re.compile(r"[`~\n<\[]")
_RUN = re.compile(r"`+|~+")
_SPACE = re.compile(r"\s+")
_AFTER_CALL = re.compile(r"[\s}]*")
"""One brace too many is a common slip."""
_PYTHON_CALL = re.compile(r"\s*(?:\{|[\w.]{1,64}\()")
_PYTHON_BEGUN = re.compile(r"\s*[\w.]{0,64}")
_MISTRAL_CALL = re.compile(r"\s*(?:\[\s*\{|\{|[\w.-]{1,64}(?:\[ARGS\]|\[CALL_ID\]|\{))")
_MISTRAL_BEGUN = re.compile(r"\s*(?:\[\s*|[\w.-]{0,64}(?:\[[A-Z_]{0,7})?)")


class _Opening(NamedTuple):
    """What may begin at a place: a call of some form, whose body starts there, or nothing; or more is needed."""

    form: Form | None
    start: int = 0
    is_open: bool = False


_NOTHING = _Opening(None)
_MORE = _Opening(None, is_open=True)


class TextCalls:
    """Splits one answer into text and calls; feed it until the end and then `finish` it."""

    def __init__(self, schemas: Iterable[Mapping[str, Any]]) -> None:
        """`schemas` are those of the tools that the model knows of; without any all is text."""
        self._types = {s["function"]["name"]: parameter_types(s["function"]) for s in schemas}
        self._heads = [head for name in self._types for head in _bare_heads(name)]
        self._held = ""
        """What may be the beginning of a call and may be text."""
        self._form: Form | None = None
        """The form of the call that we are in."""
        self._body: list[str] = []
        self._end: ObjectEnd | FunctionEnd = ObjectEnd()
        self._is_closing = False
        """A call has ended, and its closing mark may follow."""
        self._code = CodeMarks()
        self._is_start = True
        self._space: list[str] = []
        """White space that shows only if text follows."""
        self._is_gap = True
        self._has_text = False
        self._has_call = False
        self._found: list[str | TextCall] = []

    def feed(self, chunk: str) -> list[str | TextCall]:
        """The text and the calls that are certain after this chunk, in order."""
        if not self._types:
            return [chunk] if chunk else []
        self._go_on(chunk, is_whole=False)
        found, self._found = self._found, []
        return found

    def finish(self) -> list[str | TextCall]:
        """What was held back, now that the answer has ended."""
        self._go_on("", is_whole=True)
        if self._form is not None:
            self._add_last("".join(self._body))
        found, self._found = self._found, []
        return found

    def _go_on(self, chunk: str, *, is_whole: bool) -> None:
        rest, self._held = self._held + chunk, ""
        while rest:
            if self._form is not None:
                rest = self._in_call(rest)
            elif self._is_closing:
                rest = self._after_call(rest, is_whole=is_whole)
            elif self._is_start:
                rest = self._at_start(rest, is_whole=is_whole)
            else:
                rest = self._in_text(rest, is_whole=is_whole)

    def _at_start(self, text: str, *, is_whole: bool) -> str:
        """Find out whether the whole answer is one bare object that calls a tool."""
        begun = text.lstrip()
        head = _SPACE.sub("", begun[:LOOK_AHEAD])
        if any(head.startswith(each) for each in self._heads):
            self._begin("bare")
        elif not is_whole and len(text) < LOOK_AHEAD and any(each.startswith(head) for each in self._heads):
            self._held = text
            return ""
        self._is_start = False
        return text

    def _in_text(self, text: str, *, is_whole: bool) -> str:
        """Pass on the text up to the next call, or up to what may be one, which is held."""
        position = 0
        while position < len(text):
            special = _SPECIAL.search(text, position)
            place = special.start() if special else len(text)
            self._code.plain(text[position:place])
            run = _RUN.match(text, place)
            if run is not None:
                self._code.run(run[0])
                position = run.end()
                continue
            if text[place : place + 1] in ("<", "[") and not self._code.is_inside():
                opening = self._opening(text[place : place + LOOK_AHEAD], is_whole=is_whole)
                if opening.is_open or opening.form is not None:
                    self._emit(text[:place])
                    return self._entered(text[place:], opening)
            self._code.plain(text[place : place + 1])
            position = place + 1
        self._emit(text)
        return ""

    def _entered(self, rest: str, opening: _Opening) -> str:
        if opening.form is None:
            self._held = rest
            return ""
        self._begin(opening.form)
        return rest[opening.start :]

    def _begin(self, form: Form) -> None:
        self._form = form
        self._end = FunctionEnd() if form == "function" else ObjectEnd()

    def _in_call(self, text: str) -> str:
        end = self._end.find(text) if self._form in ("object", "function") else -1
        if end < 0:
            self._body.append(text)
            return ""
        body = "".join((*self._body, text[:end]))
        self._add([object_call(body) if self._form == "object" else function_call(body, self._types)])
        self._is_closing = True
        return text[end:]

    def _add(self, calls: list[TextCall]) -> None:
        self._found += calls
        self._form, self._body = None, []
        self._is_gap = self._has_call = True

    def _add_last(self, body: str) -> None:
        """The call that goes on to the end of the answer. One of the other forms has been cut off, and is broken."""
        if self._form in ("object", "function"):
            self._add([broken(body)])
            return
        calls, after = tail_calls(body)
        if self._form == "bare" and after.strip():
            self._emit(body)
            return
        self._add(calls)
        self._emit(after)

    def _after_call(self, text: str, *, is_whole: bool) -> str:
        space = _AFTER_CALL.match(text)
        rest = text[space.end() :] if space else text
        self._is_closing = not is_whole and len(text) < LOOK_AHEAD and CLOSE.startswith(rest)
        if rest.startswith(CLOSE):
            self._is_closing = False
            return rest[len(CLOSE) :]
        if self._is_closing:
            self._held = text
            return ""
        return text

    def _opening(self, text: str, *, is_whole: bool) -> _Opening:
        """What begins with this text, of which no more than `LOOK_AHEAD` is looked at."""
        mark = next((each for each in _MARKS if text.startswith(each)), None)
        if mark is None:
            is_begun = any(each.startswith(text) for each in _MARKS)
            return _MORE if is_begun and not is_whole else _NOTHING
        opening = self._after_mark(mark, text)
        return _NOTHING if opening.is_open and (is_whole or len(text) == LOOK_AHEAD) else opening

    def _after_mark(self, mark: str, text: str) -> _Opening:
        after = text[len(mark) :]
        match mark:
            case "<tool_call>":
                return _wrapped(after.lstrip(), len(text))
            case "<function=":
                name, is_named, _ = after.partition(">")
                if is_named:
                    return _Opening("function") if name in self._types else _NOTHING
                return _MORE if any(known.startswith(name) for known in self._types) else _NOTHING
            case "[TOOL_CALLS]":
                return _tail(after, _MISTRAL_CALL, _MISTRAL_BEGUN)
            case _:
                return _tail(after, _PYTHON_CALL, _PYTHON_BEGUN)

    def _emit(self, text: str) -> None:
        """Pass on text. White space around calls goes; between two texts a blank line stays."""
        if self._is_gap:
            shown = text.lstrip()
            if not self._has_call:
                self._space.append(text[: len(text) - len(shown)])
            if not shown:
                return
            gap = ("\n\n" if self._has_text else "") if self._has_call else "".join(self._space)
            text, self._is_gap = gap + shown, False
        if text:
            self._has_text = True
            self._found.append(text)


def _wrapped(inner: str, length: int) -> _Opening:
    """What stands behind `<tool_call>`."""
    if inner.startswith("{"):
        return _Opening("object", length - len(inner))
    if inner.startswith(FUNCTION):
        return _Opening("function", length - len(inner))
    return _MORE if FUNCTION.startswith(inner) else _NOTHING


def _tail(after: str, call: re.Pattern[str], begun: re.Pattern[str]) -> _Opening:
    if call.match(after):
        return _Opening("tail")
    return _MORE if begun.fullmatch(after) else _NOTHING


def _bare_heads(name: str) -> list[str]:
    """How an answer begins, without white space, that is a bare call of this tool."""
    return [
        f'{{{kind}"{key}":"{name}","{arguments}":'
        for kind in ("", '"type":"function",')
        for key in ("name", "function")
        for arguments in ("parameters", "arguments")
    ]
