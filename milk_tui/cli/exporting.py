"""`milk-tui sessions export`: prints a whole session, or writes it to a file."""

from contextlib import closing
from typing import cast

from milk_tui.cli.saying import say
from milk_tui.cli.wish import Wish, here
from milk_tui.conversation.elsewhere import saved
from milk_tui.conversation.opening import stored
from milk_tui.core.secrets import found, looks
from milk_tui.storage.exporting.forms import Form, exported, form_of
from milk_tui.storage.session_store import SessionStore


def run_export(wish: Wish, session_id: str, form: str | None, output: str) -> None:
    """Export one session; it is only read. Raises `MilkError`."""
    settings = wish.settings()
    with closing(SessionStore(settings.home)) as store:
        session = stored(store, settings, store.find(session_id))
    text = exported(session, cast(Form, form) if form else form_of(output))
    if output:
        path = saved(text, output, here(), what="session")
        say(f"{len(text):,} characters are in {path}, which only you may read.")
    else:
        print(text, end="")
    count = len(found(text))
    if count:
        say(f"{looks(count)} in it; nothing is masked.")
