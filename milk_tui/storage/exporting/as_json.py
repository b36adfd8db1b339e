"""A session as JSON that can be taken over again: everything that is stored of it, and its bricks to be read.

One turn is one line. `own_session` in the importing room reads it.
"""

import json

from milk_tui.core.session import Session
from milk_tui.core.versions import BrickVersion
from milk_tui.storage.rows import written

FORMAT = "milk-tui session"
SCHEMA = 1
"""How the fields are to be read; a later program that changes their meaning counts on."""


def as_json(session: Session) -> str:
    """The whole session; an unfinished turn as far as it is."""
    running = session.running
    turns = [*session.turns, running] if running else session.turns
    bricks = {
        "current_need": session.need.text,
        "escalation_brief": session.state.brief,
        "local_summary": session.local_summary.text,
        "claude_summary": session.claude_summary.text,
    }
    fields = (
        f'"format": {json.dumps(FORMAT)}',
        f'"schema": {SCHEMA}',
        f'"title": {json.dumps(session.title, ensure_ascii=False)}',
        f'"state": {written(session.state)}',
        f'"bricks": {json.dumps(bricks, ensure_ascii=False)}',
        f'"percepts": {_listed([written(percept) for percept in session.percepts])}',
        f'"versions": {_listed([written(each) for each in _versions(session)])}',
        f'"turns": {_listed([written(turn) for turn in turns])}',
    )
    return "{" + ",\n".join(fields) + "}\n"


def _versions(session: Session) -> list[BrickVersion]:
    return sorted(session.versions.since(0), key=lambda version: version.number)


def _listed(lines: list[str]) -> str:
    return "[" + "".join(f"\n{line}," for line in lines).removesuffix(",") + "]"
