"""What the transcript shows: blocks, as values, and how each kind of block is told from the others.

A kind has a mark in the gutter and a name, so that nobody has to see colours to know who speaks. The text of agents
is Markdown; all other text is shown as it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from milk_tui.ui.markdown.rows import Row, Run, cells, clean, crop, wrap

Kind = Literal["user", "local", "claude", "thinking", "call", "notice", "receipt", "failure", "percept"]
State = Literal["", "running", "ok", "error"]

_LEAST = 12
"""Cells that are always left for what a call was asked."""

_FIRST_WORDS = 300
"""Characters of folded thinking that are looked at: more than a row shows."""

GUTTER = 2
"""Cells on the left of every row, for marks."""


@dataclass(frozen=True, slots=True)
class Block:
    """One thing in the transcript."""

    key: str
    """Its own in the transcript, such as a message's id."""
    kind: Kind
    source: str = ""
    """Markdown for agents, literal text for all others. For a call: what it was asked, as a short text."""
    label: str = ""
    """The model, or the name of the tool."""
    note: str = ""
    """A few words at the end of its first row, such as "interrupted" or "0.4 s"."""
    about: str = ""
    """When it was said, or what it took: shown on demand."""
    state: State = ""
    detail: str = ""
    """For a call: its result."""
    folded: bool = False
    """Whether only the first row is shown to begin with."""
    headed: bool = True
    """Whether it says who speaks; not for the next part of an answer that was interrupted by calls."""

    @property
    def body(self) -> str:
        """The text below the first row."""
        return self.detail if self.kind == "call" else self.source

    @property
    def is_markdown(self) -> bool:
        """Whether its text is Markdown."""
        return self.kind in ("local", "claude")

    @property
    def copied(self) -> str:
        """What copying the whole block gives: its exact source."""
        if self.kind != "call":
            return self.source
        return "\n".join(part for part in (f"{self.label} {self.source}".strip(), self.detail) if part)


@dataclass(frozen=True, slots=True)
class Look:
    """How a kind of block is told from others."""

    name: str
    mark: str
    """In the gutter of its first row; empty where a fold mark stands."""
    rail: str = ""
    """In the gutter of all other rows."""
    close: bool = False
    """Whether no empty row stands between it and another one like it."""
    chop: bool = False
    """Whether its lines break anywhere."""


LOOKS: Mapping[Kind, Look] = {
    "user": Look("You", "▌", "▌"),
    "local": Look("Local", "●"),
    "claude": Look("Claude", "◆"),
    "thinking": Look("Thinking", "", "┊", close=True),
    "call": Look("", "", "│", close=True, chop=True),
    "notice": Look("", "!", close=True),
    "receipt": Look("", "⇡", close=True),
    "failure": Look("", "✗"),
    "percept": Look("", "+", close=True),
}

_STATES: Mapping[State, Run] = {
    "": ("", ""),
    "running": (" …", "muted"),
    "ok": (" ✓", "ok"),
    "error": (" ✗", "error"),
}


def gap(block: Block, before: Block | None) -> int:
    """The empty rows between a block and the one before it."""
    if before is None:
        return 0
    return 0 if LOOKS[block.kind].close and LOOKS[before.kind].close else 1


def head(block: Block, folded: bool, lines: int, width: int, tells: bool = False) -> list[Row]:
    """The rows that say what a block is, and what is said about it; none where its text says it."""
    runs = _title(block)
    if runs and tells and block.about:
        runs.append((f" · {_one_line(block.about)}", f"{_ground(block)} muted".strip()))
    if folded and lines:
        hidden = f"{lines} line" if lines == 1 else f"{lines} lines"
        if block.kind == "thinking":
            hidden = f"{len(block.body):,} characters"
            runs.insert(1, (f" {_one_line(block.body[:_FIRST_WORDS])}", "muted"))
        runs.append((f" · {hidden}" if runs else hidden, "muted"))
    if not runs:
        return []
    if folded:
        runs = list(crop(_squeezed(block, runs, width), width))
        return [Row(tuple(runs), cells(runs), fill=_ground(block))]
    parts = wrap(runs, width, chop=LOOKS[block.kind].chop)
    return [Row(part.runs, part.cells, join=part.join, fill=_ground(block)) for part in parts]


def title(block: Block) -> str:
    """What the head of an unfolded block says."""
    return "".join(text for text, _ in _title(block))


def _squeezed(block: Block, runs: list[Run], width: int) -> list[Run]:
    """The runs with the second one shortened (what a call was asked, thinking), so that the rest stays on the row."""
    if block.kind not in ("call", "thinking") or not block.source or len(runs) < 2:
        return runs
    room = width - cells((runs[0], *runs[2:]))
    return [runs[0], *crop(runs[1:2], max(_LEAST, room)), *runs[2:]]


def gutter(block: Block, folded: bool, *, is_first: bool) -> Run:
    """What stands on the left of a row."""
    look = LOOKS[block.kind]
    mark = look.mark if is_first else look.rail
    if is_first and (folded or not look.mark):
        mark = "·" if not block.body else "▸" if folded else "▾"
    return (mark.ljust(GUTTER), f"{_ground(block)} {block.kind}".strip())


def chosen(gutter: Run) -> Run:
    """The gutter of the block that the keys are about: a bar, or its mark in reverse."""
    mark, style = gutter
    return (mark if mark.strip() not in ("", "▌", "│", "┊") else "┃".ljust(GUTTER), f"{style} cursor".strip())


def body_style(block: Block) -> str:
    """The style of the text of a block that is not Markdown."""
    return {"user": "prompt", "failure": "failure", "local": "", "claude": ""}.get(block.kind, "muted")


def _ground(block: Block) -> str:
    return "prompt" if block.kind == "user" else ""


def _title(block: Block) -> list[Run]:
    name = block.label if block.kind == "call" else LOOKS[block.kind].name
    if not name or not block.headed:
        return []
    ground = _ground(block)
    runs: list[Run] = [(_one_line(name), f"{ground} {block.kind} name".strip())]
    about = _one_line(block.source) if block.kind == "call" else ""
    if about:
        runs.append((f" {about}", ""))
    if block.label and block.kind != "call":
        runs.append((f" · {_one_line(block.label)}", f"{ground} muted".strip()))
    runs.append(_STATES[block.state])
    if block.note:
        runs.append((f" · {_one_line(block.note)}", f"{ground} muted".strip()))
    return [run for run in runs if run[0]]


def _one_line(text: str) -> str:
    return " ".join(clean(text).split())
