"""Files in the prompt: found behind an `@`, and dropped on the terminal."""

from pathlib import Path

import pytest
from textual import events

from milk_tui.ui.widgets.prompt_box import PromptBox
from tests.ui.playing import Stage, on_stage, shown
from tests.ui.scenes import chat, until


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    for name in ("alpha.py", "beta file.txt", "deep/er/gamma.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x", encoding="utf-8")
    stage = Stage()
    stage.bench.files.directory = tmp_path
    return stage


async def test_letters_behind_an_at_sign_offer_files_and_tab_takes_the_likeliest(stage: Stage) -> None:
    async with on_stage(stage) as pilot:
        prompt = chat(pilot).prompt
        prompt.insert("Look at @gam")
        await until(pilot, lambda: prompt.completion is not None, "files are offered")
        await until(pilot, lambda: "▸ @deep/er/gamma.md" in shown(pilot), "the list shows")
        await pilot.press("tab")
        assert prompt.full_text == "Look at @deep/er/gamma.md "
        assert prompt.completion is None


async def test_the_word_under_the_cursor_alone_is_replaced(stage: Stage) -> None:
    async with on_stage(stage) as pilot:
        prompt = chat(pilot).prompt
        prompt.write("before  after\nlast line")
        prompt.move_cursor((0, 7))
        await pilot.press("at", "b", "e", "t")
        await until(pilot, lambda: prompt.completion is not None, "files are offered")
        await pilot.press("enter")
        await until(pilot, lambda: "beta" in prompt.full_text, "one is taken")
        assert prompt.full_text == 'before @"beta file.txt"  after\nlast line'


async def test_an_address_is_no_path_and_escape_takes_the_list_away(stage: Stage) -> None:
    async with on_stage(stage) as pilot:
        prompt = chat(pilot).prompt
        prompt.insert("me@alpha")
        await pilot.pause()
        assert prompt.completion is None
        prompt.insert(" @alp")
        await until(pilot, lambda: prompt.completion is not None, "files are offered")
        await pilot.press("escape")
        assert prompt.completion is None
        prompt.insert("h")
        await pilot.pause()
        assert prompt.completion is None


@pytest.mark.parametrize(
    ("pasted", "written"),
    [
        ("{dir}/alpha.py", "@alpha.py "),
        ("'{dir}/beta file.txt'", '@"beta file.txt" '),
        ("{dir}/beta\\ file.txt ", '@"beta file.txt" '),
        ("file://{dir}/beta%20file.txt", '@"beta file.txt" '),
        ("{dir}/alpha.py {dir}/deep\n", "@alpha.py @deep "),
        ("{dir}/nothing.py", "{dir}/nothing.py"),
        ("read {dir}/alpha.py", "read {dir}/alpha.py"),
        ("/", "/"),
        ("it's", "it's"),
    ],
)
async def test_files_dropped_on_the_terminal_are_mentioned_and_any_other_paste_is_itself(
    stage: Stage, pasted: str, written: str
) -> None:
    folder = str(stage.bench.files.directory)
    async with on_stage(stage) as pilot:
        chat(pilot).prompt.post_message(events.Paste(pasted.replace("{dir}", folder)))
        expected = written.replace("{dir}", folder)
        await until(pilot, lambda: chat(pilot).prompt.full_text == expected, "it is written")


async def test_a_command_of_ones_own_is_announced_in_words_before_it_is_sent(stage: Stage) -> None:
    async with on_stage(stage) as pilot:
        box = chat(pilot).query_one(PromptBox)
        chat(pilot).prompt.insert("!ls")
        await until(pilot, lambda: box.border_title == "! runs here, as you", "it is announced")
        await pilot.press("home", "space")
        await until(pilot, lambda: "to the local agent" in str(box.border_title), "it is a prompt again")


async def test_in_a_command_a_dropped_file_is_its_path(stage: Stage) -> None:
    path = str(stage.bench.files.directory / "alpha.py")
    async with on_stage(stage) as pilot:
        prompt = chat(pilot).prompt
        prompt.insert("!wc ")
        prompt.post_message(events.Paste(path))
        await until(pilot, lambda: prompt.full_text == f"!wc {path}", "it is written")
