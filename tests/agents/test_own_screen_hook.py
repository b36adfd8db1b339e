"""The program that Claude Code runs as a hook in its own screen."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from milk_tui.agents.claude import hook

SESSION = "11111111-2222-4333-8444-555555555555"
OTHER = "99999999-2222-4333-8444-555555555555"


def run(folder: Path, word: str, session: str = SESSION) -> str:
    """What one hook says; the context in it, where there is any."""
    command = [sys.executable, "-I", "-S", hook.__file__, str(folder), word]
    event = json.dumps({"session_id": session, "transcript_path": f"/t/{session}.jsonl", "source": "startup"})
    done = subprocess.run(command, input=event, capture_output=True, text=True, timeout=20, check=True)
    return str(json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]) if done.stdout else ""


def prepared(folder: Path, news: int, whole: int) -> Path:
    """A folder with so many pieces of each kind."""
    (folder / hook.OPENED).write_text(SESSION)
    for is_opened, count in ((True, news), (False, whole)):
        for place in range(count):
            path = hook.piece(folder, str(place), is_opened=is_opened)
            path.write_text(f"{path.name}")
    return folder


def test_each_session_is_told_its_pieces_once(tmp_path: Path) -> None:
    prepared(tmp_path, news=1, whole=1)
    assert [run(tmp_path, "0"), run(tmp_path, "0")] == ["news-0", ""]
    assert [run(tmp_path, "0", OTHER), run(tmp_path, "0", OTHER)] == ["whole-0", ""]


def test_a_hook_without_a_piece_says_nothing_at_once(tmp_path: Path) -> None:
    assert run(prepared(tmp_path, news=1, whole=3), "1") == ""


def test_pieces_come_in_order_however_they_are_started(tmp_path: Path) -> None:
    prepared(tmp_path, news=3, whole=0)
    with ThreadPoolExecutor() as pool:
        said = [pool.submit(run, tmp_path, place) for place in ("2", "1", "0")]
        assert [each.result() for each in as_completed(said)] == ["news-0", "news-1", "news-2"]


def test_sessions_are_noted_in_the_order_in_which_they_were_opened_first(tmp_path: Path) -> None:
    assert hook.begun(tmp_path) == {}
    for session in (SESSION, OTHER, SESSION):
        run(tmp_path, hook.BEGUN, session)
    with (tmp_path / hook.BEGUN).open("a") as file:
        file.write("{ killed while it wr")
    assert hook.begun(tmp_path) == {SESSION: f"/t/{SESSION}.jsonl", OTHER: f"/t/{OTHER}.jsonl"}
    assert list(hook.begun(tmp_path)) == [SESSION, OTHER]
