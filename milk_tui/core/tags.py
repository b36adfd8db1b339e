"""Tags: the marks an agent puts into its text, taken out before anyone reads it.

`<milk:need:NONCE>one sentence</milk:need:NONCE>` states what the user wants; `percept` notes a fact; `escalate`
asks for the escalation agent. One parser reads streamed and stored text alike. It knows nothing of agents,
sessions or screens, and expects text that `milk_tui.core.text` has sanitized.

A tag inside code is an example, not a tag, so the parser also follows Markdown's code spans and fences. Every
decision waits for the text it depends on and no longer; what is visible either way is handed out at once.
"""

from __future__ import annotations

import re
import secrets
import string
from dataclasses import dataclass, field
from typing import Literal, cast, get_args

TagKind = Literal["need", "percept", "escalate"]

BODY_LIMIT = 400
"""The most characters between the two ends of a tag; with more between them they are ordinary text."""

SPAN_LIMIT = 1_000
"""How far a run of backticks may look for its partner; also, the lines that open or close a fence are shorter."""

_KINDS = get_args(TagKind)
_KIND = "|".join(_KINDS)
_NONCE_LIMIT = 64
_NONCE = f"[A-Za-z0-9_-]{{1,{_NONCE_LIMIT}}}"
_MARK = re.compile(f"<(/?)milk:({_KIND}):({_NONCE})>")
_MARK_LIMIT = len("</milk::>") + max(map(len, _KINDS)) + _NONCE_LIMIT
_OPENING = re.compile(f"<milk:({_KIND}):({_NONCE})>")
_OPENING_UP_TO_NONCE = re.compile(f"<milk:(?:{_KIND}):[A-Za-z0-9_-]{{0,{_NONCE_LIMIT}}}")
_MARKUP = re.compile(f"</?milk:(?:{_KIND})(?::[A-Za-z0-9_-]*)?>")

_SPECIAL = re.compile("[`<\n]")
_TICKS = f"`{{1,{SPAN_LIMIT}}}"
_BACKTICKS = re.compile(_TICKS)
_BLANK_LINE = re.compile(r"\n[ \t>]*\n")
_LEAD = r"[ \t]*(?:(?:>|[-*+][ \t]|\d{1,9}[.)][ \t])[ \t]*)*"
_FENCE_OPENED = re.compile(rf"{_LEAD}(?:(?P<ticks>`{{3,}})[^`]*|(?P<tildes>~{{3,}}).*)")
_FENCE_OPENING = re.compile(rf"{_LEAD}(?:[-*+]|\d{{1,9}}[.)]?|``?|~~?|`{{3,}}[^`]*|~{{3,}}.*)?")
_FENCE_CLOSED = re.compile(r"[ \t>]*(?P<run>`{3,}|~{3,})[ \t]*")
_FENCE_CLOSING = re.compile(r"[ \t>]*(?:`*|~*)[ \t]*")
_SPAN_STOP = re.compile(rf"{_TICKS}|\n(?:(?P<blank>[ \t>]*\n)|(?={_LEAD}(?:```|~~~)))")


@dataclass(frozen=True, slots=True)
class Tag:
    """What an agent stated in one tag."""

    kind: TagKind
    body: str
    """Trimmed, never empty, and free of tags."""


def open_tag(kind: TagKind, nonce: str) -> str:
    """What begins a tag."""
    return f"<milk:{kind}:{nonce}>"


def close_tag(kind: TagKind, nonce: str) -> str:
    """What ends a tag."""
    return f"</milk:{kind}:{nonce}>"


def new_nonce() -> str:
    """A word that nobody can guess, for the tags of one session."""
    return "".join(secrets.choice(string.ascii_lowercase + string.digits) for _ in range(10))


def parse(text: str, nonce: str) -> tuple[str, tuple[Tag, ...]]:
    """The visible part of a whole text, and its tags in order."""
    parser = TagParser(nonce)
    pieces = parser.feed(text) + parser.close()
    visible = "".join(piece for piece in pieces if isinstance(piece, str))
    return visible, tuple(piece for piece in pieces if isinstance(piece, Tag))


class _MoreNeeded(Exception):
    """The decision depends on text that has not arrived."""


@dataclass(slots=True)
class _OpenTag:
    kind: str
    nonce: str
    body: list[str] = field(default_factory=list)


class TagParser:
    """Takes the tags out of one text that arrives in chunks; how it is cut into chunks makes no difference.

    A tag with the session's nonce on both ends is recorded; one with any other is only taken out. A tag
    inside another is recorded first and is not part of the outer one's body.
    """

    def __init__(self, nonce: str) -> None:
        if not re.fullmatch(_NONCE, nonce):
            raise ValueError(f"not a nonce: {nonce!r}")
        self._nonce = nonce
        self._text = ""
        """What is not decided, from the first undecided character on."""
        self._shown = 0
        """How much of it has been handed out, since it is visible whatever the decision."""
        self._pieces: list[str | Tag] = []
        self._is_whole = False
        self._is_line_start = True
        self._fence = ""
        """The backticks or tildes that opened the fence we are in."""

    def feed(self, chunk: str) -> list[str | Tag]:
        """The visible text and the tags that are certain after this chunk, in order."""
        if not chunk:
            return []
        if self._is_plain(chunk):
            return [chunk]
        self._text += chunk
        return self._advance()

    def close(self) -> list[str | Tag]:
        """What was held back, now that the text has ended."""
        self._is_whole = True
        return self._advance()

    def _is_plain(self, chunk: str) -> bool:
        if self._text or self._is_line_start:
            return False
        return "\n" not in chunk if self._fence else _SPECIAL.search(chunk) is None

    def _advance(self) -> list[str | Tag]:
        position = 0
        try:
            while position < len(self._text):
                position = self._step(position)
            self._show(position)
        except _MoreNeeded:
            self._show(_first_opening(self._text, max(position, self._shown)))
        self._text = self._text[position:]
        self._shown -= position
        pieces, self._pieces = self._pieces, []
        return pieces

    def _step(self, start: int) -> int:
        """Decide what begins here, and return where it ends."""
        if self._fence:
            return self._fenced_line(start)
        if self._is_line_start:
            self._fence = self._fence_opened(start)
            self._is_line_start = False
            if self._fence:
                return self._line_end(start)
        match self._text[start]:
            case "\n":
                return self._line_end(start)
            case "`":
                return self._code_span(start)
            case "<":
                return self._tag(start)
            case _:
                special = _SPECIAL.search(self._text, start)
                return special.start() if special else len(self._text)

    def _show(self, end: int) -> None:
        if end > self._shown:
            self._pieces.append(self._text[self._shown : end])
            self._shown = end

    def _line_end(self, start: int) -> int:
        end = self._text.find("\n", start) + 1
        self._is_line_start = end > 0
        return end or len(self._text)

    def _fenced_line(self, start: int) -> int:
        if self._is_line_start:
            closed = self._line(start, _FENCE_CLOSED, _FENCE_CLOSING)
            if closed and closed["run"].startswith(self._fence):
                self._fence = ""
        return self._line_end(start)

    def _fence_opened(self, start: int) -> str:
        """The backticks or tildes by which the line opens a fence, if it does."""
        opened = self._line(start, _FENCE_OPENED, _FENCE_OPENING)
        return (opened["ticks"] or opened["tildes"]) if opened else ""

    def _line(self, start: int, whole: re.Pattern[str], begun: re.Pattern[str]) -> re.Match[str] | None:
        """The line as a match of `whole`; a line without an end is waited for while it matches `begun`."""
        end = self._text.find("\n", start, start + SPAN_LIMIT)
        line = self._text[start : end if end >= 0 else start + SPAN_LIMIT]
        if len(line) == SPAN_LIMIT:
            return None
        if end >= 0 or self._is_whole:
            return whole.fullmatch(line)
        if begun.fullmatch(line):
            raise _MoreNeeded
        return None

    def _code_span(self, start: int) -> int:
        """Where the code ends that this run of backticks opens; the end of the run if it opens none."""
        opened = self._run_end(start)
        limit = opened + SPAN_LIMIT
        for stop in _SPAN_STOP.finditer(self._text, opened, limit):
            if stop[0].startswith("`"):
                closed = self._run_end(stop.start())
                if closed - stop.start() == opened - start and closed <= limit:
                    return closed
            elif stop["blank"] or self._fence_opened(stop.start() + 1):
                return opened
        self._wait_for(limit)
        return opened

    def _run_end(self, start: int) -> int:
        run = cast(re.Match[str], _BACKTICKS.match(self._text, start))
        self._wait_for(run.end() + 1)
        return run.end()

    def _wait_for(self, length: int) -> None:
        if len(self._text) < length and not self._is_whole:
            raise _MoreNeeded

    def _tag(self, start: int) -> int:
        """Take out the tag that begins here; if it is none, its first character is ordinary text."""
        opening = _OPENING.match(self._text, start)
        if opening is None:
            rest = len(self._text) - start
            if rest < _MARK_LIMIT and not self._is_whole and _may_open(self._text[start:]):
                raise _MoreNeeded
            return start + 1
        closed = self._closed(opening)
        if closed is None:
            return start + 1
        self._show(start)
        self._shown, tags = closed
        self._pieces += tags
        return self._shown

    def _closed(self, opening: re.Match[str]) -> tuple[int, list[Tag]] | None:
        """Where the tag ends, and what it and the tags inside it record; None if it has no end in reach."""
        position = opening.end()
        limit = position + BODY_LIMIT
        blank = _BLANK_LINE.search(self._text, position, limit)
        limit = blank.start() if blank else limit
        reach = limit + _MARK_LIMIT
        # Looking for any end first keeps a thousand beginnings without one cheap.
        has_end = self._text.find(f"</milk:{opening[1]}:", position, reach) >= 0
        open_tags = [_OpenTag(opening[1], opening[2])]
        tags: list[Tag] = []
        for mark in _MARK.finditer(self._text, position, reach) if has_end else ():
            if mark.start() > limit:
                break
            open_tags[-1].body.append(self._text[position : mark.start()])
            position = mark.end()
            slash, kind, nonce = mark.groups()
            if not slash:
                open_tags.append(_OpenTag(kind, nonce))
            elif tag := self._close_last(open_tags, kind, nonce):
                tags.append(tag)
            if not open_tags:
                return position, tags
        if not blank:
            self._wait_for(reach)
        return None

    def _close_last(self, open_tags: list[_OpenTag], kind: str, nonce: str) -> Tag | None:
        """Close the last open tag of the kind, and with it the ones inside it that have no end of their own."""
        for depth in reversed(range(len(open_tags))):
            if open_tags[depth].kind == kind:
                body = _without_markup("".join(part for tag in open_tags[depth:] for part in tag.body))
                is_ours = open_tags[depth].nonce == nonce == self._nonce
                del open_tags[depth:]
                return Tag(cast(TagKind, kind), body) if is_ours and body else None
        return None


def _without_markup(body: str) -> str:
    """The body without marks of any kind, also without those that come about by taking others out."""
    before = None
    while body != before:
        before, body = body, _MARKUP.sub("", body)
    return body.strip()


def _first_opening(text: str, start: int) -> int:
    """Where the first tag may begin at or after the start; the end of the text if none may."""
    if opening := _OPENING.search(text, start):
        return opening.start()
    last = text.rfind("<", start)
    return last if last >= 0 and _may_open(text[last:]) else len(text)


def _may_open(rest: str) -> bool:
    """Whether a text that ends here may be the beginning of an opening tag."""
    is_begun = any(open_tag(kind, "").removesuffix(">").startswith(rest) for kind in _KINDS)
    return is_begun or _OPENING_UP_TO_NONCE.fullmatch(rest) is not None
