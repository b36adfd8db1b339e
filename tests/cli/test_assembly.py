"""Joining the parts: what must hold for every command that opens a session."""

from pathlib import Path

from tests.e2e.running import NOWHERE, fresh_python


def test_a_logged_mistake_is_never_printed_over_an_answer(tmp_path: Path) -> None:
    code = f"""
import logging, sys
sys.stderr = sys.stdout
from milk_tui.cli.assembly import joined
from milk_tui.cli.wish import Wish
joined(Wish(url={NOWHERE!r}, home={str(tmp_path)!r}))
try:
    1 / 0
except ZeroDivisionError:
    logging.getLogger("milk_tui.agents.any").exception("A turn failed")
print("end")
"""
    assert fresh_python(code) == "end\n"
