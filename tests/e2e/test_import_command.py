"""`milk-tui sessions import`: sessions of the real Claude Code and of the Go program, to be gone on with."""

import asyncio
import json
import os
import pty
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import claude_agent_sdk
import pytest

from milk_tui.storage.importing.branch import branch, node_of
from milk_tui.storage.session_store import SessionStore
from tests.agents.claude_environment import claude_environment
from tests.agents.messages_api import MessagesApi, Refuse, Say, UseTool, UseTools
from tests.e2e.running import Program, Ran, assert_sentence
from tests.storage.importing.claude_file import SESSION, ClaudeFile, said
from tests.storage.importing.go_files import GO_SESSION, newest, write

CLI = Path(claude_agent_sdk.__file__).parent / "_bundled" / "claude"


@pytest.fixture
def program(tmp_path: Path) -> Program:
    program = Program(tmp_path)
    program.environment()
    return program


@pytest.fixture
async def api(program: Program) -> AsyncIterator[MessagesApi]:
    async with MessagesApi() as api:
        program.environ["ANTHROPIC_BASE_URL"] = api.url
        yield api


async def claude(program: Program, api: MessagesApi, prompt: str, *arguments: str) -> dict[str, Any]:
    """Run the real Claude Code as its user does; what it says of the session."""
    process = await asyncio.create_subprocess_exec(
        *(
            str(CLI),
            "-p",
            "--output-format",
            "json",
            "--allowedTools",
            "Bash,Read,Edit",
            *arguments,
            "--",
            prompt,
        ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=program.cwd,
        env=claude_environment(program.root / "home", api.url) | {"CLAUDE_CODE_MAX_RETRIES": "0"},
    )
    try:
        async with asyncio.timeout(60):
            out, err = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert out, err.decode()
    said: dict[str, Any] = json.loads(out)
    return said


async def run(program: Program, *arguments: str) -> Ran:
    return await asyncio.to_thread(program.run, *arguments)


async def work(program: Program, api: MessagesApi) -> str:
    """A session with text, parallel calls, a failure, a change, a resumed turn, a compaction and a refusal."""
    source = program.cwd / "calc.py"
    source.write_text("def add(a, b):\n    return a - b\n")
    check = "python3 -c 'import calc; assert calc.add(2, 2) == 4'"
    api.play(
        UseTools(
            (UseTool("Read", {"file_path": str(source)}, text="I look."), UseTool("Bash", {"command": check}))
        ),
        UseTool("Edit", {"file_path": str(source), "old_string": "a - b", "new_string": "a + b"}),
        UseTool("Bash", {"command": f"{check} && echo passed"}),
        Say("It subtracted; now it adds.", thinking="the sign"),
    )
    session: str = (await claude(program, api, "mend add() in calc.py"))["session_id"]
    api.play(Say("It is the only one."))
    await claude(program, api, "are there others?", "--resume", session)
    api.play(Say("<summary>What was done so far.</summary>"))
    await claude(program, api, "/compact", "--resume", session)
    api.play(Say("Nothing is left."))
    await claude(program, api, "what is left?", "--resume", session)
    async with MessagesApi(otherwise=Refuse(400, "no such thing", "invalid_request_error")) as refusing:
        await claude(program, refusing, "and now?", "--resume", session)
    return session


async def test_a_real_session_of_claude_code_is_taken_whole_and_can_be_gone_on_with(
    program: Program, api: MessagesApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await work(program, api)
    folder = program.root / "home" / ".claude" / "projects"
    taken = await run(program, "sessions", "import", str(folder), "--json")
    assert (taken.status, taken.err) == (0, "")
    (report,) = taken.json
    assert (report["outcome"], report["session"], report["turns"]) == ("taken", session, 4)
    assert not [what for what in report["left_out"] if "unknown" in what or "damaged" in what], report

    # The SDK reads the same file: what it shows is what was taken, message by message.
    (path,) = folder.glob("*/*.jsonl")
    places = enumerate(path.read_text().splitlines())
    nodes = [node for place, line in places if (node := node_of(json.loads(line), place))]
    ours = [node.name for node in branch({node.name: node for node in nodes}) if node.is_message]
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(folder.parent))
    theirs = claude_agent_sdk.get_session_messages(session)
    meta = {node.name for node in nodes if node.is_aside}
    assert [name for name in ours if name not in meta] == [message.uuid for message in theirs]

    stored = program.last
    mended, asked, left, refused = stored.turns
    assert [turn.prompt for turn in stored.turns] == [
        "mend add() in calc.py",
        "are there others?",
        "what is left?",
        "and now?",
    ]
    assert [call.name for call in mended.calls] == ["Read", "Bash", "Edit", "Bash"]
    results = [message.result for message in mended.messages if message.result]
    assert [result.is_error for result in results] == [False, True, False, False]
    assert (mended.status, asked.answer, left.answer) == (
        "finished",
        "It is the only one.",
        "Nothing is left.",
    )
    assert refused.status == "failed" and refused.failure is not None
    told = stored.stay_summary().text
    for words in (
        "mend add() in calc.py",
        str(program.cwd / "calc.py"),
        "AssertionError",
        "passed",
        "subtracted",
    ):
        assert words in told

    again = await run(program, "sessions", "import", str(path))
    assert (again.status, again.err) == (0, "") and again.out.endswith("1 unchanged.\n")

    before = len(api.requests)
    api.play(Say("I remember."))
    answered = await run(program, "--session", session[:8], "ask", "--escalate", "do you remember?")
    assert (answered.status, answered.out) == (0, "I remember.\n"), answered.err
    assert "Nothing is left." in api.requests[before].said, "Claude's own session was not resumed"


def test_options_are_taken_before_between_and_behind(program: Program) -> None:
    source = str(write(program.root, newest()))
    homes = [program.root / name for name in ("before", "between", "behind")]
    for home, arguments in zip(
        homes,
        (
            ("--home", str(homes[0]), "sessions", "import", source),
            ("sessions", "--home", str(homes[1]), "import", source),
            ("sessions", "import", source, "--home", str(homes[2])),
        ),
        strict=True,
    ):
        assert program.run(*arguments).status == 0
        store = SessionStore(home)
        assert [entry.id for entry in store.listed()] == [GO_SESSION]
        store.close()
        listed = program.run("sessions", "--home", str(home), "--json")
        assert listed.json[0]["title"] == "auth"
    assert not program.home.exists()


def test_what_was_taken_what_not_and_why_is_told(program: Program) -> None:
    file = ClaudeFile(session="11111111-1111-4111-8111-111111111111")
    file.user("go \x1b[31mon")
    file.assistant("m1", said("done"))
    file.raw("{damaged")
    file.raw({"type": "hologram"})
    good = file.write(program.root)
    go = write(program.root, newest())
    broken = write(program.root, "{", SESSION)
    ran = program.run("sessions", "import", str(program.root))
    assert ran.status == 0 and ran.err == "" and "\x1b" not in ran.out
    assert f"{GO_SESSION[:8]}     1 turn  auth" in ran.out
    assert "11111111     1 turn  go on" in ran.out
    assert "left out: 1 damaged lines, 1 records of the unknown kind hologram" in ran.out
    assert f"{broken} is damaged" in ran.out
    assert ran.out.endswith("2 taken, 1 skipped.\n")
    again = {
        Path(each["path"]): each
        for each in program.run("sessions", "--json", "import", str(program.root)).json
    }
    assert {path: each["outcome"] for path, each in again.items()} == {
        go: "unchanged",
        good: "unchanged",
        broken: "skipped",
    }


def test_without_anything_to_take_the_status_is_1_and_nothing_is_made(program: Program) -> None:
    empty = program.root / "empty"
    empty.mkdir()
    for argument in (str(empty), "/dev/zero", str(program.root / "missing.jsonl")):
        ran = program.run("sessions", "import", argument)
        assert (ran.status, ran.err) == (1, "")
        assert argument in ran.out and ran.out.endswith("1 skipped.\n")
        assert_sentence(ran.out)
    assert not program.home.exists()
    usage = program.run("sessions", "import")
    assert usage.status == 2
    assert_sentence(usage.err)


def test_a_store_that_cannot_be_written_is_told_once_after_what_was_taken(program: Program) -> None:
    source = write(program.root, newest())
    program.home.parent.mkdir(parents=True, exist_ok=True)
    program.home.write_text("in the way")
    ran = program.run("sessions", "import", str(source))
    assert ran.status == 1
    assert_sentence(ran.err)


def test_a_bar_is_drawn_where_somebody_sees_it(program: Program) -> None:
    source = write(program.root, newest())
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            program.command("sessions", "import", str(source)),
            env=program.environment(),
            cwd=program.cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=theirs,
            timeout=60,
        )
        os.close(theirs)
        shown = os.read(ours, 65_536).decode()
    finally:
        os.close(ours)
    assert done.returncode == 0 and done.stdout.endswith(b"1 taken.\n")
    assert "Reading" in shown and "100%" in shown


def test_the_hand_off_of_an_imported_session_is_made_of_its_local_work(program: Program) -> None:
    source = write(program.root, newest() | {"claude_session_id": ""})
    program.run("sessions", "import", str(source))
    handed = program.run("context", GO_SESSION[:8]).out
    for words in (
        "replace cookies with signed tokens",
        "why does login answer 500?",
        "[read_file] auth.py",
        "88: user.id",
        "It is None.",
    ):
        assert words in handed
