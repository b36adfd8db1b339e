"""The list of sessions, the search, and what happens on the screen when one session takes another one's place."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from milk_tui.agents.scripted import Pause, Say
from milk_tui.storage.locks import SessionLock
from milk_tui.ui.app import MilkApp
from milk_tui.ui.screens.chat import ChatScreen
from milk_tui.ui.screens.search import SearchScreen
from milk_tui.ui.screens.session_picker import SessionPicker
from milk_tui.ui.screens.title import TitleScreen
from milk_tui.ui.widgets.transcript import Transcript
from tests.conversation.lending import Lending
from tests.ui.playing import done, notified, say, shown, told
from tests.ui.scenes import chat, settled, until


@asynccontextmanager
async def opened(
    lent: Lending, cwd: str = "/tmp", size: tuple[int, int] = (120, 36)
) -> AsyncIterator[Pilot[None]]:
    """The app on a new session in the library."""
    app = MilkApp(lent.begin(cwd))
    app.animation_level = "none"
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        yield pilot
    await lent.library.close()


@pytest.fixture
def lent(tmp_path: Path) -> Lending:
    return Lending(tmp_path)


async def listed(pilot: Pilot[None], rows: int) -> SessionPicker:
    """Wait for the list with so many rows."""
    await until(pilot, lambda: isinstance(pilot.app.screen, SessionPicker), "the list is open")
    screen = pilot.app.screen
    assert isinstance(screen, SessionPicker)
    await until(pilot, lambda: screen.query_one(OptionList).option_count == rows, f"there are {rows} rows")
    return screen


def is_open(pilot: Pilot[None], session: str) -> Callable[[], bool]:
    """Whether the session is on the screen, and nothing over it."""

    def look() -> bool:
        screen = pilot.app.screen
        return (
            isinstance(screen, ChatScreen) and screen.talk.session.state.id == session and screen.is_current
        )

    return look


async def test_a_session_is_found_by_writing_and_opened(lent: Lending) -> None:
    lent.keep("shop", ("Why does the checkout fail?", "It is the order."), cwd="/usr")
    lent.keep("blog", ("Write about cats", "Cats are fine."))
    async with opened(lent) as pilot:
        await pilot.press("ctrl+s")
        await listed(pilot, 2)
        for words in ("Write about cats", "Why does the checkout fail?", "/usr", "1 turn", "local"):
            assert words in shown(pilot)
        await pilot.press(*"usr CHECK")
        await listed(pilot, 1)
        await pilot.press("enter")
        await until(pilot, is_open(pilot, "shop"), "the session is open")
        await until(pilot, lambda: "It is the order." in shown(pilot), "its answer is on the screen")
        assert "cats" not in told(pilot)


async def test_what_was_being_written_waits_in_its_session(lent: Lending) -> None:
    lent.keep("other", ("Another matter", "Yes."))
    async with opened(lent) as pilot:
        await say(pilot, "First")
        first = (await done(pilot, 1)).talk.session.state.id
        chat(pilot).prompt.write("half a thou")
        await pilot.press("ctrl+s")
        await listed(pilot, 2)
        await pilot.press(*"another", "enter")
        await until(pilot, is_open(pilot, "other"), "the other session is open")
        assert chat(pilot).prompt.full_text == ""
        chat(pilot).prompt.write("for the other")
        await pilot.press("ctrl+s")
        await listed(pilot, 2)
        await pilot.press(*"First", "enter")
        await until(pilot, is_open(pilot, first), "the first session is open again")
        assert chat(pilot).prompt.full_text == "half a thou"
        await pilot.press(*"ght")
        assert chat(pilot).prompt.full_text == "half a thought"


@pytest.mark.parametrize("command", ["/new", "/clear"])
async def test_a_new_session_begins_and_the_old_one_is_kept(lent: Lending, command: str) -> None:
    async with opened(lent) as pilot:
        await say(pilot, "The old matter")
        old = (await done(pilot, 1)).talk.session.state
        await say(pilot, command)
        await until(pilot, lambda: not is_open(pilot, old.id)(), "another session is open")
        await until(pilot, lambda: not chat(pilot).talk.session.turns, "it is empty")
        assert chat(pilot).talk.session.state.cwd == old.cwd
        await until(
            pilot, lambda: lent.agents[0][0].closed == lent.agents[0][1].closed == 1, "agents have ended"
        )
        with SessionLock(lent.home, old.id):
            pass
        await say(pilot, "The new matter")
        await done(pilot, 1)
        await say(pilot, "/resume old matter")
        await listed(pilot, 1)
        await pilot.press("enter")
        await until(pilot, is_open(pilot, old.id), "the old one is open again")
        assert [turn.prompt for turn in chat(pilot).talk.session.turns] == ["The old matter"]


async def test_nothing_is_left_while_a_turn_runs(tmp_path: Path) -> None:
    lent = Lending(tmp_path, ((Say("It begins"), Pause(3600)),))
    lent.keep("other", ("Another matter", "Yes."))
    async with opened(lent) as pilot:
        name = chat(pilot).talk.session.state.id
        await say(pilot, "Take long")
        await until(pilot, lambda: "It begins" in told(pilot), "the turn runs")
        await pilot.press("ctrl+s")
        await listed(pilot, 2)
        await pilot.press(*"another", "enter")
        await until(pilot, lambda: "A turn is running" in told(pilot), "it is told")
        assert is_open(pilot, name)() and chat(pilot).talk.is_busy
        chat(pilot).talk.stop()
        await done(pilot, 1)


async def test_a_session_that_cannot_be_saved_is_not_left(lent: Lending) -> None:
    lent.keep("other", ("Another matter", "Yes."))
    async with opened(lent) as pilot:
        await say(pilot, "Keep me")
        name = (await done(pilot, 1)).talk.session.state.id
        database = lent.home / "sessions.db"
        before = database.rename(lent.home / "away")
        database.mkdir()
        await say(pilot, "And me")
        await done(pilot, 2)
        await say(pilot, "/new")
        await until(pilot, lambda: "could not be saved, and would be lost" in told(pilot), "it is told")
        assert is_open(pilot, name)()
        database.rmdir()
        before.rename(database)


async def test_a_session_open_in_another_window_is_shown_and_stays_there(lent: Lending) -> None:
    lent.keep("other", ("Another matter", "Yes."))
    with SessionLock(lent.home, "other"):
        async with opened(lent) as pilot:
            name = chat(pilot).talk.session.state.id
            await pilot.press("ctrl+s")
            await listed(pilot, 1)
            assert "open in another window" in shown(pilot)
            await pilot.press("enter")
            await until(pilot, lambda: "open in another window" in notified(pilot), "it is told")
            assert isinstance(pilot.app.screen, SessionPicker)
            await pilot.press("ctrl+f")
            await until(pilot, lambda: isinstance(pilot.app.screen, ChatScreen), "a fork is open")
            await until(pilot, lambda: chat(pilot).talk.session.state.id != name, "a fork is open")
            assert chat(pilot).talk.session.state.id != "other"
            assert chat(pilot).talk.session.turns[0].prompt == "Another matter"
            assert "Forked from “Another matter” after its turn 1." in told(pilot)


async def test_a_session_is_renamed_deleted_and_taken_back_in_the_list(lent: Lending) -> None:
    lent.keep("other", ("Another matter", "Yes."))
    async with opened(lent) as pilot:
        await pilot.press("ctrl+s")
        await listed(pilot, 1)
        await pilot.press("ctrl+r")
        await until(pilot, lambda: isinstance(pilot.app.screen, TitleScreen), "it asks")
        pilot.app.screen.query_one(Input).value = "My [b]name[/b]"
        await pilot.press("enter")
        await until(pilot, lambda: "My [b]name[/b]" in shown(pilot), "the list shows the name")
        await pilot.press("ctrl+d")
        await listed(pilot, 0)
        await until(pilot, lambda: "deleted when you quit" in notified(pilot), "it is told")
        await pilot.press("ctrl+z")
        await listed(pilot, 1)
        assert lent.stored("other").title == "My [b]name[/b]"
        await pilot.press("ctrl+d")
        await listed(pilot, 0)
    assert not [path for path in lent.home.glob("locks/*.pid")]
    with pytest.raises(Exception, match="no session other"):
        lent.stored("other")


async def test_a_prompt_is_said_in_another_way_in_a_fork(lent: Lending) -> None:
    async with opened(lent) as pilot:
        for number, prompt in enumerate(("one", "two", "three"), 1):
            await say(pilot, prompt)
            await done(pilot, number)
        name = chat(pilot).talk.session.state.id
        transcript = chat(pilot).query_one(Transcript)
        place = next(i for i, block in enumerate(transcript.blocks) if block.source == "two")
        transcript.focus()
        transcript.go_to(transcript.blocks[place].key)
        await pilot.press("b")
        await until(pilot, lambda: chat(pilot).talk.session.state.id != name, "the fork is open")
        await until(pilot, lambda: chat(pilot).prompt.full_text == "two", "the prompt came along")
        assert [turn.prompt for turn in chat(pilot).talk.session.turns] == ["one"]
        assert [turn.prompt for turn in lent.stored(name).turns] == ["one", "two", "three"]


async def test_an_answer_and_all_before_it_come_along_in_a_fork(lent: Lending) -> None:
    async with opened(lent) as pilot:
        for number, prompt in enumerate(("one", "two"), 1):
            await say(pilot, prompt)
            await done(pilot, number)
        name = chat(pilot).talk.session.state.id
        transcript = chat(pilot).query_one(Transcript)
        place = next(i for i, block in enumerate(transcript.blocks) if block.kind == "local")
        transcript.focus()
        transcript.go_to(transcript.blocks[place].key)
        await pilot.press("b")
        await until(pilot, lambda: chat(pilot).talk.session.state.id != name, "the fork is open")
        assert [turn.prompt for turn in chat(pilot).talk.session.turns] == ["one"]
        await say(pilot, "/fork")
        await until(pilot, lambda: "after its turn 1" in told(pilot), "a fork of the fork is open")


async def test_a_message_is_found_in_another_session_and_gone_to(lent: Lending) -> None:
    far = [(f"question {number}", f"answer {number}\n" * 8) for number in range(60)]
    far[20] = ("question 20", "filler\n" * 30 + "the needle is here\n" + "filler\n" * 30)
    lent.keep("other", *far)
    async with opened(lent) as pilot:
        await say(pilot, "/search need")
        await until(pilot, lambda: isinstance(pilot.app.screen, SearchScreen), "the search is open")
        await until(pilot, lambda: "the needle is here" in shown(pilot), "the hit is shown")
        for words in ("Local", "2026-01-02", "question 0"):
            assert words in shown(pilot)
        await pilot.press("enter")
        await until(pilot, is_open(pilot, "other"), "the session is open")
        await until(pilot, lambda: "the needle is here" in shown(pilot), "the message is on the screen")
        transcript = chat(pilot).query_one(Transcript)
        await until(pilot, lambda: transcript.has_focus, "the keys are for the conversation")
        assert transcript.cursor is not None
        assert "the needle" in transcript.blocks[transcript.cursor].source


async def test_a_message_is_found_in_the_open_session_and_gone_to(lent: Lending) -> None:
    async with opened(lent) as pilot:
        await say(pilot, "Where is 日本?")
        name = (await done(pilot, 1)).talk.session.state.id
        await say(pilot, "/search")
        await until(pilot, lambda: isinstance(pilot.app.screen, SearchScreen), "the search is open")
        await until(pilot, lambda: "Every word must be" in shown(pilot), "it says what can be written")
        pilot.app.screen.query_one(Input).value = "日"
        rows = pilot.app.screen.query_one(OptionList)
        await until(pilot, lambda: rows.option_count == 1, "the hit is shown")
        await pilot.press("enter")
        await until(pilot, is_open(pilot, name), "the chat is there")
        transcript = chat(pilot).query_one(Transcript)
        await until(pilot, lambda: transcript.cursor is not None, "the message is marked")
        assert (
            transcript.cursor is not None and transcript.blocks[transcript.cursor].source == "Where is 日本?"
        )
        chat(pilot).prompt.focus()
        await say(pilot, "/search nowhere")
        await until(pilot, lambda: "Nothing that was said" in shown(pilot), "nothing is found")


async def test_a_session_is_exported_and_renamed_by_commands(lent: Lending, tmp_path: Path) -> None:
    async with opened(lent, cwd=str(tmp_path)) as pilot:
        await say(pilot, "What is it?")
        await done(pilot, 1)
        await say(pilot, "/rename It")
        await until(pilot, lambda: "is called “It”" in told(pilot), "it is told")
        for name in ("it.md", "it.json", "it.html"):
            await say(pilot, f"/export {name}")
            await until(pilot, lambda name=name: str(tmp_path / name) in told(pilot), "it is told")  # type: ignore[misc]
            assert "What is it?" in (tmp_path / name).read_text()
        await say(pilot, "/export it.md")
        await until(pilot, lambda: "There is a file" in told(pilot), "a file is not written over")
