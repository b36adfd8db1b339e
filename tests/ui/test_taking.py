"""The key and the command that open Claude Code's own screen, where it cannot be opened."""

from contextlib import nullcontext
from pathlib import Path

import pytest

from milk_tui.agents.claude.agent import ClaudeCode
from milk_tui.agents.scripted import Pause
from milk_tui.core.events import TextDelta
from milk_tui.core.permission import deny
from tests.agents.own_screen_stub import Made, own_screen_stub
from tests.ui.playing import Stage, notified, on_stage, say, told
from tests.ui.scenes import chat, is_busy, until


async def test_while_a_turn_runs_it_is_refused_and_the_text_stays() -> None:
    async with on_stage(Stage(local=[[TextDelta(text="Half"), Pause(1.0)]])) as pilot:
        await say(pilot, "Hello")
        await until(pilot, lambda: "Half" in told(pilot), "the answer has begun")
        chat(pilot).prompt.write("/claude Do it")
        await pilot.press("enter")
        await until(pilot, lambda: "A turn is running." in told(pilot), "it is refused")
        assert chat(pilot).prompt.full_text == "Do it" and is_busy(pilot)


@pytest.mark.parametrize("key", ["ctrl+o", "enter"])
async def test_a_script_has_no_screen_to_open(key: str) -> None:
    async with on_stage(Stage()) as pilot:
        chat(pilot).prompt.write("Do it" if key == "ctrl+o" else "/claude Do it")
        await pilot.press(key)
        await until(pilot, lambda: "no screen of its own" in notified(pilot), "it is told")
        assert chat(pilot).prompt.full_text == "Do it" and not chat(pilot).talk.session.turns


async def test_what_never_opens_is_told_and_leaves_prompt_and_floor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    stage = Stage()
    cli = own_screen_stub(tmp_path, status=3)
    stage.talk.agents["claude"] = ClaudeCode(deny, lock_dir=tmp_path / "locks", cli_path=cli)
    monkeypatch.setattr(stage.app, "lend", nullcontext)
    async with on_stage(stage) as pilot:
        await say(pilot, "/claude Do it")
        await until(pilot, lambda: "exit status 3 before it was open" in notified(pilot), "it is told")
        assert chat(pilot).prompt.full_text == "Do it" and chat(pilot).talk.floor == "local"


async def test_a_terminal_that_cannot_be_lent_says_so_and_nothing_is_opened(tmp_path: Path) -> None:
    stage = Stage()
    cli = own_screen_stub(tmp_path, [Made("Do it", "Done.")])
    stage.talk.agents["claude"] = ClaudeCode(deny, lock_dir=tmp_path / "locks", cli_path=cli)
    async with on_stage(stage) as pilot:
        await say(pilot, "/claude Do it")
        await until(pilot, lambda: "cannot be lent" in notified(pilot), "it is told")
        assert chat(pilot).prompt.full_text == "Do it" and not (tmp_path / "heard.json").exists()
        assert not stage.app.is_lent and not is_busy(pilot)
