"""Taking files over: what becomes of the store, of the sources, and of everything that is no session."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from milk_tui.core import events as ev
from milk_tui.storage.importing.importer import Imported, Importer
from milk_tui.storage.importing.searching import search
from milk_tui.storage.locks import SessionLock
from milk_tui.storage.session_store import SessionStore
from tests.e2e.running import REPO
from tests.storage.importing.claude_file import SESSION, ClaudeFile, large_file, said
from tests.storage.importing.go_files import CLAUDE, GO_SESSION, newest, oldest, write
from tests.storage.stored_sessions import new_session, say


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def take(home: Path, *paths: Path) -> list[Imported]:
    importer = Importer(home)
    try:
        return [importer.take(path) for path in search(paths).files]
    finally:
        importer.close()


def dump(home: Path) -> list[str]:
    """Every row of the store."""
    import sqlite3

    connection = sqlite3.connect(home / "sessions.db")
    try:
        return list(connection.iterdump())
    finally:
        connection.close()


def one_turn(prompt: str = "go", answer: str = "done") -> ClaudeFile:
    file = ClaudeFile()
    file.user(prompt)
    file.assistant("m1", said(answer))
    return file


def test_a_session_is_stored_as_if_it_had_been_had_here(home: Path, tmp_path: Path) -> None:
    claude, go = one_turn().write(tmp_path), write(tmp_path, newest() | {"claude_session_id": ""})
    first, second = take(home, claude, go)
    assert (first.outcome, first.session, first.title, first.turns) == ("taken", GO_SESSION, "auth", 1)
    assert (second.outcome, second.session, second.title, second.turns) == ("taken", SESSION, "go", 1)
    store = SessionStore(home)
    listed = store.listed()
    assert [(entry.id, entry.used_at.isoformat()[:19]) for entry in listed] == [
        (SESSION, "2026-08-20T09:12:05"),
        (GO_SESSION, "2026-08-20T07:31:55"),
    ]
    session = store.load(SESSION)
    assert (session.situation, session.state.claude_session_id) == ("resume", SESSION)
    assert session.stay_summary().text == "User: go\nClaude: done"
    local = store.load(GO_SESSION)
    assert "auth.py" in local.local_summary.text and local.situation == "first"
    store.close()


def test_taking_twice_changes_nothing(home: Path, tmp_path: Path) -> None:
    paths = (one_turn().write(tmp_path), write(tmp_path, oldest() | {"claude_session_id": ""}))
    take(home, *paths)
    before = dump(home)
    again = take(home, *paths)
    assert [report.outcome for report in again] == ["unchanged", "unchanged"]
    assert dump(home) == before


def test_a_source_that_has_grown_is_taken_anew(home: Path, tmp_path: Path) -> None:
    file = one_turn()
    take(home, file.write(tmp_path))
    file.user("more")
    file.assistant("m2", said("more done"))
    (report,) = take(home, file.write(tmp_path))
    assert (report.outcome, report.turns) == ("updated", 2)
    store = SessionStore(home)
    assert [turn.prompt for turn in store.load(SESSION).turns] == ["go", "more"]
    store.close()


def test_a_session_that_was_gone_on_with_here_is_left_as_it_is(home: Path, tmp_path: Path) -> None:
    file = one_turn()
    take(home, file.write(tmp_path))
    store = SessionStore(home)
    session = store.load(SESSION)
    say(session, "here", "answered here")
    store.save(session)
    store.close()
    before = dump(home)
    file.user("there")
    (report,) = take(home, file.write(tmp_path))
    assert report.outcome == "unchanged" and "gone on with" in report.why
    assert dump(home) == before


def test_a_change_without_a_turn_makes_a_session_ours_too(home: Path, tmp_path: Path) -> None:
    file = one_turn()
    take(home, file.write(tmp_path))
    store = SessionStore(home)
    session = store.load(SESSION)
    session.apply(ev.NeedEdited(text="my own words"))
    store.save(session)
    store.close()
    file.user("there")
    (report,) = take(home, file.write(tmp_path))
    assert "gone on with" in report.why


def test_a_session_that_is_open_is_not_written_to(home: Path, tmp_path: Path) -> None:
    file = one_turn()
    take(home, file.write(tmp_path))
    before = dump(home)
    file.user("more")
    with SessionLock(home, SESSION):
        (report,) = take(home, file.write(tmp_path))
    assert report.outcome == "skipped" and "open in another window" in report.why
    assert dump(home) == before
    assert take(home, file.write(tmp_path))[0].outcome == "updated"


def test_claudes_part_of_a_session_that_is_here_is_not_taken_twice(home: Path, tmp_path: Path) -> None:
    assert CLAUDE == SESSION
    go, claude = take(home, one_turn().write(tmp_path), write(tmp_path, newest()))
    assert (go.outcome, claude.outcome) == ("taken", "skipped")
    assert f"Claude's part of session {GO_SESSION}" in claude.why

    ours = tmp_path / "ours"
    session = new_session("ours", "/tmp")
    say(session, "hello", "hi")
    session.apply(ev.TurnStarted(agent="claude", prompt="x", at=session.turns[0].started_at))
    session.apply(ev.AgentReady(session_id=SESSION))
    session.apply(ev.TurnEnded(at=session.turns[0].started_at))
    store = SessionStore(ours)
    store.save(session)
    store.close()
    (report,) = take(ours, one_turn().write(tmp_path))
    assert "Claude's part of session ours" in report.why


def test_two_sessions_never_resume_the_same_one_of_claudes(home: Path, tmp_path: Path) -> None:
    take(home, one_turn().write(tmp_path))
    (report,) = take(home, write(tmp_path, newest()))
    assert report.outcome == "taken" and SESSION in report.notes[0]
    store = SessionStore(home)
    assert store.load(GO_SESSION).state.claude_session_id is None
    store.close()


def test_the_same_session_in_two_places_is_read_once(home: Path, tmp_path: Path) -> None:
    first = one_turn().write(tmp_path / "a")
    second = one_turn("other").write(tmp_path / "b")
    reports = take(home, first, second)
    assert [report.outcome for report in reports] == ["taken", "skipped"]
    assert str(first) in reports[1].why


def test_what_is_no_session_is_a_sentence_and_the_others_go_on(home: Path, tmp_path: Path) -> None:
    good = one_turn().write(tmp_path)
    empty = write(tmp_path, oldest() | {"history": None}, "11111111-1111-4111-8111-111111111111")
    broken = write(tmp_path, "{", "22222222-2222-4222-8222-222222222222")
    missing, other = tmp_path / "missing.jsonl", tmp_path / "notes.txt"
    other.write_text("x")
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    device = tmp_path / "device.jsonl"
    device.symlink_to("/dev/zero")
    paths = (empty, broken, missing, other, pipe, device, good)
    reports = {Path(report.path).name: report for report in take(home, *paths)}
    assert len(reports) == len(paths)
    assert [report.outcome for report in reports.values()].count("taken") == 1
    for path, words in (
        (empty, "no prompt and no answer"),
        (broken, "damaged"),
        (missing, "No such file"),
        (other, "is no session"),
        (pipe, "not a regular file"),
        (device, "not a regular file"),
    ):
        report = reports[path.name]
        assert report.outcome == "skipped" and words in report.why and str(path) in report.why


def test_sources_are_only_read(home: Path, tmp_path: Path) -> None:
    sources = tmp_path / "sources"
    one_turn().write(sources)
    write(sources, newest())
    for path in sources.rglob("*"):
        path.chmod(0o500 if path.is_dir() else 0o400)

    def state() -> list[tuple[str, int, int, bytes]]:
        files = (path for path in sorted(sources.rglob("*")) if path.is_file())
        return [(str(p), p.stat().st_mtime_ns, p.stat().st_mode, p.read_bytes()) for p in files]

    before = state()
    take(home, sources)
    assert state() == before
    for path in sources.rglob("*"):
        path.chmod(0o700)


def test_folders_are_searched_for_names_of_sessions_alone(tmp_path: Path) -> None:
    claude = one_turn().write(tmp_path)
    go = write(tmp_path, newest())
    for name in ("index", f"{GO_SESSION}.workflow", f"{GO_SESSION}.workflow.a1", "global"):
        write(tmp_path, {}, name)
    beside = claude.parent / SESSION / "subagents"
    beside.mkdir(parents=True)
    (beside / "agent-1.jsonl").write_text("{}")
    (claude.parent / "agent-2.jsonl").write_text("{}")
    found = search([tmp_path, claude, claude.parent])
    assert (found.files, found.failed) == ([go, claude], [])
    (tmp_path / "none").mkdir()
    (((path, why),)) = search([tmp_path / "none"]).failed
    assert path == tmp_path / "none" and "no file named like" in why


def test_a_write_that_fails_leaves_the_store_as_it_was(home: Path, tmp_path: Path) -> None:
    file = one_turn()
    take(home, file.write(tmp_path))
    before = dump(home)
    file.user("more")
    path = file.write(tmp_path)
    importer = Importer(home)
    found = importer._read(path)
    path.unlink()
    with pytest.raises(Exception, match="cannot be read"):
        importer._taken(path, found)
    importer.close()
    assert dump(home) == before


def test_a_large_file_does_not_take_its_size_in_memory(home: Path, tmp_path: Path) -> None:
    """Measured from outside, in a process that does nothing else, beside one that reads next to nothing."""
    small, large = one_turn().write(tmp_path / "small"), large_file(tmp_path / "large", 60_000_000)
    code = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from milk_tui.storage.importing.importer import Importer\n"
        "made = Importer(Path(sys.argv[1])).take(Path(sys.argv[2]))\n"
        "print(made.model_dump_json())\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    peaks = []
    for place, path in enumerate((small, large)):
        done = subprocess.run(
            [sys.executable, "-c", code, str(home / str(place)), str(path)],
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(REPO)},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        report, peak = done.stdout.splitlines()
        assert json.loads(report)["outcome"] == "taken"
        peaks.append(int(peak) * 1024)
    assert json.loads(report)["turns"] > 200
    assert peaks[1] - peaks[0] < 25_000_000
