"""The list of what is allowed without a question."""

import asyncio
from pathlib import Path

import pytest
from textual.pilot import Pilot

from milk_tui.conversation.permissions import PermissionDesk
from milk_tui.core.permission import Answer, Decision, Question, Scope
from milk_tui.storage.grants import GrantFile
from milk_tui.ui.screens.chat import ChatScreen
from milk_tui.ui.screens.grants import GrantsScreen
from tests.ui.playing import Stage, notified, on_stage, say, shown
from tests.ui.scenes import chat, until

STATUS = Scope(tool="run_command", kind="command", subject="git status")
FOREIGN = Scope(tool="read_file", kind="file", subject="/srv/[b]x[/b]")


async def granted(desk: PermissionDesk, scope: Scope, decision: Decision) -> None:
    """Let a user grant this, in place of the screen."""

    async def answer(_question: Question) -> Answer:
        return Answer(decision=decision)

    before, desk.answerer = desk.answerer, answer
    await desk.ask(Question(tool=scope.tool, arguments="{}", scope=scope))
    desk.answerer = before


async def opened(pilot: Pilot[None], command: str = "/permissions") -> None:
    await say(pilot, command)
    await until(pilot, lambda: isinstance(pilot.app.screen, GrantsScreen), "the list is open")
    await pilot.pause()


@pytest.mark.parametrize("command", ["/permissions", "/grants"])
async def test_every_grant_is_listed_with_its_exact_scope_and_how_long_it_lasts(command: str) -> None:
    async with on_stage(stage := Stage()) as pilot:
        await granted(stage.desk, STATUS, "session")
        await granted(stage.desk, FOREIGN, "always")
        await opened(pilot, command)
        assert "session  exactly this command: git status" in shown(pilot)
        assert "always   read_file on /srv/[b]x[/b]" in shown(pilot)


async def test_an_empty_list_says_what_would_be_in_it() -> None:
    async with on_stage(Stage()) as pilot:
        await opened(pilot)
        assert "Nothing is." in shown(pilot)
        await pilot.press("d")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChatScreen), "the chat is back")


@pytest.mark.parametrize("key", ["d", "delete"])
async def test_a_grant_that_is_taken_back_is_asked_about_again(key: str) -> None:
    async with on_stage(stage := Stage()) as pilot:
        await granted(stage.desk, STATUS, "session")
        await granted(stage.desk, FOREIGN, "session")
        await opened(pilot)
        await pilot.press(key)
        await until(pilot, lambda: "git status" not in shown(pilot), "the row is gone")
        assert stage.desk.session_grants == (FOREIGN,)
        await pilot.press("escape")
        question = Question(tool="run_command", arguments="{}", scope=STATUS)
        asked = asyncio.create_task(stage.desk.ask(question))
        await until(pilot, lambda: "wants to use run_command" in shown(pilot), "it is asked again")
        await pilot.press("escape")
        assert (await asked).decision == "no"


async def test_taking_back_a_lasting_grant_changes_the_file(tmp_path: Path) -> None:
    stage = Stage()
    desk = PermissionDesk(GrantFile(tmp_path, "/tmp"))
    await granted(desk, STATUS, "always")
    async with on_stage(stage) as pilot:
        chat(pilot).bench.desk = desk
        await opened(pilot)
        await pilot.press("d")
        await until(pilot, lambda: not desk.lasting_grants, "the grant is gone")
        assert GrantFile(tmp_path, "/tmp").read() == []
        assert "Nothing is." in shown(pilot)


async def test_a_grant_that_cannot_be_taken_out_of_the_file_is_told(tmp_path: Path) -> None:
    desk = PermissionDesk(GrantFile(tmp_path / "home", "/tmp"))
    await granted(desk, STATUS, "always")
    (tmp_path / "home" / "grants.json").unlink()
    (tmp_path / "home").rmdir()
    (tmp_path / "home").write_text("in the way")
    async with on_stage(Stage()) as pilot:
        chat(pilot).bench.desk = desk
        await opened(pilot)
        await pilot.press("d")
        await until(pilot, lambda: "cannot be written" in notified(pilot), "it is told")
