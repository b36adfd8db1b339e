"""Running commands: nothing asked for by one waits for ever, outlives it, or runs other than as it was shown."""

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.tools.tool_room import DEADLINE, Room, is_running, pid_in, wait_until

REPO = Path(__file__).parents[2]

SOON = 2.0
"""Seconds within which what cannot go on must have come back."""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="commands need a POSIX system")


async def test_output_and_exit_status_come_back(room: Room) -> None:
    text = await room.done("run_command", command="echo out; echo err >&2")
    assert text.startswith("out\nerr\n[Exit status 0 after 0.")
    text = await room.refused("run_command", command="exit 3")
    assert text.startswith("[Exit status 3 after")
    assert "Ended by SIGSEGV" in await room.refused("run_command", command="kill -SEGV $$")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("cat", "Exit status 0"),
        ("read x </dev/tty", "/dev/tty"),
        (
            "git init -q . && git -c user.name=a -c user.email=a@b commit --allow-empty",
            "empty commit message",
        ),
        ("sleep 300 & echo hi", "hi\n[Exit status 0"),
        ("sleep 300 & disown; echo hi", "were ended"),
        ("nohup sleep 300 >/dev/null 2>&1 & echo hi", "were ended"),
        ("python3 -c 'input()'", "EOFError"),
        ("git -c core.pager='less' --paginate version", "git version"),
        ("tty", "not a tty"),
        ("-x", "-x: command not found"),
        ("--version", "--version: command not found"),
        ("exec >&- 2>&-; sleep 0.1", "Exit status 0"),
    ],
)
async def test_what_would_wait_for_somebody_ends_soon(room: Room, command: str, words: str) -> None:
    began = time.monotonic()
    result = await room.call("run_command", command=command)
    assert time.monotonic() - began < SOON
    assert words in result.text


async def test_a_child_that_left_the_group_does_not_hold_the_result(room: Room) -> None:
    began = time.monotonic()
    text = await room.done(
        "run_command", command="setsid sh -c 'echo $$ >pid; exec sleep 20' & sleep 0.2; echo hi"
    )
    assert time.monotonic() - began < SOON
    assert text.startswith("hi\n")
    os.kill(pid_in(room.directory / "pid"), 9)


@pytest.mark.parametrize(
    "command",
    [
        "echo $$ >pid; sleep 300",
        "trap '' TERM; echo $$ >pid; sleep 300",
        "trap '' TERM HUP INT; (trap '' TERM; echo $BASHPID >pid; while :; do sleep 1; done) | cat",
        "echo $$ >pid; kill -STOP $$",
    ],
)
async def test_a_time_limit_ends_everything(room: Room, command: str) -> None:
    began = time.monotonic()
    assert "time limit of 1 s" in await room.refused("run_command", command=command, timeout=1)
    assert time.monotonic() - began < 5
    pid = pid_in(room.directory / "pid")
    wait_until(lambda: not is_running(pid))


@pytest.mark.parametrize("times", [1, 2])
async def test_cancelling_ends_everything_however_impatient(room: Room, times: int) -> None:
    command = "trap '' TERM; (trap '' TERM; echo $BASHPID >child; sleep 300) & echo $$ >pid; wait; sleep 300"
    running = asyncio.create_task(room.call("run_command", command=command))
    pids = [await asyncio.to_thread(pid_in, room.directory / name) for name in ("pid", "child")]
    for _ in range(times):
        running.cancel()
        await asyncio.sleep(0.05)
    with pytest.raises(asyncio.CancelledError):
        await running
    wait_until(lambda: not any(map(is_running, pids)))


def test_a_command_does_not_outlive_a_program_that_is_killed(room: Room) -> None:
    command = "trap '' HUP TERM; echo $$ >pid; echo begun; sleep 300"
    script = f"""
import asyncio, json
from pathlib import Path
from milk_tui.core.messages import ToolCall
from tests.tools.tool_room import Room

room = Room(Path({str(room.directory)!r}), Path({str(room.keep)!r}))
call = ToolCall(id="1", name="run_command", arguments=json.dumps(dict(command={command!r})))
asyncio.run(room.tools.run(call, room.ask, lambda text: (room.directory / "reported").touch()))
"""
    program = subprocess.Popen([sys.executable, "-c", script], cwd=REPO)
    try:
        wait_until((room.directory / "reported").exists)
        pid = pid_in(room.directory / "pid")
        assert is_running(pid)
    finally:
        program.kill()
        program.wait()
    wait_until(lambda: not is_running(pid))


async def test_endless_output_is_ended_and_bounded(room: Room) -> None:
    text = await room.refused("run_command", command="yes 'one line of many'")
    assert len(text) <= room.limit_chars
    assert "wrote more than 8 MB" in text
    assert len("".join(room.reports)) < 1_000_000


async def test_five_megabytes_reach_the_model_as_head_and_tail(room: Room) -> None:
    text = await room.done(
        "run_command", command="echo first; head -c 5000000 /dev/zero | tr '\\0' x; echo; echo last"
    )
    assert len(text) <= room.limit_chars
    assert "first\n" in text and "\nlast\n[Exit status 0" in text
    assert "characters left out" in text
    (kept,) = room.keep.iterdir()
    assert str(kept) in text
    assert kept.stat().st_size > 5_000_000
    assert kept.stat().st_mode & 0o777 == 0o600


async def test_output_is_shown_while_the_command_runs(room: Room) -> None:
    running = asyncio.create_task(
        room.call("run_command", command="echo now; until test -e go; do sleep 0.02; done")
    )
    async with asyncio.timeout(DEADLINE):
        while not room.reports:
            await asyncio.sleep(0.01)
    assert room.reports == ["now\n"]
    (room.directory / "go").touch()
    assert not (await running).is_error


async def test_output_cannot_drive_the_terminal(room: Room) -> None:
    text = await room.done(
        "run_command", command=r"printf 'a\033]52;c;ZXZpbA==\007b\033[2Jc\2332J\377d\033c\n'"
    )
    assert text.startswith("abc")
    assert not {"\x1b", "\x07", "\x9b"} & set(text)


async def test_a_line_drawn_over_is_shown_as_it_ended(room: Room) -> None:
    text = await room.done("run_command", command=r"printf '10%%\r50%%\rdone\nwindows\r\n'")
    assert text.startswith("done\nwindows\n[")


async def test_nothing_of_a_shell_lasts_to_the_next_call(room: Room) -> None:
    await room.done("run_command", command="mkdir sub && cd sub && export X=1 && pwd")
    assert (await room.done("run_command", command="echo $X; pwd")).startswith(f"\n{room.directory}\n")


async def test_secrets_are_not_passed_on_and_the_question_says_so(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = {
        "ANTHROPIC_BASE": "s3cret",
        "MILK_API_KEY": "s3cret",
        "GITHUB_TOKEN": "s3cret",
        "AWS_SECRET_ACCESS_KEY": "s3cret",
        "PGPASSWORD": "s3cret",
        "mysql_pwd": "s3cret",
        "DATABASE_URL": "postgres://me:s3cret@host/db",
        "SOMETHING": "ghp_s3cret",
    }
    for name, value in {**secret, "PLAIN": "kept", "BASH_ENV": "/tmp/s3cret"}.items():
        monkeypatch.setenv(name, value)
    text = await room.done("run_command", command="env")
    assert "s3cret" not in text
    assert "PLAIN=kept" in text and "PAGER=cat" in text and "PATH=" in text
    reason = room.questions[0].reason
    assert all(name in reason for name in secret)
    assert "s3cret" not in reason


@pytest.mark.parametrize(
    "command",
    [
        "git status",
        "git status && rm -rf x",
        "git status; id",
        "git status | sh",
        "git status $(id)",
        "git status `id`",
        "git status\nid",
        "git statusx",
        "git status > /etc/x",
        "X=1 git status",
        "env git status",
    ],
)
async def test_a_grant_covers_exactly_one_command(room: Room, command: str) -> None:
    room.answer = room.answer.model_copy(update={"decision": "no"})
    await room.call("run_command", command="git status")
    await room.call("run_command", command=command)
    granted, asked = room.questions
    assert asked.command == command
    assert granted.scope and asked.scope and asked.wider is None
    assert granted.scope.covers(asked.scope) == (command == "git status")


@pytest.mark.parametrize("command", ["echo 'open", 'echo "open', "echo \\"])
async def test_what_cannot_be_taken_apart_is_asked_every_time(room: Room, command: str) -> None:
    await room.call("run_command", command=command)
    assert room.questions[0].scope is None


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("", "1 to 20,000 characters"),
        (" \n", "1 to 20,000 characters"),
        ("x" * 20_001, "1 to 20,000 characters"),
        ("ls\0", "control characters"),
        ("ls \x1b[2K\r rm -rf x", "control characters"),
        ("ls # \u202e x- fr- mr", "control characters"),
        ("echo \ud83d", "half a character"),
    ],
)
async def test_a_command_that_cannot_be_shown_is_not_asked_about(
    room: Room, command: str, words: str
) -> None:
    assert words in await room.refused("run_command", command=command)
    assert room.questions == []


async def test_a_directory_that_is_gone_is_a_sentence(room: Room) -> None:
    room.directory.rmdir()
    assert "does not exist" in await room.refused("run_command", command="ls")


async def test_no_descriptor_is_left_open(room: Room) -> None:
    fds = Path("/proc/self/fd")
    if not fds.exists():
        pytest.skip("needs /proc")
    await room.done("run_command", command="true")
    before = len(list(fds.iterdir()))
    for _ in range(5):
        await room.call("run_command", command="echo x; exit 1")
        await room.call("grep", pattern="x")
    assert len(list(fds.iterdir())) <= before
