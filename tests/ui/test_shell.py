"""The first frame, and how it becomes the chat."""

import asyncio

import pytest
from textual import events
from textual.pilot import Pilot

from milk_tui.conversation.workbench import Workbench
from milk_tui.core.errors import MilkError
from milk_tui.ui.app import MilkApp
from milk_tui.ui.screens.chat import ChatScreen
from milk_tui.ui.screens.shell import Shell
from milk_tui.ui.widgets.prompt import Prompt
from milk_tui.ui.widgets.status_line import StatusLine
from tests.ui.playing import Stage
from tests.ui.scenes import until

LETTERS = "the quick brown fox jumps over the lazy dog"


class Slow:
    """An opening that takes as long as the test wants it to."""

    def __init__(self, stage: Stage) -> None:
        self.may_open = asyncio.Event()
        self._bench = stage.bench
        self.app = MilkApp(opening=self.open)

    async def open(self) -> Workbench:
        await self.may_open.wait()
        return self._bench


async def opened(pilot: Pilot[None]) -> Prompt:
    """The chat's prompt once it is there and has the focus."""
    await until(pilot, lambda: isinstance(pilot.app.screen, ChatScreen), "the chat is open")
    prompt = pilot.app.screen.query_one(Prompt)
    await until(pilot, lambda: prompt.has_focus, "the prompt has the focus")
    return prompt


async def test_what_is_typed_into_the_first_frame_is_in_the_chats_prompt() -> None:
    slow = Slow(Stage())
    async with slow.app.run_test(size=(100, 30)) as pilot:
        assert isinstance(pilot.app.screen, Shell)
        await pilot.press(*"helo", "left")
        slow.may_open.set()
        prompt = await opened(pilot)
        await until(pilot, lambda: prompt.text == "helo", "the text is there")
        await pilot.press("l")
        assert prompt.text == "hello"


async def test_keys_that_come_while_the_screens_change_are_neither_lost_nor_reordered() -> None:
    slow = Slow(Stage())
    async with slow.app.run_test(size=(100, 30)) as pilot:
        slow.may_open.set()
        for count, letter in enumerate(LETTERS):
            pilot.app.post_message(events.Key("space" if letter == " " else letter, letter))
            # A few at the moment of the change; the others before and after it.
            await asyncio.sleep(0 if count % 3 else 0.01)
        prompt = await opened(pilot)
        await until(pilot, lambda: prompt.text == LETTERS, f"all of {LETTERS!r} and nothing else is written")


async def test_a_paste_into_the_first_frame_is_sent_in_full_once_there_is_a_chat() -> None:
    stage = Stage()
    slow = Slow(stage)
    text = "a line of a log\n" * 400
    async with slow.app.run_test(size=(100, 30)) as pilot:
        pilot.app.post_message(events.Paste(text))
        await pilot.press("enter")
        status = pilot.app.screen.query_one(StatusLine)
        await until(pilot, lambda: "sent then" in status.render().plain, "it says when the text is sent")
        assert not stage.talk.session.turns
        slow.may_open.set()
        await opened(pilot)
        await until(pilot, lambda: bool(stage.talk.session.turns), "a turn was made of it")
        assert stage.talk.session.turns[0].prompt.strip() == text.strip()


async def test_a_text_that_was_changed_after_enter_waits_in_the_prompt() -> None:
    stage = Stage()
    slow = Slow(stage)
    async with slow.app.run_test(size=(100, 30)) as pilot:
        await pilot.press(*"one", "enter")
        status = pilot.app.screen.query_one(StatusLine)
        await until(pilot, lambda: "sent then" in status.render().plain, "Enter was noticed")
        await pilot.press("s")
        slow.may_open.set()
        prompt = await opened(pilot)
        await until(pilot, lambda: prompt.text == "ones", "the text is there")
        assert not stage.talk.session.turns and not stage.talk.is_busy


async def test_an_opening_that_fails_ends_the_app() -> None:
    async def fails() -> Workbench:
        raise MilkError("There is no such session.")

    app = MilkApp(opening=fails)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.return_code == 1, "it has ended")


def places_on(pilot: Pilot[None]) -> dict[str, tuple[int, int]]:
    """Where the parts begin that both screens have; how high a panel is depends on what it says."""
    names = ("#panes", "#conversation", "#prompt", "#bricks", "#need", "#strip", "#status")
    return {name: pilot.app.screen.query_one(name).region.offset for name in names}


@pytest.mark.parametrize("size", [(140, 40), (80, 24)])
async def test_the_chat_stands_where_the_first_frame_stood(size: tuple[int, int]) -> None:
    slow = Slow(Stage())
    async with slow.app.run_test(size=size) as pilot:
        await until(pilot, lambda: pilot.app.screen.query_one(Prompt).size.width > 0, "it is laid out")
        before = places_on(pilot)
        slow.may_open.set()
        await opened(pilot)
        await until(pilot, lambda: places_on(pilot) == before, "everything is where it was")
