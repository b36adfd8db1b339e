"""The list of MCP servers, on real servers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot

from milk_tui.conversation.toolbox import SessionToolbox
from milk_tui.storage.config import Settings
from milk_tui.tools.mcp_servers import McpStatus
from milk_tui.tools.mcp_setting import McpServer
from milk_tui.ui.screens.chat import ChatScreen
from milk_tui.ui.screens.mcp import McpScreen
from tests.tools.mcp_running import program, real
from tests.ui.playing import Stage, on_stage, say, shown, told
from tests.ui.scenes import chat, until

BROKEN = program("broken", "-c", "raise SystemExit('no database')")


@asynccontextmanager
async def listed(folder: Path, *servers: McpServer) -> AsyncIterator[Pilot[None]]:
    """The app with these servers, and their list open."""
    stage = Stage()
    settings = Settings.model_validate({"home": folder, "mcp_servers": servers})
    toolbox = SessionToolbox(settings, str(folder), "s1", stage.desk.ask)
    stage.bench.toolbox = toolbox
    try:
        async with on_stage(stage, size=(110, 36)) as pilot:
            await say(pilot, "/mcp")
            await until(pilot, lambda: isinstance(pilot.app.screen, McpScreen), "the list is open")
            yield pilot
    finally:
        await toolbox.close()


def status(pilot: Pilot[None], index: int = 0) -> McpStatus:
    return chat(pilot).bench.toolbox.servers.statuses()[index]


async def test_a_server_that_is_ready_says_its_tools_and_what_they_take(tmp_path: Path) -> None:
    async with listed(tmp_path, real()) as pilot:
        await until(pilot, lambda: "● real · ready" in shown(pilot), "the server is ready")
        chars = status(pilot).chars
        assert chars > 0
        words = f"{status(pilot).tools} tools: {chars:,} characters, about {-(-chars // 4):,} tokens"
        assert words in shown(pilot)


async def test_space_switches_a_server_off_and_on(tmp_path: Path) -> None:
    async with listed(tmp_path, real()) as pilot:
        await until(pilot, lambda: "real · ready" in shown(pilot), "the server is ready")
        await pilot.press("space")
        await until(pilot, lambda: "○ real · off" in shown(pilot), "the server is off")
        assert not chat(pilot).bench.toolbox.servers.tools()
        await pilot.press("space")
        await until(pilot, lambda: "real · ready" in shown(pilot), "the server is ready again")


async def test_a_dead_server_says_why_and_is_a_notice_when_the_list_is_left(tmp_path: Path) -> None:
    async with listed(tmp_path, BROKEN) as pilot:
        await until(pilot, lambda: "✗ broken · failed" in shown(pilot), "the server has failed")
        assert "no database" in shown(pilot)
        chat(pilot).remove_class("-fresh")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChatScreen), "the chat is back")
        await until(pilot, lambda: "“broken”" in told(pilot), "it is told")


async def test_a_server_that_is_not_enabled_is_off_until_it_is_switched_on(tmp_path: Path) -> None:
    async with listed(tmp_path, real(enabled=False)) as pilot:
        await until(pilot, lambda: "○ real · off" in shown(pilot), "the server is off")
        await pilot.press("space")
        await until(pilot, lambda: "● real · ready" in shown(pilot), "the server is ready")


async def test_without_servers_the_list_says_how_one_is_set_up(tmp_path: Path) -> None:
    async with listed(tmp_path) as pilot:
        assert "None is set up." in shown(pilot)
        assert '"mcp_servers": [{"name"' in shown(pilot)
        await pilot.press("space")
        assert isinstance(pilot.app.screen, McpScreen)
