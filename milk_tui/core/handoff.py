"""The hand-off: the bounded context that goes to Claude Code, assembled from the bricks on screen.

It has a standing part, which never changes in a session and stays in the prompt cache, and a changing part. Every
text that an agent, a tool or the user wrote is fenced as data. This module builds values and sends nothing.
"""

from collections.abc import Iterable
from itertools import islice
from typing import Literal

from milk_tui.core.bricks import Brick, Gauge, Segment
from milk_tui.core.budget import (
    BRIEF_BUDGET,
    IDENTITY_BUDGET,
    INSTRUCTIONS_BUDGET,
    NEED_BUDGET,
    PERCEPT_LIMIT,
    PERCEPTS_BUDGET,
)
from milk_tui.core.cut import cut_middle, one_line
from milk_tui.core.instructions import identity, tag_instructions
from milk_tui.core.messages import Situation, Value
from milk_tui.core.secrets import masked

PartName = Literal[
    "identity",
    "escalation_brief",
    "current_need",
    "claude_summary",
    "local_summary",
    "instructions",
    "percepts",
]

FRAME = 160
"""Room that heading and fence of a part take at the most."""

_ORDER: tuple[PartName, ...] = (
    "identity",
    "escalation_brief",
    "current_need",
    "claude_summary",
    "local_summary",
    "instructions",
    "percepts",
)

_TITLES: dict[PartName, str] = {
    "escalation_brief": "Why the local model asks for you",
    "current_need": "What the user is trying to get done",
    "claude_summary": "What an earlier session of yours did here, oldest first",
    "local_summary": "What was done locally so far, oldest first",
    "percepts": "Facts recorded in this directory, newest first",
}

_TITLES_SINCE: dict[PartName, str] = {
    **_TITLES,
    "local_summary": "What was done locally since your last turn, oldest first",
    "percepts": "Facts recorded since your last turn, newest first",
}

_GUESSED_NEED = "What the user is trying to get done, guessed from the user's words"

_FACTS_LOOKED_AT = 500
"""Facts that are looked at for a hand-off, so that repeats cost no more than others."""


class Part(Value):
    """One named piece of a hand-off, never larger than its budget."""

    name: PartName
    text: str
    """The text exactly as it is sent, heading and fence included."""
    budget: int
    """The most characters this part may take."""

    @property
    def chars(self) -> int:
        """Its size in characters."""
        return len(self.text)


class Handoff(Value):
    """What Claude Code is told at one escalation."""

    situation: Situation
    parts: tuple[Part, ...]
    """In the order in which they are sent, without the absent ones."""
    standing: str
    changing: str
    history_chars: int
    """What the raw history would have taken."""
    is_masked: bool = False
    """Whether what looks like a secret is masked in it."""

    @property
    def chars(self) -> int:
        """The size of all that is handed over."""
        return len(self.standing) + len(self.changing)

    def gauge(self, budget: int, prompt_chars: int, route: str = "") -> Gauge:
        """How full this hand-off is, for summaries of `budget` characters and a prompt of so many."""
        has_claude_summary = any(part.name == "claude_summary" for part in self.parts)
        return Gauge(
            segments=tuple(Segment(name=p.name, chars=p.chars, budget=p.budget) for p in self.parts),
            limit=limit(self.situation, budget, has_claude_summary=has_claude_summary),
            prompt_chars=prompt_chars,
            history_chars=self.history_chars,
            situation=self.situation,
            route=route,
        )


def limit(situation: Situation, budget: int, *, has_claude_summary: bool = False) -> int:
    """The most characters that a hand-off can take: the sum of its parts' budgets."""
    brief = BRIEF_BUDGET if situation == "agent" else 0
    summaries = 2 * budget if has_claude_summary else budget
    return IDENTITY_BUDGET + brief + NEED_BUDGET + summaries + INSTRUCTIONS_BUDGET + PERCEPTS_BUDGET


def assembled(
    situation: Situation,
    *,
    nonce: str,
    brief: str,
    need: Brick,
    local_summary: Brick,
    percepts: Iterable[str],
    history_chars: int,
    is_continued: bool = False,
    is_masked: bool = False,
    claude_summary: Brick | None = None,
) -> Handoff:
    """Make a hand-off for a row of the table.

    It is continued when Claude was told of what came before, so that only what is new is in it. The brief is a part
    when the local agent asked and a session of Claude's begins; on a resume it goes into the prompt. What Claude did
    before is a part when it is told to a session that was not there. Masked, every text that was written by somebody
    has what looks like a secret taken out, before it is cut to its budget.
    """
    standing = [
        Part(name="identity", text=identity(nonce), budget=IDENTITY_BUDGET),
        Part(name="instructions", text=tag_instructions(nonce), budget=INSTRUCTIONS_BUDGET),
    ]
    changing: tuple[tuple[PartName, str, int], ...] = (
        ("escalation_brief", brief if situation == "agent" else "", BRIEF_BUDGET),
        ("current_need", _dated(need), NEED_BUDGET),
        ("claude_summary", claude_summary.text if claude_summary else "", local_summary.budget),
        ("local_summary", local_summary.text, local_summary.budget),
        ("percepts", _listed(percepts, PERCEPTS_BUDGET - FRAME), PERCEPTS_BUDGET),
    )
    titles = _TITLES_SINCE if is_continued else _TITLES
    if need.by == "inferred":
        titles = {**titles, "current_need": _GUESSED_NEED}
    mask = masked if is_masked else str
    present = [
        _part(name, titles[name], mask(body), budget, nonce)
        for name, body, budget in changing
        if body.strip()
    ]
    return Handoff(
        situation=situation,
        parts=tuple(sorted((*standing, *present), key=lambda part: _ORDER.index(part.name))),
        standing="".join(part.text for part in standing),
        changing="".join(part.text for part in present),
        history_chars=history_chars,
        is_masked=is_masked,
    )


def fenced(title: str, name: str, body: str, nonce: str) -> str:
    """Quote a text as data: nothing in it can close the quotation, for the closing word is taken out of it."""
    return f"\n## {title}\n<<<{name} {nonce}\n{body.replace(nonce, '…')}\n>>> {nonce}\n"


def _part(name: PartName, title: str, body: str, budget: int, nonce: str) -> Part:
    text = fenced(title, name, cut_middle(body, max(budget - FRAME, 0)), nonce)
    return Part(name=name, text=text, budget=budget)


def _dated(need: Brick) -> str:
    return f"{need.text}\n(Set a while ago; it may be done already.)" if need.is_stale else need.text


def _listed(facts: Iterable[str], room: int) -> str:
    """As many facts as fit, newest first and without repeats; a long one is shortened to keep room for others."""
    lines: dict[str, None] = {}
    for fact in islice(facts, _FACTS_LOOKED_AT):
        line = f"- {one_line(fact, PERCEPT_LIMIT)}"
        if line in lines or not fact.strip():
            continue
        if len(line) + 1 > room:
            break
        lines[line] = None
        room -= len(line) + 1
    return "\n".join(lines)
