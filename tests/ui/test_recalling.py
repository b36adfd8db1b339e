"""Earlier prompts: walked through with Up and Down, and searched with Ctrl+R, in this session and all others."""

import asyncio
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList

from milk_tui.core.errors import StoreError
from milk_tui.ui.screens.prompt_picker import PromptPicker
from tests.conversation.lending import Lending
from tests.ui.playing import Stage, done, notified, on_stage, say, shown
from tests.ui.scenes import chat, until
from tests.ui.test_sessions_ui import opened


@pytest.fixture
def lent(tmp_path: Path) -> Lending:
    lent = Lending(tmp_path)
    lent.keep("shop", ("Why does the checkout fail?", "So."), ("One", "Yes."), ("Is it the order?", "It is."))
    return lent


async def up(pilot: Pilot[None], wanted: str) -> None:
    await pilot.press("ctrl+home", "up")
    await until(pilot, lambda: chat(pilot).prompt.full_text == wanted, f"{wanted!r} is in the prompt")


async def listed(pilot: Pilot[None], rows: int) -> None:
    """Wait for the list with so many rows."""
    await until(pilot, lambda: isinstance(pilot.app.screen, PromptPicker), "the list is open")
    options = pilot.app.screen.query_one(OptionList)
    await until(pilot, lambda: options.option_count == rows, f"there are {rows} rows")


async def test_up_goes_on_to_the_prompts_of_other_sessions_each_once_and_down_comes_back(
    lent: Lending,
) -> None:
    async with opened(lent) as pilot:
        for count, prompt in enumerate(["One", "Two", "One "], 1):
            await say(pilot, prompt)
            await done(pilot, count)
        await pilot.press(*"draft")
        for wanted in ("One ", "Two", "Is it the order?", "Why does the checkout fail?"):
            await up(pilot, wanted)
        await pilot.press("up")
        assert chat(pilot).prompt.full_text == "Why does the checkout fail?"
        for wanted in ("Is it the order?", "Two", "One ", "draft"):
            await pilot.press("down")
            await until(pilot, lambda: chat(pilot).prompt.full_text == wanted, f"{wanted!r} is back")  # noqa: B023


async def test_what_is_written_while_other_sessions_are_read_stays(
    lent: Lending, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_read = asyncio.Event()

    async def prompts() -> list[str]:
        await is_read.wait()
        return ["From elsewhere"]

    monkeypatch.setattr(lent.library, "prompts", prompts)
    async with opened(lent) as pilot:
        await pilot.press("up", *"mine")
        is_read.set()
        await until(
            pilot, lambda: all(worker.group != "recall" for worker in chat(pilot).workers), "it is read"
        )
        assert chat(pilot).prompt.full_text == "mine"
        await up(pilot, "From elsewhere")


async def test_sessions_that_cannot_be_read_are_told_once_and_own_prompts_are_there(
    lent: Lending, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def prompts() -> list[str]:
        raise StoreError("The sessions cannot be read.")

    monkeypatch.setattr(lent.library, "prompts", prompts)
    async with opened(lent) as pilot:
        await pilot.press("up")
        await until(pilot, lambda: "cannot be read" in notified(pilot), "it is told")
        await pilot.press("up", "ctrl+r")
        await until(pilot, lambda: "The sessions cannot be read." in shown(pilot), "the list says it too")
        assert notified(pilot).count("cannot be read") == 1


async def test_a_prompt_is_found_by_its_words_and_undoing_brings_back_what_was_written(lent: Lending) -> None:
    async with opened(lent) as pilot:
        await say(pilot, "Mine, about an order")
        await done(pilot, 1)
        await pilot.press(*"draft", "ctrl+r")
        await listed(pilot, 4)
        await until(pilot, lambda: "Why does the checkout fail?" in shown(pilot), "all are shown")
        await pilot.press(*"ORDER it")
        await listed(pilot, 1)
        await pilot.press("enter")
        await until(pilot, lambda: chat(pilot).prompt.full_text == "Is it the order?", "it is taken")
        await until(pilot, lambda: chat(pilot).prompt.has_focus, "one can write on")
        await pilot.press("ctrl+z")
        assert chat(pilot).prompt.full_text == "draft"


async def test_pressed_again_the_key_chooses_an_older_one_and_escape_leaves_the_prompt(lent: Lending) -> None:
    async with opened(lent) as pilot:
        await pilot.press(*"draft", "ctrl+r")
        await listed(pilot, 3)
        await pilot.press("ctrl+r", "ctrl+r", "escape")
        await until(pilot, lambda: chat(pilot).is_current, "the list is closed")
        assert chat(pilot).prompt.full_text == "draft"
        await pilot.press("ctrl+r")
        await listed(pilot, 3)
        await pilot.press("ctrl+r", "enter")
        await until(pilot, lambda: chat(pilot).prompt.full_text == "One", "the second is taken")


async def test_a_word_deep_in_a_long_prompt_is_shown(lent: Lending) -> None:
    lent.keep("long", (f"{'filler ' * 200}\n[b]needle[/b] {'straw ' * 200}", "Found."))
    async with opened(lent, size=(80, 24)) as pilot:
        await pilot.press("ctrl+r")
        await listed(pilot, 4)
        await pilot.press(*"needle")
        await listed(pilot, 1)
        await until(
            pilot, lambda: "[b]needle[/b] straw" in shown(pilot), "the row shows the word, markup as text"
        )


async def test_where_nothing_is_kept_the_session_alone_is_walked_and_searched() -> None:
    async with on_stage(Stage()) as pilot:
        await pilot.press("ctrl+r")
        await until(pilot, lambda: "Nothing has been asked yet." in shown(pilot), "the list says so")
        await pilot.press("escape")
        await say(pilot, "One")
        await done(pilot, 1)
        await up(pilot, "One")
        await pilot.press("up", "up")
        assert chat(pilot).prompt.full_text == "One"
