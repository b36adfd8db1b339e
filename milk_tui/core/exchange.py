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
from milk_tui.core.cut import cut_middle, one_line
from milk_tui.core.messages import Message, ToolCall, ToolResult, Turn
from milk_tui.core.text import sanitize

PROMPT_CAP = 2_000
ANSWER_CAP = 2_000
RESULT_CAP = 500
NAME_CAP = 60
ARGUMENTS_CAP = 200
LISTED_CAP = 60
"""Characters of a folded call's arguments."""
LISTED_MOST = 12
"""Folded calls whose arguments are named; the others are only counted."""

_LISTED_FROM = 100
"""Folded calls that are looked at for the list, so that a row of thousands costs no more than one of a hundred."""
_PARSED_MOST = 20_000
"""Longer arguments are not parsed to show so little of them."""
_SPEAKER = {"local": "Local agent", "claude": "Claude"}
_LINE_END = re.compile(r"\n(?=[^\n])")


@dataclass(frozen=True)
class Use:
    """A tool call with its result."""

    call: ToolCall
    result: ToolResult | None
    sources: tuple[str, ...]

    @cached_property
    def arguments(self) -> str:
        """The arguments on one line."""
        return _arguments(self.call)

    @cached_property
    def brief(self) -> str:
        """The arguments in a few words, for a list."""
        failed = " (failed)" if self.result is not None and self.result.is_error else ""
        return one_line(self.arguments, LISTED_CAP - len(failed)) + failed

    @cached_property
    def name(self) -> str:
        """The tool's name, fit for a line."""
        return one_line(sanitize(self.call.name), NAME_CAP)

    @cached_property
    def outcome(self) -> str:
        """The result on lines of its own, indented under the call; empty if there is none."""
        if self.result is None:
            return ""
        text = cut_middle(self.result.text.strip("\n").rstrip(), RESULT_CAP) or "(empty)"
        # Code and tables keep their columns if they begin on a line of their own.
        text = f"\n{text}" if "\n" in text else f" {text}"
        return f"{'failed' if self.result.is_error else 'result'}:{_indented(text, '    ')}"


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
        return BrickLine(text=self.text, sources=tuple(sources))


def prompt_entry(turn: Turn) -> Entry:
    """The user's text, capped."""
    text = _indented(cut_middle(turn.prompt.strip(), PROMPT_CAP))
    return Entry(f"User: {text}", (turn.messages[0].id,), is_prompt=True)


def reply_entries(turn: Turn) -> Iterator[Entry]:
    """What followed the prompt, newest first, so that a caller may stop when its room is used up."""
    ending = _ending(turn)
    if ending:
        yield Entry(ending, (turn.messages[-1].id,))
    row: list[Use] = []
    for item in _newest_first(turn):
        if row and (isinstance(item, Entry) or item.call.name != row[0].call.name):
            yield calls_entry(tuple(row))
            row = []
        if isinstance(item, Entry):
            yield item
        else:
            row.append(item)
    if row:
        yield calls_entry(tuple(row))


def calls_entry(uses: tuple[Use, ...]) -> Entry:
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
    return Entry(text, uses=uses)


def continues(older: Entry, newer: Entry) -> bool:
    """Whether the two are calls to the same tool."""
    return bool(older.uses and newer.uses) and older.uses[0].call.name == newer.uses[0].call.name


def _newest_first(turn: Turn) -> Iterator[Entry | Use]:
    results: dict[str, Message] = {}
    for message in reversed(turn.messages[1:]):
        if message.result is not None:
            results[message.result.call_id] = message
            continue
        for call in reversed(message.calls):
            # Some servers count their call ids anew in every step: a result belongs to the nearest call before it.
            answered = results.pop(call.id, None)
            sources = (message.id, answered.id) if answered else (message.id,)
            yield Use(call, answered.result if answered else None, sources)
        text = message.text.strip()
        if text:
            text = _indented(cut_middle(text, ANSWER_CAP))
            yield Entry(f"{_SPEAKER[turn.agent]}: {text}", (message.id,))


def _listed(uses: tuple[Use, ...]) -> str:
    """The distinct arguments of the calls after the first, oldest first."""
    listed = {uses[-1].brief: None}
    for use in islice(reversed(uses), 1, _LISTED_FROM):
        listed[use.brief] = None
    entries = [entry for entry in listed if entry][1:]
    more = len(entries) > LISTED_MOST or len(uses) > _LISTED_FROM
    return " · ".join((*entries[:LISTED_MOST], "…") if more else entries)


def _arguments(call: ToolCall) -> str:
    """The values, each with its share of the room: a long text must not hide the path beside it."""
    if len(call.arguments) > _PARSED_MOST:
        return one_line(cut_middle(call.arguments, ARGUMENTS_CAP), ARGUMENTS_CAP)
    values = call.parsed()
    share = ARGUMENTS_CAP // max(len(values), 1)
    shown = [(name, one_line(_written(value), max(share, LISTED_CAP // 2))) for name, value in values.items()]
    pairs = [text if len(shown) == 1 else f"{name}={text}" for name, text in shown]
    return one_line(sanitize(", ".join(pairs)), ARGUMENTS_CAP)


def _written(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _indented(text: str, indent: str = "  ") -> str:
    return _LINE_END.sub(f"\n{indent}", text)


def _ending(turn: Turn) -> str:
    if turn.status == "interrupted":
        return "(The user stopped this turn.)"
    if turn.status == "failed":
        why = one_line(turn.failure.sentence, 300) if turn.failure else ""
        return f"(This turn failed: {why})" if why else "(This turn failed.)"
    return ""
