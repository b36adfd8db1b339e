"""A program that saves in a loop until it is killed, and says after every save what it has saved."""

import sys
from pathlib import Path

from milk_tui.core import events as ev
from milk_tui.storage.session_store import SessionStore
from tests.storage.stored_sessions import begin, end, new_session, use_tool


def report(turns: int, words: int) -> None:
    print(turns, words, flush=True)


def main(home: Path) -> None:
    store = SessionStore(home)
    name = store.latest("/tmp")
    session = store.load(name) if name else new_session()
    while True:
        begin(session, f"prompt {len(session.turns)}")
        for word in range(20):
            session.apply(ev.TextDelta(text="word "))
            store.save(session)
            report(len(session.turns), word + 1)
        use_tool(session, f"call {len(session.turns)}", answered=False)
        store.save(session)
        end(session)
        store.save(session)
        report(len(session.turns), 0)


main(Path(sys.argv[1]))
