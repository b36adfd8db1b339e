"""`milk-tui usage`: what was spent, from the stored turns."""

from collections.abc import Sequence

from milk_tui.cli.wish import Wish
from milk_tui.conversation.spending import HEADINGS, Row, tables
from milk_tui.core.cut import one_line
from milk_tui.storage.session_store import SessionStore

NAME_WIDTH = 44


def run_usage(wish: Wish, *, as_json: bool) -> None:
    """Print tokens and money by day, by session and by model."""
    report = SessionStore(wish.settings().home).usage()
    if as_json:
        print(report.model_dump_json(indent=2))
    elif not report.total.turns:
        print("Nothing has been spent yet.")
    else:
        print("\n\n".join(_table(title, rows) for title, rows in tables(report)))


def _table(title: str, rows: Sequence[Row]) -> str:
    return "\n".join(_line(row) for row in ((title, *HEADINGS[1:]), *rows))


def _line(row: Row) -> str:
    name, turns, read, cached, written, cost = row
    return (
        f"{one_line(name, NAME_WIDTH):<{NAME_WIDTH}} {turns:>7} {read:>13} {cached:>13} {written:>12}  {cost}"
    )
