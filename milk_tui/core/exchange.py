"""One turn as it appears in a summary: its lines, its size, and the tool calls folded in it.

Every field is capped, results belong to their call by id, and calls in a row to one tool are folded into the first of
them, with the other arguments listed. Nothing here knows a budget larger than one turn; `summary` chooses turns.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from milk_tui.core.bricks import BrickLine
from milk_tui.core.cut import cut_middle, one_line
from milk_tui.core.messages import Message, ToolCall, ToolResult, Turn

PROMPT_CAP = 2_000
ANSWER_CAP = 2_000
RESULT_CAP = 500
ARGUMENTS_CAP = 200
LISTED_CAP = 60
"""Characters of a folded call's arguments."""
LISTED_MOST = 12
"""Folded calls whose arguments are named; the others are only counted."""

_SPEAKER = {"local": "Local agent", "claude": "Claude"}


@dataclass
class Said:
    """A line of text: what the user asked, what an agent said, how the turn ended."""

    text: str
    source: str
    breaks_run: bool = True
    """Whether calls before and after it are apart. A prompt does not part them, an answer does."""

    def lines(self) -> list[BrickLine]:
        """The one line that it is."""
        return [BrickLine(text=self.text, sources=(self.source,))]


@dataclass
class Run:
    """Calls in a row to the same tool: the first is shown, the others are counted and their arguments listed."""

    name: str
    shown: str
    sources: list[str]
    more: int = 0
    listed: list[str] = field(default_factory=list)

    def add(self, other: "Run") -> None:
        """Fold the calls that follow into this run."""
        self.more += 1 + other.more
        self.sources += other.sources
        for entry in (other.brief, *other.listed):
            if entry not in self.listed and entry != self.brief and len(self.listed) < LISTED_MOST:
                self.listed.append(entry)

    @property
    def brief(self) -> str:
        """The first call's arguments in a few words, for a list."""
        return one_line(self.shown.partition("\n")[0].partition("] ")[2], LISTED_CAP)

    def lines(self) -> list[BrickLine]:
        """The shown call, and the count of the others where there are any."""
        text = self.shown
        if self.more:
            listed = " · ".join(self.listed)
            text += f"\n[{self.more} more {self.name} calls collapsed]" + (f" {listed}" if listed else "")
        return [BrickLine(text=text, sources=tuple(self.sources))]


Item = Said | Run

MERGE_ALLOWANCE = LISTED_CAP + 140
"""What a leading run can add to the run before it when the two are folded: one entry and the count."""


def prompt_item(turn: Turn) -> Said:
    """The user's text, capped."""
    return Said(f"User: {cut_middle(turn.prompt, PROMPT_CAP)}", turn.messages[0].id, breaks_run=False)


def reply_items(turn: Turn) -> Iterator[Item]:
    """What followed the prompt, newest first, so that a caller may stop when its room is used up."""
    ending = _ending(turn)
    if ending is not None:
        yield ending
    results: dict[str, ToolResult] = {}
    for message in reversed(turn.messages[1:]):
        if message.result is not None:
            results[message.result.call_id] = message.result
        else:
            yield from _message_items(turn, message, results)


def folded(items: list[Item]) -> list[Item]:
    """The items, oldest first, with calls in a row to one tool folded into the first of them."""
    out: list[Item] = []
    run: Run | None = None
    for item in items:
        if isinstance(item, Said):
            out.append(item)
            run = None if item.breaks_run else run
        elif run is not None and run.name == item.name:
            run.add(item)
        else:
            run = Run(item.name, item.shown, list(item.sources), item.more, list(item.listed))
            out.append(run)
    return out


def size(items: list[Item]) -> int:
    """Characters that the items take, each with the line end behind it."""
    return sum(len(line.text) + 1 for item in items for line in item.lines())


def _message_items(turn: Turn, message: Message, results: dict[str, ToolResult]) -> Iterator[Item]:
    for call in reversed(message.calls):
        yield Run(call.name, _rendered(call, results.get(call.id)), [message.id])
    if message.text.strip():
        speaker = _SPEAKER[turn.agent]
        yield Said(f"{speaker}: {cut_middle(message.text.strip(), ANSWER_CAP)}", message.id)


def _rendered(call: ToolCall, result: ToolResult | None) -> str:
    line = f"[{call.name}] {_arguments(call)}".rstrip()
    if result is None:
        return line
    mark = "failed" if result.is_error else "result"
    text = cut_middle(result.text.strip(), RESULT_CAP) or "(empty)"
    return f"{line}\n  {mark}: {text}"


def _arguments(call: ToolCall) -> str:
    values = call.parsed()
    if len(values) == 1:
        return one_line(str(next(iter(values.values()))), ARGUMENTS_CAP)
    return one_line(", ".join(f"{name}={value}" for name, value in values.items()), ARGUMENTS_CAP)


def _ending(turn: Turn) -> Said | None:
    if turn.status == "interrupted":
        return Said("(The user stopped this turn.)", turn.messages[-1].id)
    if turn.status == "failed" and turn.failure is not None:
        return Said(f"(This turn failed: {one_line(turn.failure.sentence, 300)})", turn.messages[-1].id)
    return None
