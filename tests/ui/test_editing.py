"""The prompt in the user's own editor."""

import os
import signal
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from milk_tui.agents.scripted import Pause, Say
from milk_tui.ui.widgets.pasted import LARGE_CHARS
from tests.ui.playing import Stage, notified, on_stage, say, told
from tests.ui.scenes import chat, is_busy, until

MakeEditor = Callable[[str], Path]


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    monkeypatch.delenv("VISUAL", raising=False)
    stage = Stage(local=[[Say("Half"), Pause(1.0), Say(" and whole")]])
    monkeypatch.setattr(stage.app, "lend", nullcontext)
    return stage


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeEditor:
    """Makes a program that does this to the file `$1`, and makes it the user's editor."""

    def make(script: str) -> Path:
        path = tmp_path / "my editor"
        path.write_text(f"#!/bin/sh\nhere='{tmp_path}'\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setenv("EDITOR", f'"{path}" --wait')
        return tmp_path

    return make


async def test_what_the_editor_saves_is_in_the_prompt_and_can_be_undone(
    stage: Stage, editor: MakeEditor
) -> None:
    here = editor(
        'shift; echo "$1" >"$here/name"; stat -c %a "$1" >"$here/mode"; cp "$1" "$here/was"; echo "and more" >>"$1"'
    )
    async with on_stage(stage) as pilot:
        chat(pilot).prompt.write("First line")
        await pilot.press("f4")
        await until(pilot, lambda: chat(pilot).prompt.full_text == "First line\nand more", "it is taken back")
        assert (here / "was").read_text() == "First line\n" and (here / "mode").read_text() == "600\n"
        path = Path((here / "name").read_text().strip())
        assert path.suffix == ".md" and not path.parent.exists()
        await until(pilot, lambda: chat(pilot).prompt.has_focus, "one can write on")
        await pilot.press("ctrl+z")
        assert chat(pilot).prompt.full_text == "First line"


async def test_visual_is_asked_before_editor(
    stage: Stage, editor: MakeEditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor("exit 1")
    monkeypatch.setenv("VISUAL", "sed -i s/teh/the/")
    async with on_stage(stage) as pilot:
        chat(pilot).prompt.write("teh end")
        await pilot.press("f4")
        await until(pilot, lambda: chat(pilot).prompt.full_text == "the end", "it is edited")


async def test_a_paste_goes_in_whole_and_comes_back_under_its_label(stage: Stage, editor: MakeEditor) -> None:
    here = editor('shift; cp "$1" "$here/was"; echo "Why?" >>"$1"')
    log = "".join(f"line {number} of the log\n" for number in range(LARGE_CHARS // 10)).rstrip()
    async with on_stage(stage) as pilot:
        prompt = chat(pilot).prompt
        prompt.write("See:\n")
        prompt.paste(log)
        label = prompt.text
        await pilot.press("f4")
        await until(pilot, lambda: prompt.full_text == f"See:\n{log}\nWhy?", "it is taken back")
        assert prompt.text == f"{label}\nWhy?" and (here / "was").read_text() == f"See:\n{log}\n"


async def test_a_large_text_from_the_editor_is_folded(stage: Stage, editor: MakeEditor) -> None:
    editor('shift; i=0; while [ $i -lt 300 ]; do echo "some line"; i=$((i+1)); done >"$1"')
    async with on_stage(stage) as pilot:
        prompt = chat(pilot).prompt
        await pilot.press("f4")
        await until(pilot, lambda: prompt.full_text.count("some line") == 300, "it is taken back")
        assert prompt.document.line_count == 1


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ('shift; echo spoilt >"$1"; exit 3', "ended with exit status 3. Your text is as it was."),
        ('shift; echo spoilt >"$1"; kill -9 $$', "was killed by signal 9. Your text is as it was."),
        ('shift; rm "$1"', "file cannot be used: No such file or directory. Your text is as it was."),
    ],
)
async def test_an_editor_that_fails_leaves_the_text_and_says_so(
    stage: Stage, editor: MakeEditor, script: str, words: str
) -> None:
    editor(script)
    async with on_stage(stage) as pilot:
        chat(pilot).prompt.write("Mine")
        await pilot.press("f4")
        await until(pilot, lambda: words in notified(pilot), "it is told")
        assert chat(pilot).prompt.full_text == "Mine"


@pytest.mark.parametrize(
    ("editor_is", "words"),
    [
        (" ", "Neither VISUAL nor EDITOR says which editor is yours. Set one, as in EDITOR=nano."),
        ("/no/such/editor", "/no/such/editor cannot be run: No such file or directory."),
        ("vi 'x", 'EDITOR is no command: "vi \'x". Check its quotation marks.'),
    ],
)
async def test_without_an_editor_it_is_said_what_is_missing(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, editor_is: str, words: str
) -> None:
    monkeypatch.setenv("EDITOR", editor_is)
    async with on_stage(stage) as pilot:
        chat(pilot).prompt.write("Mine")
        await pilot.press("f4")
        await until(pilot, lambda: words in notified(pilot), "it is told")
        assert chat(pilot).prompt.full_text == "Mine"


async def test_a_terminal_that_cannot_be_lent_says_so(editor: MakeEditor) -> None:
    here = editor('touch "$here/ran"')
    stage = Stage()
    async with on_stage(stage) as pilot:
        await pilot.press("f4")
        await until(pilot, lambda: "cannot be lent" in notified(pilot), "it is told")
        assert not (here / "ran").exists() and not stage.app.is_lent


async def test_a_turn_goes_on_meanwhile_and_what_it_gives_back_is_not_lost(
    stage: Stage, editor: MakeEditor
) -> None:
    here = editor(
        'shift; echo $$ >"$here/pid"; while [ ! -e "$here/go" ]; do sleep 0.05; done; echo "Next" >"$1"'
    )
    async with on_stage(stage) as pilot:
        await say(pilot, "Hello")
        await until(pilot, lambda: "Half" in told(pilot), "the answer has begun")
        await pilot.press("f4")
        await until(pilot, lambda: (here / "pid").exists(), "the editor is open")
        stage.gate.open()
        await until(pilot, lambda: "and whole" in told(pilot) and not is_busy(pilot), "the turn is over")
        chat(pilot).prompt.write("Came back")
        (here / "go").touch()
        await until(pilot, lambda: "Next" in chat(pilot).prompt.full_text, "it is taken back")
        assert chat(pilot).prompt.full_text == "Came back\n\nNext"


async def test_it_is_ended_with_the_app_and_what_was_saved_in_it_is_taken(
    stage: Stage, editor: MakeEditor
) -> None:
    here = editor(
        'shift; echo "Saved" >"$1"; echo $$ >"$here/pid.new"; mv "$here/pid.new" "$here/pid"; exec sleep 60'
    )
    async with on_stage(stage) as pilot:
        screen = chat(pilot)
        await pilot.press("f4")
        await until(pilot, lambda: (here / "pid").exists(), "the editor is open")
        await screen.editing.close()
        assert screen.prompt.full_text == "Saved"
    with pytest.raises(ProcessLookupError):
        os.kill(int((here / "pid").read_text()), signal.SIGCONT)
