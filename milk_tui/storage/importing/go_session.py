"""A session of the Go program's, from `sessions/<uuid>.json` of any age.

It has changed its words twice for the same things, may leave any field out, and writes `null` for an empty list.
Results there belong to their calls by order alone, and tokens were counted per session and not per turn.
"""

from collections import Counter, deque
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from milk_tui.core.budget import BRIEF_LIMIT, CONTEXT_BUDGET, NEED_LIMIT
from milk_tui.core.cut import cut_middle, one_line
from milk_tui.core.messages import AgentRole, Turn, Usage
from milk_tui.core.tags import new_nonce, parse
from milk_tui.core.text import sanitize
from milk_tui.storage.importing.fields import count_in, is_uuid, moment_in, object_in, objects_in, text_in
from milk_tui.storage.importing.found import Found, ImportedState
from milk_tui.storage.importing.source import Progress, SourceError, parsed, unmoved, whole
from milk_tui.storage.importing.turn_maker import TurnMaker

TITLE_LIMIT = 80

_AGENTS: dict[str, AgentRole] = {
    "local": "local",
    "primary": "local",
    "claude": "claude",
    "escalation": "claude",
}
_FLOORS: dict[str, AgentRole] = {
    "ROUTING": "local",
    "LOCAL": "local",
    "CLAUDE": "claude",
    "CLAUDE_WAITING": "claude",
    "ESCALATION": "claude",
    "ESCALATION_WAITING": "claude",
}

Fields = dict[str, Any]


def go_session(path: Path, progress: Progress = unmoved) -> Found:
    """The session in a file.

    Raises:
        SourceError: the file cannot be read, or it holds no session of the Go program's.
    """
    raw, mark = whole(path, progress)
    fields = parsed(raw)
    if fields is None:
        raise SourceError(f"{path} is damaged: it is not a whole JSON object.")
    if "history" not in fields or not (fields.keys() & {"id", "cwd", "state"}):
        raise SourceError(f"{path} is no session of the Go program.")
    modified = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    began = moment_in(fields, "created_at") or modified
    history = _History(fields, began)
    turns = _with_usage(history.turns, fields)
    notes: list[str] = []
    state = ImportedState(
        id=path.stem.lower(),
        cwd=sanitize(text_in(fields, "cwd")) or str(path.resolve().parent),
        nonce=new_nonce(),
        created_at=began,
        title=one_line(sanitize(text_in(fields, "name")), TITLE_LIMIT),
        floor=_floor(text_in(fields, "state"), notes),
        **_need(fields, history),
        brief=one_line(sanitize(text_in(fields, "escalation_brief")), BRIEF_LIMIT),
        claude_session_id=_claude_session(text_in(fields, "claude_session_id"), notes),
        local_summary=_summary(fields, "last_local_summary"),
        claude_summary=_summary(fields, "last_claude_summary"),
        source_mark=mark,
    )
    used = moment_in(fields, "last_used") or (turns[-1].ended_at if turns else None) or began
    return Found(state, used, iter(turns), history.left_out, notes)


class _History:
    """The entries of a history as turns: one begins with each prompt, or where another agent goes on."""

    def __init__(self, fields: Fields, began: datetime) -> None:
        self.left_out: Counter[str] = Counter()
        self.turns_of: list[int] = []
        """The number of the turn that each entry went to."""
        self._maker = TurnMaker(_without_tags(fields))
        self._at = began
        self._open_calls: deque[str] = deque()
        self._calls = 0
        entries = objects_in(fields, "history")
        for entry in entries:
            self._at = moment_in(entry, "timestamp") or self._at
            self._read(entry)
            self.turns_of.append(self._maker.number)
        self._maker.end()
        self.turns = list(self._maker.taken())
        listed = fields.get("history")
        if isinstance(listed, list) and len(listed) > len(entries):
            self.left_out["damaged entries"] += len(listed) - len(entries)

    def _read(self, entry: Fields) -> None:
        match text_in(entry, "role"):
            case "user":
                agent = _AGENTS.get(text_in(entry, "agent"), "local")
                self._maker.begin(agent, text_in(entry, "content"), self._at)
                self._open_calls.clear()
            case "assistant":
                self._read_answer(entry)
            case "tool_result":
                self._read_result(entry)
            case _:
                self.left_out["entries of an unknown role"] += 1

    def _read_answer(self, entry: Fields) -> None:
        agent = _AGENTS.get(text_in(entry, "agent"))
        if agent is not None and not self._maker.answered_by(agent):
            self._maker.end()
        self._maker.go_on(agent or "local", self._at)
        self._maker.step(str(len(self.turns_of)), text_in(entry, "agent_name"))
        self._maker.think(text_in(entry, "thinking"))
        self._maker.say(text_in(entry, "content"))
        for call in objects_in(entry, "tool_calls"):
            self._calls += 1
            self._open_calls.append(str(self._calls))
            arguments = call.get("arguments")
            written = arguments if isinstance(arguments, str | dict) else "{}"
            self._maker.call(str(self._calls), text_in(call, "name"), written)

    def _read_result(self, entry: Fields) -> None:
        if not self._open_calls:
            self.left_out["results without a call"] += 1
            return
        self._maker.result(self._open_calls.popleft(), text_in(entry, "content"), is_error=False)
        self._maker.touch(self._at)


class _Cleaning:
    """Texts without controls, and without the tags that one of its agents left in them."""

    def __init__(self, nonces: list[str]) -> None:
        self._nonces = nonces

    def __call__(self, text: str) -> str:
        text = sanitize(text)
        for nonce in self._nonces:
            text, _ = parse(text, nonce)
        return text


def _without_tags(fields: Fields) -> _Cleaning:
    return _Cleaning(
        [n for n in (text_in(fields, "escalation_nonce"), text_in(fields, "primary_nonce")) if n]
    )


def _need(fields: Fields, history: _History) -> dict[str, Any]:
    """The need, who set it as far as the history tells, and the turn in which it was set."""
    need = one_line(_without_tags(fields)(text_in(fields, "current_need")), NEED_LIMIT)
    if not need:
        return {}
    place, numbers = count_in(fields, "current_need_set_at"), history.turns_of
    if not (place and numbers):
        return {"need": need, "need_by": "local"}
    number = min(numbers[min(place, len(numbers)) - 1], len(history.turns))
    agents: dict[int, AgentRole] = {turn.number: turn.agent for turn in history.turns}
    return {"need": need, "need_by": agents.get(number, "local"), "need_turn": number}


def _floor(state: str, notes: list[str]) -> AgentRole:
    if state and state not in _FLOORS:
        notes.append(
            f"Its state {one_line(sanitize(state), 40)!r} is not known; the local agent has the floor."
        )
    return _FLOORS.get(state, "local")


def _claude_session(found: str, notes: list[str]) -> str | None:
    """Claude's id; other programs' sessions were kept in the same field."""
    if found and not is_uuid(found):
        notes.append("The session it escalated to is not Claude Code's; the next hand-off is a first one.")
    return found if is_uuid(found) else None


def _summary(fields: Fields, key: str) -> str:
    return cut_middle(_without_tags(fields)(text_in(fields, key)), CONTEXT_BUDGET)


def _with_usage(turns: list[Turn], fields: Fields) -> list[Turn]:
    """The session's tokens, on the last turn of the agent that took them."""
    for agent in ("local", "claude"):
        last = max((turn.number for turn in turns if turn.agent == agent), default=0)
        if last:
            turns[last - 1] = turns[last - 1].model_copy(update={"usage": _spent(fields, agent)})
    return turns


def _spent(fields: Fields, agent: str) -> Usage:
    spent = Usage()
    tokens = object_in(fields, "tokens")
    for use in (object_in(tokens, key) for key in tokens):
        if _AGENTS.get(text_in(use, "agent").split(":")[0]) != agent:
            continue
        cached = count_in(use, "cache_read")
        read = count_in(use, "prompt") + cached + count_in(use, "cache_creation")
        spent = spent.plus(
            Usage(input_tokens=read, cached_tokens=cached, output_tokens=count_in(use, "completion"))
        )
    return spent
