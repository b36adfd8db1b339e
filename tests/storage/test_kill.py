import random
import subprocess
import sys
from pathlib import Path

from milk_tui.core.messages import Turn
from milk_tui.storage.session_store import SessionStore


def killed_while_saving(home: Path, reports: int) -> tuple[int, int]:
    """Turns and words of the running turn that a killed child had reported as saved."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.storage.saving_child", str(home)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    with child.stdout:
        lines = [child.stdout.readline() for _ in range(reports)]
        child.kill()
        lines += child.stdout.read().splitlines(keepends=True)
    child.wait(timeout=30)
    whole = [line for line in lines if line.endswith("\n")]
    turns, words = whole[-1].split()
    return int(turns), int(words)


def check(turn: Turn) -> None:
    calls = [call.id for call in turn.calls]
    assert calls == [message.result.call_id for message in turn.messages if message.result]
    assert turn.prompt == f"prompt {turn.number - 1}" and turn.status in ("finished", "interrupted")
    if turn.status == "finished":
        assert turn.answer == "word " * 20 and len(calls) == 1


def test_a_kill_at_any_moment_loses_nothing_that_was_saved(tmp_path: Path) -> None:
    dice = random.Random(7)
    known = 0
    for _ in range(6):
        turns, words = killed_while_saving(tmp_path, dice.randint(1, 60))
        store = SessionStore(tmp_path)
        session = store.load("session-1")
        store.close()
        assert len(session.turns) >= turns + (words > 0) >= known
        if words and len(session.turns) == turns + 1:
            assert session.turns[-1].answer.count("word ") >= words
        assert [turn.number for turn in session.turns] == list(range(1, len(session.turns) + 1))
        for turn in session.turns:
            check(turn)
        known = len(session.turns)
    assert store.warnings == ()
