"""`milk-tui sessions`: lists what is stored."""

import json
from datetime import datetime

from milk_tui.cli.wish import Wish, here
from milk_tui.core.cut import one_line
from milk_tui.storage.reading import SessionEntry
from milk_tui.storage.session_store import SessionStore

MOST = 1_000


def run_sessions(wish: Wish, *, only_here: bool, as_json: bool) -> None:
    """Print the sessions, last used first."""
    found = SessionStore(wish.settings().home).listed(here() if only_here else None, MOST)
    if as_json:
        print(json.dumps([entry.model_dump(mode="json") for entry in found], indent=2, ensure_ascii=False))
        return
    if not found:
        print("No sessions yet.")
    for entry in found:
        print(_line(entry))


def _line(entry: SessionEntry) -> str:
    when = _local(entry.used_at).strftime("%Y-%m-%d %H:%M")
    turns = f"{entry.turns} turn" + ("" if entry.turns == 1 else "s")
    return f"{entry.id[:8]}  {when}  {entry.floor:<6}  {turns:>9}  {one_line(entry.title, 60)}  {entry.cwd}"


def _local(moment: datetime) -> datetime:
    return moment.astimezone()
