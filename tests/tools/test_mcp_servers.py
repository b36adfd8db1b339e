import asyncio
import subprocess
import sys
import time
from pathlib import Path

import pytest

from milk_tui.core.errors import ConfigError
from milk_tui.tools.mcp_servers import McpServers, McpStatus
from tests.tools.mcp_running import DEADLINE, HERE, children, odd, run, started, status, tool, until


async def test_nothing_runs_before_it_is_asked_for(tmp_path: Path) -> None:
    servers = McpServers([odd("plain")], str(tmp_path), tmp_path / "logs")
    await asyncio.sleep(0)
    assert [now.state for now in servers.statuses()] == ["off"] and servers.tools() == ()
    assert children() == [] and not (tmp_path / "logs").exists()
    await servers.close()


def test_looking_at_servers_does_not_import_the_slow_package() -> None:
    script = (
        "import sys, pathlib\n"
        "from milk_tui.tools.mcp_servers import McpServers\n"
        "from milk_tui.storage import config\n"
        "McpServers(config.load(pathlib.Path('/nowhere'), None, {}).mcp_servers, '.', pathlib.Path('.'))\n"
        "slow = {'mcp', 'anyio', 'httpx2', 'starlette'} & set(sys.modules)\n"
        "sys.exit(f'imported {slow}' if slow else 0)\n"
    )
    subprocess.run([sys.executable, "-c", script], cwd=HERE.parent.parent, check=True, timeout=60)


async def test_without_servers_everything_is_empty_and_nobody_waits(tmp_path: Path) -> None:
    async with started(tmp_path) as servers:
        assert servers.tools() == () and servers.statuses() == () and servers.notices() == ()


async def test_all_servers_start_together_and_the_slow_one_is_waited_for_only_as_long_as_said(
    tmp_path: Path,
) -> None:
    async with started(tmp_path, odd("plain"), odd("hanging"), odd("other"), wait=0) as servers:
        await until(lambda: len(children()) == 3)
        began = time.monotonic()
        await servers.start(wait=1.0)
        assert 0.9 < time.monotonic() - began < DEADLINE / 2
        assert [now.state for now in servers.statuses()] == ["ready", "starting", "ready"]
        assert [offered.name for offered in servers.tools()] == ["plain__hello", "other__hello"]
        assert servers.notices() == (
            "The MCP server “hanging” is still starting; its tools are not offered yet.",
        )
        assert servers.notices() == ()


async def test_a_server_that_is_disabled_starts_only_when_it_is_switched_on(tmp_path: Path) -> None:
    async with started(tmp_path, odd("plain", enabled=False)) as servers:
        assert status(servers, "plain").state == "off" and children() == []
        assert (await servers.switch("plain", True)).state == "starting"
        await servers.start(DEADLINE)
        assert status(servers, "plain").state == "ready" and len(children()) == 1
        assert (await servers.switch("plain", True)).state == "ready" and len(children()) == 1


async def test_a_server_that_is_switched_off_is_gone_and_stays_off(tmp_path: Path) -> None:
    async with started(tmp_path, odd("plain"), odd("other")) as servers:
        kept = tool(servers, "plain__hello")
        assert (await servers.switch("plain", False)).state == "off"
        await servers.start(DEADLINE)
        assert [offered.name for offered in servers.tools()] == ["other__hello"] and len(children()) == 1
        prepared = await kept.prepare(None, {})  # type: ignore[arg-type]
        late = await prepared.run(print)
        assert late.is_error and "is switched off" in late.text
        await servers.switch("plain", True)
        await servers.start(DEADLINE)
        assert not (await run(servers, "plain__hello")).is_error


async def test_a_server_can_be_switched_to_and_fro_while_it_starts(tmp_path: Path) -> None:
    async with started(tmp_path, odd("plain"), wait=0) as servers:
        for on in (False, True, False, True):
            await servers.switch("plain", on)
        await servers.start(DEADLINE)
        assert status(servers, "plain").state == "ready" and len(children()) == 1


async def test_a_server_that_failed_is_tried_again_only_when_it_is_switched_on(tmp_path: Path) -> None:
    seen: list[McpStatus] = []
    async with started(tmp_path, odd("dying"), changed=seen.append) as servers:
        await servers.start(DEADLINE)
        assert [now.state for now in seen] == ["starting", "failed"]
        await servers.switch("dying", True)
        await servers.start(DEADLINE)
        assert [now.state for now in seen] == ["starting", "failed"] * 2


async def test_a_name_that_is_no_server_is_an_error_with_a_sentence(tmp_path: Path) -> None:
    async with started(tmp_path, odd("plain", enabled=False)) as servers:
        with pytest.raises(ConfigError, match="no MCP server “plane”"):
            await servers.switch("plane", True)


async def test_servers_can_be_closed_often_and_by_a_task_that_is_cancelled(tmp_path: Path) -> None:
    async with started(tmp_path, odd("plain"), odd("stubborn")) as servers:
        closing = asyncio.create_task(servers.close())
        await until(lambda: len(children()) == 1)
        closing.cancel()
        await asyncio.wait([closing], timeout=DEADLINE)
        await servers.close()
        assert children() == []


async def test_a_failing_server_cancels_nobody_else(tmp_path: Path) -> None:
    """The scopes of the MCP package must not reach the task that starts or calls a server."""
    async with asyncio.timeout(DEADLINE):
        async with started(tmp_path, odd("fickle"), odd("plain"), odd("dying"), odd("garbage")) as servers:
            await until(lambda: status(servers, "fickle").state == "failed")
            task = asyncio.current_task()
            assert task is not None and task.cancelling() == 0
            assert not (await run(servers, "plain__hello")).is_error


async def test_the_status_counts_what_the_tools_take_of_each_request(tmp_path: Path) -> None:
    async with started(tmp_path, odd("plain"), odd("greedy")) as servers:
        plain, greedy = servers.statuses()
        assert (plain.tools, plain.chars) == (1, tool(servers, "plain__hello").chars)
        assert greedy.tools == 64 and greedy.left_out == 136 and greedy.chars < 64 * 1_300
        assert "136 tools" in servers.notices()[0]
