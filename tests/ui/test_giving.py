"""Copying and opening what is in a block, by keys and commands."""

import os
from pathlib import Path

import pytest

from milk_tui.core.events import TextDelta
from milk_tui.ui.screens.output import OutputScreen
from milk_tui.ui.screens.part_lists import AddressScreen, CodeScreen
from milk_tui.ui.widgets.blocks import Block
from milk_tui.ui.widgets.transcript import Transcript
from tests.conversation.test_desktop import program
from tests.ui.playing import Stage, done, notified, on_stage, say, shown
from tests.ui.scenes import chat, until

ANSWER = "See https://a.example/x and [b](https://user@b.example).\n\n```py\none\n```\n\n```sh\ntwo\n```"


@pytest.fixture(autouse=True)
def no_desktop(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "TMUX", "SSH_CONNECTION", "SSH_TTY"):
        monkeypatch.delenv(name, raising=False)


async def test_a_copy_says_which_way_it_went(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with on_stage(Stage()) as pilot:
        await say(pilot, "Hello")
        await done(pilot, 1)
        await say(pilot, "/copy")
        await until(pilot, lambda: "(OSC 52)" in notified(pilot), "it is said")
        assert pilot.app.clipboard == "Local answer."

        program(tmp_path, "wl-copy", f"cat > {tmp_path}/taken")
        monkeypatch.setenv("WAYLAND_DISPLAY", "w")
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
        await say(pilot, "/copy")
        await until(pilot, lambda: "copied with wl-copy" in notified(pilot), "it is said")
        assert (tmp_path / "taken").read_text() == "Local answer."


async def test_the_last_block_of_code_is_copied_or_saved_and_nothing_is_overwritten(tmp_path: Path) -> None:
    async with on_stage(Stage([(TextDelta(text=ANSWER),)])) as pilot:
        await say(pilot, "/copy code")
        await until(pilot, lambda: "no block of code" in notified(pilot), "there is none yet")
        await say(pilot, "Hello")
        await done(pilot, 1)
        await say(pilot, "/copy code")
        await until(pilot, lambda: pilot.app.clipboard == "two", "it is copied")
        target = tmp_path / "code.sh"
        await say(pilot, f"/copy code {target}")
        await until(pilot, lambda: "saved in" in notified(pilot), "it is saved")
        assert target.read_text() == "two"
        await say(pilot, f"/copy {target}")
        await until(pilot, lambda: "already" in notified(pilot), "it is refused")
        assert target.read_text() == "two"


async def test_a_text_too_long_for_the_terminal_goes_into_a_file(tmp_path: Path) -> None:
    stage = Stage([(TextDelta(text="x" * 80_000),)])
    stage.bench.settings = stage.bench.settings.model_copy(update={"home": tmp_path})
    async with on_stage(stage) as pilot:
        await say(pilot, "Hello")
        await done(pilot, 1)
        await say(pilot, "/copy")
        await until(pilot, lambda: "copied.txt" in notified(pilot), "it is said where")
        assert (tmp_path / "copied.txt").read_text() == "x" * 80_000
        assert pilot.app.clipboard == ""


async def test_code_is_chosen_where_there_are_several(monkeypatch: pytest.MonkeyPatch) -> None:
    async with on_stage(Stage([(TextDelta(text=ANSWER),)])) as pilot:
        await say(pilot, "Hello")
        await done(pilot, 1)
        await pilot.press("alt+up")
        await until(pilot, lambda: chat(pilot).query_one(Transcript).has_focus, "the transcript is read")
        await pilot.press("j", "c")
        await until(pilot, lambda: isinstance(pilot.app.screen, CodeScreen), "the list is open")
        await until(pilot, lambda: "py · 1 line" in shown(pilot), "it says what there is")
        await pilot.press("down", "enter")
        await until(pilot, lambda: pilot.app.clipboard == "two", "it is copied")


async def test_an_address_is_shown_in_full_before_it_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, "xdg-open", f'printf "%s" "$1" > {tmp_path}/opened')
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    async with on_stage(Stage([(TextDelta(text=ANSWER),)])) as pilot:
        await say(pilot, "Hello")
        await done(pilot, 1)
        chat(pilot).query_one(Transcript).focus()
        await pilot.press("j", "o")
        await until(pilot, lambda: isinstance(pilot.app.screen, AddressScreen), "the list is open")
        await until(pilot, lambda: "https://user@b.example" in shown(pilot), "the address is shown")
        assert "leads to b.example" in shown(pilot)
        assert not (tmp_path / "opened").exists()
        await pilot.press("down", "enter")
        await until(pilot, lambda: "copied instead" in notified(pilot), "there is no desktop")
        await until(pilot, lambda: pilot.app.clipboard == "https://user@b.example", "it is copied")

        monkeypatch.setenv("DISPLAY", ":0")
        await pilot.press("o")
        await until(pilot, lambda: isinstance(pilot.app.screen, AddressScreen), "the list is open")
        await pilot.press("down", "enter")
        await until(pilot, lambda: (tmp_path / "opened").exists(), "it is opened")
        assert (tmp_path / "opened").read_text() == "https://user@b.example"


async def test_all_of_a_shortened_output_is_shown_and_no_other_file(tmp_path: Path) -> None:
    stage = Stage()
    results = tmp_path / "results" / "s"
    results.mkdir(parents=True)
    (results / "ls-1.txt").write_text("\n".join(f"file {n}" for n in range(9_000)))
    secret = tmp_path / "secret.txt"
    secret.write_text("hidden")
    stage.bench.toolbox._results = results
    note = "[99,999 characters, shortened here. All of it is in {}]\nhead … tail"
    async with on_stage(stage) as pilot:
        chat(pilot).remove_class("-fresh")
        transcript = chat(pilot).query_one(Transcript)
        transcript.append(Block("a", "call", "-l", label="ls", detail=note.format(results / "ls-1.txt")))
        transcript.append(Block("b", "call", "-l", label="ls", detail=note.format(secret)))
        transcript.focus()
        await pilot.press("v")
        await until(pilot, lambda: "Nothing was shortened" in notified(pilot), "it is refused")
        await pilot.press("k", "k", "v")
        await until(pilot, lambda: isinstance(pilot.app.screen, OutputScreen), "it is open")
        await until(pilot, lambda: "file 20" in shown(pilot), "it begins at the beginning")
        await pilot.press("end")
        await until(pilot, lambda: "file 8999" in shown(pilot), "it is there to its end")
        await pilot.press("shift+down", "shift+down", "y")
        await until(pilot, lambda: pilot.app.clipboard.startswith("file "), "two rows of it are copied")
        assert pilot.app.clipboard.count("\n") == 1
        (results / "ls-1.txt").unlink()
        await until(pilot, lambda: pilot.app.screen is chat(pilot), "it is closed")
        await pilot.press("v")
        await until(pilot, lambda: "cannot be read" in notified(pilot), "it is said")


async def test_times_and_tokens_are_shown_on_demand() -> None:
    async with on_stage(Stage()) as pilot:
        await say(pilot, "Hello")
        await done(pilot, 1)
        transcript = chat(pilot).query_one(Transcript)
        transcript.focus()
        about = transcript.blocks[0].about
        assert about and about not in shown(pilot)
        await pilot.press("t")
        await until(pilot, lambda: about in shown(pilot), "it is shown")
        await pilot.press("t")
        await until(pilot, lambda: about not in shown(pilot), "it is gone")


async def test_blocks_are_chosen_from_the_prompt_and_escape_leads_back_there() -> None:
    async with on_stage(Stage()) as pilot:
        await say(pilot, "Hello")
        await done(pilot, 1)
        chat(pilot).prompt.write("a draft")
        transcript = chat(pilot).query_one(Transcript)
        await pilot.press("alt+up", "alt+up")
        await until(pilot, lambda: transcript.has_focus and transcript.cursor == 0, "the prompt is chosen")
        await pilot.press("y")
        await until(pilot, lambda: pilot.app.clipboard == "Hello", "it is copied")
        await pilot.press("escape")
        await until(pilot, lambda: chat(pilot).prompt.has_focus, "one writes on")
        await pilot.press("!")
        assert chat(pilot).prompt.text == "a draft!"
