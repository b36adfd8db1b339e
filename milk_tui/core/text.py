"""Text from outside, made safe to show, to store and to hand on.

Whatever a model, a tool or a paste sends passes here once: escape sequences and controls go, so that nothing
can move the cursor, change the title or reorder what is read. It knows nothing of where text comes from or
goes to; shortening is the business of `milk_tui.core.cut`.
"""

from __future__ import annotations

import re

STRING_LIMIT = 4_096
"""The longest payload of a string sequence (OSC, DCS and their kin); beyond it the sequence is no sequence."""

_UNCLEAN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

_UNIT = re.compile(
    r"""
      (?P<pair>    [\ud800-\udbff][\udc00-\udfff])
    | (?P<half>    [\ud800-\udfff])
    | (?P<line>    [\u2028\u2029])
    | (?P<csi>     (?: \x1b\[ | \x9b ) [0-?]* (?P<middle> [\ -/]* ) (?P<csi_end> [@-~] )? )
    | (?P<string>  \x1b[\]PX^_] | [\x90\x98\x9d-\x9f] )
    | (?P<escape>  \x1b (?: (?P<set> [\ -/]+ )? (?P<escape_end> [0-~] )? ) )
    | (?P<control> [\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069] )
    """,
    re.VERBOSE,
)
"""One thing to take out or to replace. The order matters: `escape` would also match a CSI or an OSC."""

_STRING_STOP = re.compile("(?P<terminator>[\x07\x9c]|\x1b\\\\)|[\n\u2028\u2029]")


def sanitize(text: str) -> str:
    """The text without escape sequences, controls (but newline and tab), bidi controls and lone surrogates.

    A surrogate pair becomes the character it stands for, a lone half U+FFFD, a Unicode line or paragraph
    separator a newline. A string sequence without an end loses only its introducer, so that a stray one never
    swallows the text after it.
    """
    sanitizer = Sanitizer()
    return sanitizer.feed(text) + sanitizer.close()


class Sanitizer:
    """`sanitize` for a text that arrives in chunks: all results joined are those of the whole text."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, chunk: str) -> str:
        """What is certain after this chunk; the start of an unfinished sequence is held back."""
        if not self._held and not _UNCLEAN.search(chunk):
            return chunk
        clean, self._held = _clean(self._held + chunk, is_whole=False)
        return clean

    def close(self) -> str:
        """What was held back, now that the text has ended."""
        clean, self._held = _clean(self._held, is_whole=True)
        return clean


def _clean(text: str, *, is_whole: bool) -> tuple[str, str]:
    """The sanitized text, and the end of it that cannot be judged before more has arrived."""
    parts: list[str] = []
    strings = _Strings(text, is_whole=is_whole)
    position = 0
    while unit := _UNIT.search(text, position):
        parts.append(text[position : unit.start()])
        held = "" if is_whole else _held(unit)
        position = unit.end()
        if unit["string"]:
            end = strings.end(position)
            position, held = (len(text), text[unit.start() :]) if end is None else (end, "")
        if held:
            return "".join(parts), held
        parts.append(_replacement(unit))
    parts.append(text[position:])
    return "".join(parts), ""


def _held(unit: re.Match[str]) -> str:
    """What stands for an unfinished unit at the end of a chunk; empty if the unit is finished.

    Parameters already seen are never needed again, so however many there are a mark or two suffice.
    """
    if unit.end() != len(unit.string):
        return ""
    if unit["half"]:
        return unit[0] if unit[0] < "\udc00" else ""
    if unit["csi"] and not unit["csi_end"]:
        return "\x9b " if unit["middle"] else "\x9b"
    if unit["escape"] and not unit["escape_end"]:
        return "\x1b " if unit["set"] else "\x1b"
    return ""


def _replacement(unit: re.Match[str]) -> str:
    if unit["pair"]:
        return unit[0].encode("utf-16", "surrogatepass").decode("utf-16")
    if unit["half"]:
        return "\ufffd"
    return "\n" if unit["line"] else ""


class _Strings:
    """Where the string sequences of one text end.

    It remembers the last stop it found: a thousand introducers before one newline look for it once.
    """

    def __init__(self, text: str, *, is_whole: bool) -> None:
        self._text = text
        self._is_whole = is_whole
        self._start = len(text)
        self._end = -1
        self._is_terminator = False

    def end(self, payload: int) -> int | None:
        """Where the sequence with this payload ends: `payload` itself if it has no end, None if not yet known."""
        if self._end < payload:
            self._find(payload)
        if self._start - payload <= STRING_LIMIT and self._is_terminator:
            return self._end
        # A terminator may be two characters, of which one has arrived.
        is_open = self._start == len(self._text) and len(self._text) - payload <= STRING_LIMIT + 1
        return None if is_open and not self._is_whole else payload

    def _find(self, payload: int) -> None:
        stop = _STRING_STOP.search(self._text, payload)
        self._start = stop.start() if stop else len(self._text)
        self._end = stop.end() if stop else len(self._text)
        self._is_terminator = stop is not None and stop["terminator"] is not None
