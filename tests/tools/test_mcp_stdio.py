import asyncio
import logging
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from milk_tui.core.text import sanitize
from milk_tui.tools.mcp_servers import McpServers
from tests.tools.mcp_running import (
    DEADLINE,
    HERE,
    children,
    end,
    is_alive,
    odd,
    program,
    real,
    run,
    started,
    status,
    until,
)


async def test_a_real_server_offers_its_tools_and_runs_them(tmp_path: Path) -> None:
    async with started(tmp_path, real()) as servers:
        assert status(servers, "real").state == "ready" and servers.notices() == ()
        assert (await run(servers, "real__echo", {"text": "a\x1b[31mb ", "times": 2})).text == "ab ab "
        mixed = await run(servers, "real__mixed")
        assert mixed.text.split("\n") == [
            "a line",
            "[image: image/png, 8 bytes]",
            "[audio: audio/wav, 3 bytes]",
            "[resource: notes, file:///notes.txt]",
            "[resource: file:///a.txt]",
            "inside",
            "[resource: file:///b.bin, x/y, 3 bytes]",
        ]
        assert '"degrees": 21' in (await run(servers, "real__weather")).text


async def test_a_tool_that_fails_gives_its_own_words_as_an_error(tmp_path: Path) -> None:
    async with started(tmp_path, real()) as servers:
        failed = await run(servers, "real__fail")
        assert failed.is_error and "no luck today" in failed.text and "\x1b" not in failed.text
        wrong = await run(servers, "real__echo", {"times": "many"})
        assert wrong.is_error and "text" in wrong.text
        assert status(servers, "real").state == "ready"


async def test_a_cancelled_call_is_cancelled_at_the_server_and_the_next_one_runs(tmp_path: Path) -> None:
    said: list[str] = []
    async with started(tmp_path, real()) as servers:
        call = asyncio.create_task(run(servers, "real__wait", {"folder": str(tmp_path)}, said.append))
        await until(lambda: said and (tmp_path / "started").exists())
        call.cancel()
        await asyncio.wait([call], timeout=DEADLINE)
        assert call.cancelled() and said == ["half way\n"]
        await until((tmp_path / "cancelled").exists)
        assert (await run(servers, "real__echo", {"text": "on"})).text == "on"


async def test_a_tool_that_appears_at_run_time_is_offered(tmp_path: Path) -> None:
    async with started(tmp_path, real(), odd("changing")) as servers:
        before = [status(servers, name).tools for name in ("real", "changing")]
        await run(servers, "real__grow")
        await run(servers, "changing__hello")
        await until(lambda: [s.tools for s in servers.statuses()] == [count + 1 for count in before])
        assert (await run(servers, "real__grown")).text == "new"


async def test_a_server_that_announces_a_change_at_each_listing_does_not_keep_us_busy(tmp_path: Path) -> None:
    states: list[int] = []
    async with started(tmp_path, odd("restless"), changed=lambda now: states.append(now.tools)):
        await until(lambda: len(states) >= 3)
        await asyncio.sleep(0.5)
        assert len(states) < 8


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("dying", "ended with code 1: no such database, password [secret]"),
        ("killed", "was ended by signal 9"),
        ("garbage", "does not speak MCP on its standard output: it writes “welcome to the machine”"),
        ("binary", "does not speak MCP on its standard output"),
        ("endless", "sent a message of more than 16 MiB"),
        ("hanging", "did not answer within 1 s"),
        ("muttering", "did not answer within 1 s; on its standard output it wrote “I am a web server”"),
    ],
)
async def test_a_server_that_is_none_is_a_status_and_a_notice(
    tmp_path: Path, kind: str, words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    server = odd(kind, env={"SECRET": "hunter2-hunter2"})
    patience = 1.0 if kind in ("hanging", "muttering") else DEADLINE
    async with started(tmp_path, server, patience=patience) as servers:
        now = status(servers, kind)
        assert now.state == "failed" and now.words.startswith(words)
        assert sanitize(now.words) == now.words and "\n" not in now.words
        (notice,) = servers.notices()
        assert words in notice and servers.notices() == () and servers.tools() == ()
        assert children() == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("command", ["no-such-program-anywhere", "/no/such/program", "/etc/passwd"])
async def test_a_program_that_is_not_there_is_named(tmp_path: Path, command: str) -> None:
    server = program("x").model_copy(update={"command": command})
    async with started(tmp_path, server) as servers:
        assert status(servers, "x").words == f"cannot be started: there is no program “{command}”"


async def test_a_program_that_lies_in_the_open_project_is_not_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "helper").write_text("#!/bin/sh\ntouch ran\n")
    (tmp_path / "helper").chmod(0o700)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    async with started(tmp_path, program("x").model_copy(update={"command": "helper"})) as servers:
        assert "no program “helper”" in status(servers, "x").words and not Path("ran").exists()


async def test_a_directory_that_is_gone_is_a_status(tmp_path: Path) -> None:
    servers = McpServers([odd("plain")], str(tmp_path / "gone"), tmp_path / "logs")
    await servers.start(DEADLINE)
    assert servers.statuses()[0].words.startswith("cannot be started: ")
    await servers.close()


async def test_a_greeting_on_standard_output_is_forgiven(tmp_path: Path) -> None:
    async with started(tmp_path, odd("talkative")) as servers:
        assert (await run(servers, "talkative__hello")).text.startswith("talkative")


async def test_what_a_server_writes_to_its_standard_error_goes_to_a_private_file(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    async with started(tmp_path, real()) as servers:
        await run(servers, "real__die")
    (log,) = (tmp_path / "logs").iterdir()
    assert log.name == "mcp-real.log" and "the last words" in log.read_text()
    assert log.stat().st_mode & 0o077 == 0
    assert capfd.readouterr() == ("", "") and logging.getLogger("mcp").propagate is False


async def test_a_program_gets_its_own_variables_and_none_of_our_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "ours")
    async with started(tmp_path, odd("plain")) as servers:
        assert (await run(servers, "plain__hello")).text == f"plain  {tmp_path}"
    async with started(tmp_path, odd("plain", env={"SECRET": "theirs"})) as servers:
        assert (await run(servers, "plain__hello")).text == f"plain theirs {tmp_path}"


async def test_a_server_that_dies_in_a_call_says_so_and_is_started_again(tmp_path: Path) -> None:
    async with started(tmp_path, real()) as servers:
        died = await run(servers, "real__die")
        assert died.is_error and "ended with code 3: the last words" in died.text
        await until(lambda: status(servers, "real").state == "failed")
        assert servers.tools() == () and "ended with code 3" in servers.notices()[0]
        await servers.start(DEADLINE)
        assert (await run(servers, "real__echo", {"text": "back"})).text == "back"


async def test_a_server_that_dies_between_calls_is_noticed_without_one(tmp_path: Path) -> None:
    async with started(tmp_path, odd("plain")) as servers:
        (pid,) = children()
        kept = servers.tools()
        end(pid)
        await until(lambda: status(servers, "plain").state == "failed")
        prepared = await kept[0].prepare(None, {})  # type: ignore[arg-type]
        late = await prepared.run(print)
        assert late.is_error and "was ended by signal 9" in late.text and "was not run" in late.text


async def test_a_server_that_never_answers_a_call_is_given_up_and_stays_usable_for_us(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("milk_tui.tools.mcp_servers.CALL_SECONDS", 0.3)
    async with started(tmp_path, odd("deaf")) as servers:
        outcome = await run(servers, "deaf__hello")
        assert outcome.is_error and "did not answer within 0.3 s" in outcome.text


async def test_nothing_of_a_server_is_left_after_close(tmp_path: Path) -> None:
    async with started(tmp_path, real(), odd("stubborn"), odd("hanging"), wait=0) as servers:
        await until(lambda: [now.state for now in servers.statuses()] == ["ready", "ready", "starting"])
        pids = [int(pid) for pid in (await run(servers, "real__spawn")).text.split()]
        ours = children()
        assert len(ours) == 3 and pids[0] in ours
        began = time.monotonic()
        await servers.close()
        assert time.monotonic() - began < 6
        assert not any(is_alive(pid) for pid in ours)
        await until(lambda: not any(is_alive(pid) for pid in pids), seconds=1)
        assert [now.state for now in servers.statuses()] == ["off"] * 3
    names = {task.get_name() for task in asyncio.all_tasks()}
    assert not any(name.startswith("mcp-") for name in names)


async def test_a_server_has_a_session_of_its_own(tmp_path: Path) -> None:
    async with started(tmp_path, odd("plain")):
        (pid,) = children()
        assert os.getsid(pid) == pid


PROGRAM = """
import asyncio, sys
from pathlib import Path
from tests.tools.mcp_running import children, odd, until
from milk_tui.tools.mcp_servers import McpServers

async def main():
    servers = McpServers([odd("plain"), odd("hanging")], ".", Path(sys.argv[1]))
    await servers.start()
    await until(lambda: len(children()) == 2 and servers.tools())
    print(*children(), flush=True)
    await asyncio.to_thread(sys.stdin.readline)

asyncio.run(main())
"""


@pytest.mark.parametrize("how", ["killed", "unclosed"])
async def test_a_server_ends_with_a_program_that_does_not_close_it(tmp_path: Path, how: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        cwd=HERE.parent.parent,
        env=os.environ | {"PYTHONPATH": "."},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as app:
        assert app.stdin is not None and app.stdout is not None and app.stderr is not None
        try:
            pids = [int(pid) for pid in (await asyncio.to_thread(app.stdout.readline)).split()]
            reader, deaf = sorted(pids, key=lambda pid: "hanging" in Path(f"/proc/{pid}/cmdline").read_text())
            if how == "killed":
                app.kill()
                await until(lambda: not is_alive(reader))
                # Nobody ends what does not read its input once we are gone; it holds nothing of ours.
                end(deaf)
            else:
                app.stdin.write("\n")
                app.stdin.flush()
            await until(lambda: not is_alive(reader) and not is_alive(deaf))
            assert await asyncio.to_thread(app.stderr.read) == ""
        finally:
            app.kill()
