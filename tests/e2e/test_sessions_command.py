"""`milk-tui sessions`, the options every command takes, and what answers where nothing is there yet."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from milk_tui.storage.session_store import SessionStore
from tests.agents.canned_replies import text_reply
from tests.agents.loopback_server import ModelServer
from tests.e2e.running import REPO, Program, assert_sentence, llama_server
from tests.storage.stored_sessions import new_session, say


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with llama_server() as server:
        server.default = text_reply("Hello.")
        yield server


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


def store_session(home: Path, name: str, cwd: str, prompt: str) -> None:
    session = new_session(name, cwd)
    say(session, prompt, "An answer.")
    store = SessionStore(home)
    store.save(session)
    store.close()


def test_sessions_are_listed_with_the_last_used_first(program: Program) -> None:
    program.environment()
    store_session(program.home, "aaaa1111-old", str(program.cwd), "The first matter")
    store_session(program.home, "aaaa2222-new", "/elsewhere", "Another \x1b[31mmatter")
    listed = program.run("sessions", "--json").json
    assert [(entry["id"], entry["cwd"], entry["turns"]) for entry in listed] == [
        ("aaaa2222-new", "/elsewhere", 1),
        ("aaaa1111-old", str(program.cwd), 1),
    ]
    first, second = program.run("sessions").out.splitlines()
    assert first.startswith("aaaa2222") and "Another matter" in first and "/elsewhere" in first
    assert second.startswith("aaaa1111") and "The first matter" in second
    here = program.run("sessions", "--here").out
    assert "The first matter" in here and "Another" not in here

    several = program.run("context", "aaaa")
    assert (several.status, several.out) == (1, "")
    assert "aaaa1111-old" in several.err and "aaaa2222-new" in several.err
    assert_sentence(several.err)


def test_without_sessions_the_list_says_so_and_makes_nothing(program: Program) -> None:
    ran = program.run("sessions")
    assert (ran.status, ran.out, ran.err) == (0, "No sessions yet.\n", "")
    assert not program.home.exists()


def test_a_file_of_sessions_that_is_none_is_kept_and_told_of_in_sentences(program: Program) -> None:
    program.home.mkdir(parents=True)
    (program.home / "sessions.db").write_bytes(b"this is no database at all " * 400)
    ran = program.run("sessions")
    assert "Traceback" not in ran.err
    kept = [path.read_bytes() for path in program.home.iterdir() if path.name != "sessions.db"]
    assert any(raw.startswith(b"this is no database") for raw in kept)


@pytest.mark.parametrize("form", ["127.0.0.1:{}", "http://127.0.0.1:{}", "http://127.0.0.1:{}/v1/"])
def test_an_address_is_taken_in_every_form_and_options_in_every_place(
    program: Program, server: ModelServer, form: str
) -> None:
    home, elsewhere = program.root / "other", program.root / "third"
    options = ("--url", form.format(server.port), "--model", "big", "--home", str(home))
    assert program.run(*options, "ask", "Before").status == 0
    assert program.run("ask", "Behind", *options).status == 0
    both = program.run(*options, "ask", "Both", "--model", "bigger", "--home", str(elsewhere))
    assert (both.status, both.out) == (0, "Hello.\n")
    assert [chat.body["model"] for chat in server.chats] == ["big", "big", "bigger"]
    assert len(SessionStore(home).listed()) == 2 and len(SessionStore(elsewhere).listed()) == 1
    assert not program.home.exists()


def test_the_folder_can_be_moved_by_a_variable(program: Program, server: ModelServer) -> None:
    program.environ["MILK_HOME"] = str(program.root / "moved")
    assert program.run("--url", server.url, "ask", "Hello").status == 0
    assert program.run("--home", str(program.root / "moved"), "sessions", "--json").json[0]["turns"] == 1
    assert not program.home.exists()


@pytest.mark.parametrize(
    "arguments", [("frobnicate",), ("ask",), ("--frobnicate",), ("context", "--situation", "x")]
)
def test_wrong_usage_is_told_with_status_2(program: Program, arguments: tuple[str, ...]) -> None:
    ran = program.run(*arguments)
    assert (ran.status, ran.out) == (2, "")
    assert_sentence(ran.err)


def test_the_chat_without_a_terminal_says_what_to_use_instead(program: Program) -> None:
    for arguments in ((), ("--demo",)):
        ran = program.run(*arguments)
        assert (ran.status, ran.out) == (1, "")
        assert "milk-tui ask" in ran.err
        assert_sentence(ran.err)


@pytest.mark.parametrize(
    "arguments", [("--version",), ("--help",), ("ask", "--help"), ("model", "pull", "--help")]
)
def test_help_and_version_need_nothing_at_all(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "milk_tui", *arguments],
        env={"HOME": str(tmp_path / "missing"), "PATH": "", "PYTHONPATH": str(REPO)},
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert ("version" in done.stdout) if "--version" in arguments else ("Usage:" in done.stdout)
    assert list(tmp_path.iterdir()) == []
