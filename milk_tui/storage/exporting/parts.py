"""A session as a row of parts, each said by somebody: what every form for reading is made from. It knows no form."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from milk_tui.core.cut import one_line
from milk_tui.core.messages import AgentRole, Message, ToolCall, Turn
from milk_tui.core.receipts import receipt_line
from milk_tui.core.session import Session

Style = Literal["markdown", "words", "text", "json"]
"""How a text is meant: an agent's Markdown, a user's words, any text line by line, or JSON."""
Kind = Literal["user", "local", "claude", "thinking", "call", "result", "told", "remark"]

_NAMES: dict[AgentRole, str] = {"local": "Local agent", "claude": "Claude"}
_BY = {"user": "said by the user", "local": "said by the local agent", "claude": "said by Claude"}


@dataclass(frozen=True)
class Part:
    """One thing that was said or done."""

    kind: Kind
    heading: str
    """Who, or what; empty for a remark."""
    text: str
    style: Style


@dataclass(frozen=True)
class Page:
    """A whole session to be read."""

    title: str
    facts: tuple[tuple[str, str], ...]
    turns: tuple[tuple[str, tuple[Part, ...]], ...]
    """Each turn's heading and parts."""
    bricks: tuple[Part, ...]
    """What the next hand-off would tell."""


def page(session: Session) -> Page:
    """A session as it is now, with its unfinished turn."""
    running = session.running
    turns = [*session.turns, running] if running else session.turns
    return Page(
        title=session.title,
        facts=tuple((name, text) for name, text in _facts(session, len(turns)) if text),
        turns=tuple((_heading(turn), tuple(_parts(turn))) for turn in turns),
        bricks=tuple(_bricks(session)),
    )


def _facts(session: Session, turns: int) -> Iterator[tuple[str, str]]:
    state, usage = session.state, session.tally.usage
    yield "Session", state.id
    yield "Directory", state.cwd
    yield "Begun", _when(state.created_at)
    yield "Turns", f"{turns:,}"
    for agent, name in _NAMES.items():
        spent = usage[agent]
        if spent.input_tokens or spent.output_tokens:
            cost = "" if spent.cost_usd is None else f", ${spent.cost_usd:.4f}"
            yield name, f"{spent.input_tokens:,} tokens read, {spent.output_tokens:,} written{cost}"


def _heading(turn: Turn) -> str:
    return f"{turn.number} · {_when(turn.started_at)}"


def _parts(turn: Turn) -> Iterator[Part]:
    if turn.preface:
        yield Part("told", "What the local agent was told first", turn.preface, "text")
    names = {call.id: call.name for call in turn.calls}
    for message in turn.messages:
        yield from _said(message, turn, names)
    if turn.failure is not None:
        yield Part("remark", "", f"✗ {turn.failure}", "words")
    elif turn.status != "finished":
        yield Part("remark", "", "Stopped." if turn.status == "interrupted" else "Still running.", "words")
    if turn.receipt is not None:
        yield Part("remark", "", f"⇡ {receipt_line(turn.receipt)}", "words")


def _said(message: Message, turn: Turn, names: dict[str, str]) -> Iterator[Part]:
    if message.role == "user":
        yield Part("user", "You", message.text, "words")
    if message.thinking:
        yield Part("thinking", "Thinking", message.thinking, "text")
    if message.role == "agent" and message.text:
        model = f" · {turn.model}" if turn.model else ""
        yield Part(turn.agent, _NAMES[turn.agent] + model, message.text, "markdown")
    for call in message.calls:
        yield _call(call)
    if message.result is not None:
        outcome = "Failure of" if message.result.is_error else "Result of"
        name = names.get(message.result.call_id, "a call")
        yield Part("result", f"{outcome} {name}", message.result.text, "text")


def _call(call: ToolCall) -> Part:
    aside = " by a sub-agent" if call.parent_id else ""
    return Part("call", f"Call of {call.name}{aside}", call.arguments, "json")


def _bricks(session: Session) -> Iterator[Part]:
    state = session.state
    if state.need:
        by = _BY.get(state.need_by, "guessed from the prompts")
        yield Part("told", f"Current need, {by}", state.need, "words")
    if state.brief:
        yield Part("told", "Why the local agent asks for Claude", state.brief, "words")
    for name, brick in (("Local summary", session.local_summary), ("Claude summary", session.claude_summary)):
        if brick.text:
            yield Part("told", name, brick.text, "text")
    if session.percepts:
        facts = "\n".join(f"- {one_line(percept.text, 1_000)}" for percept in session.percepts)
        yield Part("told", "Facts", facts, "text")


def _when(moment: datetime) -> str:
    return moment.astimezone().strftime("%Y-%m-%d %H:%M")
