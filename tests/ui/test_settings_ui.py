"""The list of settings: found by typing, changed with Enter, written to our own file and nowhere else."""

import json
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.widgets import Input

from milk_tui.ui.screens.chat import ChatScreen
from milk_tui.ui.screens.settings import EditSetting, SettingsScreen
from tests.ui.playing import Stage, on_stage, say, shown, told
from tests.ui.scenes import chat, until


async def opened(pilot: Pilot[None], words: str = "") -> None:
    await say(pilot, f"/config {words}".strip())
    await until(pilot, lambda: isinstance(pilot.app.screen, SettingsScreen), "the list is open")
    await pilot.pause()


async def edit(pilot: Pilot[None], text: str) -> None:
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(pilot.app.screen, EditSetting), "the line is open")
    pilot.app.screen.query_one(Input).value = text
    await pilot.press("enter")


def written(home: Path) -> Any:
    return json.loads((home / "tui.json").read_text(encoding="utf-8"))


async def test_typing_finds_a_setting_and_enter_goes_to_its_next_value(tmp_path: Path) -> None:
    async with on_stage(stage := Stage(home=tmp_path)) as pilot:
        await opened(pilot)
        pilot.app.screen.query_one(Input).value = "asks for claude"
        await until(pilot, lambda: "context_budget_chars" not in shown(pilot), "the others are gone")
        assert "agent_escalation  ask" in shown(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: "agent_escalation  auto" in shown(pilot), "it is changed")
        assert written(tmp_path) == {"agent_escalation": "auto"}
        assert stage.talk.escalation == "auto"
        assert "holds now" in shown(pilot)
        await pilot.press("ctrl+r")
        await until(pilot, lambda: "agent_escalation  ask" in shown(pilot), "it is as it was")
        assert written(tmp_path) == {}


async def test_what_cannot_be_used_is_said_and_stays_to_be_mended(tmp_path: Path) -> None:
    async with on_stage(Stage(home=tmp_path)) as pilot:
        await opened(pilot, "context_budget")
        await edit(pilot, "many")
        await until(pilot, lambda: "cannot be set" in shown(pilot), "the mistake is said")
        assert pilot.app.screen.query_one(Input).value == "many"
        pilot.app.screen.query_one(Input).value = "9000"
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, SettingsScreen), "the list is back")
        assert "from the next start on" in shown(pilot)
        assert written(tmp_path) == {"context_budget_chars": 9000}


async def test_a_key_is_never_shown(tmp_path: Path) -> None:
    (tmp_path / "tui.json").write_text('{"api_key": "sesame-open"}', encoding="utf-8")
    async with on_stage(Stage(home=tmp_path)) as pilot:
        await opened(pilot, "api_key")
        assert "sesame" not in shown(pilot) and "••••" in shown(pilot) and "(tui.json)" in shown(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, EditSetting), "the line is open")
        assert "sesame" not in pilot.app.screen.query_one(Input).value


async def test_a_key_of_ones_own_works_at_once_and_the_help_shows_it(tmp_path: Path) -> None:
    async with on_stage(Stage(home=tmp_path)) as pilot:
        await opened(pilot, "keys")
        await edit(pilot, '{"chat.bricks": "f5", "chat.nothing": "f6"}')
        await until(pilot, lambda: isinstance(pilot.app.screen, SettingsScreen), "the list is back")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChatScreen), "the chat is back")
        before = chat(pilot).has_class("-bricks-toggled")
        await pilot.press("f5")
        await until(pilot, lambda: chat(pilot).has_class("-bricks-toggled") != before, "the key works")
        await pilot.press("f2")
        await pilot.pause()
        assert chat(pilot).has_class("-bricks-toggled") != before
        await pilot.press("f1")
        await until(pilot, lambda: "F5" in shown(pilot), "the help shows it")
        await pilot.press("i")
        await until(pilot, lambda: "chat.bricks" in shown(pilot), "the help shows ids")


async def test_a_wish_that_cannot_be_granted_is_told_at_the_start(tmp_path: Path) -> None:
    settings = {"keys": {"chat.nothing": "f6"}, "theme": "no-such", "reduced_motion": True}
    (tmp_path / "tui.json").write_text(json.dumps(settings), encoding="utf-8")
    async with on_stage(Stage(home=tmp_path)) as pilot:
        said = shown(pilot) + told(pilot) + "\n".join(note.message for note in pilot.app._notifications)
        assert "no key with the id chat.nothing" in said and "no theme no-such" in said
