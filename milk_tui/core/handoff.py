"""The hand-off: the bounded context that goes to Claude Code, assembled from the bricks on screen.

It has a standing part, which never changes in a session and stays in the prompt cache, and a changing part. Every
text that an agent, a tool or the user wrote is fenced as data. This module builds values and sends nothing.
"""

from collections.abc import Collection

from milk_tui.core.bricks import Brick, BrickLine, Gauge, PartName, Segment
from milk_tui.core.budget import (
    BRIEF_BUDGET,
    FRAME,
    IDENTITY_BUDGET,
    INSTRUCTIONS_BUDGET,
    NEED_BUDGET,
    PERCEPTS_BUDGET,
)
from milk_tui.core.cut import cut_middle
from milk_tui.core.instructions import identity, tag_instructions
from milk_tui.core.messages import Situation, Value
from milk_tui.core.secrets import masked

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


__all__ = ["FRAME", "Handoff", "Part", "PartName", "assembled", "fenced", "limit"]


class Part(Value):
    """One named piece of a hand-off, never larger than its budget."""

    name: PartName
    text: str
    """The text exactly as it is sent, heading and fence included."""
    budget: int
    """The most characters this part may take."""
    body: str = ""
    """What of the text is quoted; empty for a standing part."""
    lines: tuple[BrickLine, ...] = ()
    """The quoted text line by line, where it is a brick's and stands in it as in the brick."""
    frozen_at: int | None = None
    """The turn as of which its brick is kept as it was."""

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
    off: tuple[Part, ...] = ()
    """What would be handed over too, had the user not switched it off."""
    summary_until: int | None = None
    """The last local turn that it tells of, where it does not tell of all."""
    facts_until: int | None = None
    """The same of the facts."""

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
    facts: Brick,
    history_chars: int,
    is_continued: bool = False,
    is_masked: bool = False,
    claude_summary: Brick | None = None,
    off: Collection[PartName] = (),
) -> Handoff:
    """Make a hand-off for a row of the table.

    It is continued when Claude was told of what came before, so that only what is new is in it. The brief is a part
    when the local agent asked and a session of Claude's begins; on a resume it goes into the prompt. What Claude did
    before is a part when it is told to a session that was not there. Masked, every text that was written by somebody
    has what looks like a secret taken out, before it is cut to its budget. Parts that are off are left out and kept
    beside it; the standing ones are always sent.
    """
    standing = [
        Part(name="identity", text=identity(nonce), budget=IDENTITY_BUDGET),
        Part(name="instructions", text=tag_instructions(nonce), budget=INSTRUCTIONS_BUDGET),
    ]
    bricks = (
        Brick(name="escalation_brief", text=brief if situation == "agent" else "", budget=BRIEF_BUDGET),
        _dated(need),
        claude_summary or Brick(name="claude_summary"),
        local_summary,
        facts,
    )
    titles = _TITLES_SINCE if is_continued else _TITLES
    if need.by == "inferred":
        titles = {**titles, "current_need": _GUESSED_NEED}
    quoted = [
        _part(brick, titles[brick.name], nonce, is_masked=is_masked) for brick in bricks if brick.text.strip()
    ]
    present = [part for part in quoted if part.name not in off]
    return Handoff(
        situation=situation,
        parts=tuple(sorted((*standing, *present), key=lambda part: _ORDER.index(part.name))),
        standing="".join(part.text for part in standing),
        changing="".join(part.text for part in present),
        history_chars=history_chars,
        is_masked=is_masked,
        off=tuple(part for part in quoted if part.name in off),
        summary_until=0 if "local_summary" in off else local_summary.frozen_at,
        facts_until=0 if "percepts" in off else facts.frozen_at,
    )


def fenced(title: str, name: str, body: str, nonce: str) -> str:
    """Quote a text as data: nothing in it can close the quotation, for the closing word is taken out of it."""
    return f"\n## {title}\n<<<{name} {nonce}\n{body.replace(nonce, '…')}\n>>> {nonce}\n"


def _part(brick: Brick, title: str, nonce: str, *, is_masked: bool) -> Part:
    lines = brick.lines or (BrickLine(text=brick.text),)
    if brick.frozen_at is not None:
        title += f" (as it was at turn {brick.frozen_at})"
    if is_masked:
        lines = tuple(line.model_copy(update={"text": masked(line.text)}) for line in lines)
    whole = "\n".join(line.text for line in lines)
    body = cut_middle(whole, max(brick.budget - FRAME, 0)).replace(nonce, "…")
    return Part(
        name=brick.name,
        text=fenced(title, brick.name, body, nonce),
        budget=brick.budget,
        body=body,
        lines=lines if body == whole else (),
        frozen_at=brick.frozen_at,
    )


def _dated(need: Brick) -> Brick:
    """The need as it is told, with a word if it is an old one."""
    if not need.is_stale:
        return need
    text = f"{need.text}\n(Set a while ago; it may be done already.)"
    lines = tuple(line.model_copy(update={"text": text}) for line in need.lines)
    return need.model_copy(update={"text": text, "lines": lines})
