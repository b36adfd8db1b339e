"""One turn as it appears in a summary: entries, newest first, with calls in a row to one tool folded into one.

Every field is capped and results belong to their call by id. An entry begins at the margin and what follows of it is
indented, so that nothing quoted in a text can pass for an entry of its own. This module knows no budget; `summary`
chooses the turns.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from milk_tui.core.bricks import BrickLine
from milk_tui.core.changed_files import CHANGING
from milk_tui.core.cut import cut_middle, one_line
from milk_tui.core.messages import Message, ToolCall, ToolResult, Turn
from milk_tui.core.place import ENDING, FIRST_CALL, TEXT, Place, key_of
from milk_tui.core.text import sanitize

PROMPT_CAP = 2_000
ANSWER_CAP = 2_000
RESULT_CAP = 500
CHANGED_CAP = 120
"""Characters of the result of a call that has changed a file."""
NAME_CAP = 60
ARGUMENTS_CAP = 200
LISTED_CAP = 60
"""Characters of a folded call's arguments."""
LISTED_MOST = 12
"""Folded calls whose arguments are named; the others are only counted."""

_LISTED_FROM = 100
"""Folded calls that are looked at for the list, so that a row of thousands costs no more than one of a hundred."""
_COMPARED_CAP = 500
"""Characters of a folded call's arguments that are compared with those of the first."""
_PARSED_MOST = 20_000
"""Longer arguments are not parsed to show so little of them."""
_SPEAKER = {"local": "Local agent", "claude": "Claude"}
_PATH = re.compile(r"(?!\w+://)[^\s/]*/\S*")
_LINE_END = re.compile(r"\n(?=[^\n])")


@dataclass(frozen=True)
class Use:
    """A tool call with its result."""

    call: ToolCall
    result: ToolResult | None
    sources: tuple[str, ...]
    place: Place

    @cached_property
    def arguments(self) -> str:
        """The arguments on one line."""
        return _arguments(self.call, ARGUMENTS_CAP)

    @cached_property
    def compared(self) -> str:
        """So much of the arguments as is compared with those of other calls, and whether the call failed."""
        return _arguments(self.call, _COMPARED_CAP) + self._failed

    def brief(self, other: "Use") -> str:
        """The arguments in a few words, for a list; long ones from where they differ from another call's."""
        # A row of calls is listed again with every older turn that it reaches into, against the same call.
        known = self._briefs.get(other.compared)
        if known is None:
            text, room = self.compared.removesuffix(self._failed), LISTED_CAP - len(self._failed)
            start = _first_difference(text, other.compared) if len(text) > room else 0
            known = one_line(f"…{text[start:]}" if start else text, room) + self._failed
            self._briefs[other.compared] = known
        return known

    @cached_property
    def _failed(self) -> str:
        return " (failed)" if self.result is not None and self.result.is_error else ""

    @cached_property
    def _briefs(self) -> dict[str, str]:
        return {}

    @cached_property
    def name(self) -> str:
        """The tool's name, fit for a line."""
        return one_line(sanitize(self.call.name), NAME_CAP)

    @cached_property
    def outcome(self) -> str:
        """The result on lines of its own, indented under the call; empty if there is none."""
        if self.result is None:
            return ""
        text = self.result.text.strip("\n").rstrip()
        if self.call.name in CHANGING and not self.result.is_error:
            # That it was done is news; the rest shows the file again, which Claude can read as it is now.
            text = one_line(text.partition("\n")[0], CHANGED_CAP)
        text = cut_middle(text, RESULT_CAP) or "(empty)"
        # Code and tables keep their columns if they begin on a line of their own.
        text = f"\n{text}" if "\n" in text else f" {text}"
        return f"{'failed' if self.result.is_error else 'result'}:{indented(text, '    ')}"


@dataclass(frozen=True)
class Entry:
    """One entry of a summary: something said, or calls in a row to one tool."""

    text: str
    said_in: tuple[str, ...] = ()
    """Ids of the messages it was made from, unless it is of calls."""
    uses: tuple[Use, ...] = ()
    """The calls it stands for, newest first."""
    is_prompt: bool = False
    """Prompts do not part calls in a row; everything else that is said does."""
    place: Place = (0, 0, 0)
    keys: tuple[str, ...] = ()
    """What it is of, the same at each rebuilding; of folded calls those of each turn, newest first."""
    is_pinned: bool = False
    """Whether room was kept for it."""
    is_edited: bool = False

    @property
    def size(self) -> int:
        """The room it takes, with the line end behind it."""
        return len(self.text) + 1

    @property
    def collapsed(self) -> int:
        """Calls that are folded into the first."""
        return max(len(self.uses) - 1, 0)

    def line(self) -> BrickLine:
        """The entry as it stands in a brick."""
        sources = dict.fromkeys(self.said_in)
        for use in reversed(self.uses):
            sources.update(dict.fromkeys(use.sources))
        return BrickLine(
            text=self.text,
            sources=tuple(sources),
            key=self.keys[0] if self.keys else "",
            covers=self.keys[1:],
            is_pinned=self.is_pinned,
            is_edited=self.is_edited,
        )


def prompt_entry(turn: Turn) -> Entry:
    """The user's text, capped."""
    text = indented(cut_middle(turn.prompt.strip(), PROMPT_CAP))
    return _said(f"User: {text}", turn.messages[0], (turn.number, 0, TEXT), is_prompt=True)


def reply_entries(turn: Turn) -> Iterator[Entry]:
    """What followed the prompt, newest first, so that a caller may stop when its room is used up."""
    ending = _ending(turn)
    if ending:
        yield _said(ending, turn.messages[-1], (turn.number, len(turn.messages), ENDING))
    row: list[Use] = []
    for item in _newest_first(turn):
        if row and (isinstance(item, Entry) or item.call.name != row[0].call.name):
            yield calls_entry(tuple(row), (key_of(row[-1].place),))
            row = []
        if isinstance(item, Entry):
            yield item
        else:
            row.append(item)
    if row:
        yield calls_entry(tuple(row), (key_of(row[-1].place),))


def folded(older: Entry, newer: Entry) -> Entry:
    """Calls of two turns as one entry."""
    return calls_entry(newer.uses + older.uses, newer.keys + older.keys)


def calls_entry(uses: tuple[Use, ...], keys: tuple[str, ...]) -> Entry:
    """Calls to one tool, given newest first: the first is shown; of the others the count, arguments and last result."""
    first = uses[-1]
    text = f"[{first.name}] {first.arguments}".rstrip()
    outcome = first.outcome
    if outcome:
        text += f"\n  {outcome}"
    if len(uses) > 1:
        text += f"\n[{len(uses) - 1} more {first.name} calls collapsed] {_listed(uses)}".rstrip()
        last = uses[0].outcome
        if last not in ("", outcome):
            text += f"\n  last {last}"
    return Entry(text, uses=uses, place=first.place, keys=keys)


def continues(older: Entry, newer: Entry) -> bool:
    """Whether the two are calls to the same tool."""
    return bool(older.uses and newer.uses) and older.uses[0].call.name == newer.uses[0].call.name


def _said(text: str, message: Message, place: Place, *, is_prompt: bool = False) -> Entry:
    return Entry(text, (message.id,), is_prompt=is_prompt, place=place, keys=(key_of(place),))


def _newest_first(turn: Turn) -> Iterator[Entry | Use]:
    results: dict[str, Message] = {}
    for index in range(len(turn.messages) - 1, 0, -1):
        message = turn.messages[index]
        if message.result is not None:
            results[message.result.call_id] = message
            continue
        for order in range(len(message.calls) - 1, -1, -1):
            call = message.calls[order]
            # Some servers count their call ids anew in every step: a result belongs to the nearest call before it.
            answered = results.pop(call.id, None)
            sources = (message.id, answered.id) if answered else (message.id,)
            place = (turn.number, index, FIRST_CALL + order)
            yield Use(call, answered.result if answered else None, sources, place)
        text = message.text.strip()
        if text:
            text = indented(cut_middle(text, ANSWER_CAP))
            yield _said(f"{_SPEAKER[turn.agent]}: {text}", message, (turn.number, index, TEXT))


def _listed(uses: tuple[Use, ...]) -> str:
    """The distinct arguments of the calls after the first, oldest first."""
    seen = {uses[-1].compared}
    listed: dict[str, None] = {}
    for use in islice(reversed(uses), 1, _LISTED_FROM):
        if use.compared not in seen:
            seen.add(use.compared)
            listed[use.brief(uses[1] if use is uses[0] else uses[0])] = None
    entries = [entry for entry in listed if entry]
    more = len(entries) > LISTED_MOST or len(uses) > _LISTED_FROM
    return " · ".join((*entries[:LISTED_MOST], "…") if more else entries)


def _arguments(call: ToolCall, room: int) -> str:
    """The values, each with its share of the room: a long text must not hide the path beside it."""
    if len(call.arguments) > _PARSED_MOST:
        return one_line(cut_middle(call.arguments, room), room)
    # What is switched off or left open says nothing.
    values = {
        name: value for name, value in call.parsed().items() if value is not False and value is not None
    }
    texts = [one_line(_written(value), room) for value in values.values()]
    names = [f"{name}=" if len(values) > 1 else "" for name in values]
    shares = _shares([len(text) for text in texts], room - sum(len(name) + 2 for name in names))
    shown = (
        text if len(text) <= share else _within(_written(value), share)
        for value, text, share in zip(values.values(), texts, shares, strict=True)
    )
    pairs = [f"{name}{text}" for name, text in zip(names, shown, strict=True)]
    return one_line(sanitize(", ".join(pairs)), room)


def _shares(sizes: list[int], room: int) -> list[int]:
    """How much of the room each text gets: what short ones leave over is for the long ones."""
    shares = [0] * len(sizes)
    for others, place in enumerate(sorted(range(len(sizes)), key=sizes.__getitem__)):
        shares[place] = min(sizes[place], max(room // (len(sizes) - others), LISTED_CAP // 2))
        room -= shares[place]
    return shares


def _within(text: str, room: int) -> str:
    """A value that is longer, on one line. Of a path the end is kept, for it names the file."""
    if _PATH.fullmatch(text):
        start = text.find("/", len(text) - room + 1)
        if start > 0:
            return f"…{text[start:]}"
    return one_line(text, room)


def _first_difference(text: str, other: str) -> int:
    """Where the word or the name begins in which a text differs from another; 0 if it does not."""
    if text == other:
        return 0
    place, end = 0, min(len(text), len(other))
    while place < end:
        middle = (place + end + 1) // 2
        place, end = (middle, end) if text.startswith(other[:middle]) else (place, middle - 1)
    return max(text.rfind("/", 0, place), text.rfind(" ", 0, place) + 1, 0)


def _written(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def indented(text: str, indent: str = "  ") -> str:
    """The text with its further lines indented, so that none of them can pose as an entry."""
    return _LINE_END.sub(f"\n{indent}", text)


def _ending(turn: Turn) -> str:
    if turn.status == "interrupted":
        return "(The user stopped this turn.)"
    if turn.status == "failed":
        why = one_line(turn.failure.sentence, 300) if turn.failure else ""
        return f"(This turn failed: {why})" if why else "(This turn failed.)"
    return ""
