"""What came back from Claude is shown at once, decided with a deliberate key, and never in the way of writing."""

from collections.abc import Sequence
from typing import cast

from textual.pilot import Pilot

from milk_tui.agents.scripted import Reply, Use
from milk_tui.core.events import TextDelta
from milk_tui.core.file_text import FileText
from milk_tui.core.messages import ToolCall
from milk_tui.ui.screens.changes import ChangesScreen
from milk_tui.ui.widgets.incoming_card import BrickEditor, IncomingCard
from tests.ui.playing import Stage, done, on_stage, say, shown, told
from tests.ui.scenes import chat, until

NARROW = (80, 24)
"""Without the brick column, which holds the same text."""
MENDED: Reply = (TextDelta(text="Mended [bold]both[/bold] of them."),)


def edit(number: int, name: str) -> Use:
    arguments = f'{{"file_path": "{name}", "old_string": "one", "new_string": "two"}}'
    return Use(ToolCall(id=f"e{number}", name="Edit", arguments=arguments), "Updated.")


class Files:
    """Files that are one before and two now; of the unknown one nothing was kept."""

    def keep(self, turn: int, path: str) -> None:
        raise AssertionError("nobody runs a tool here")

    def before(self, _turn: int, path: str) -> FileText | None:
        return None if "unknown" in path else FileText(kind="text", text="same\none\n", digest="1")

    def now(self, path: str) -> FileText:
        kind = "absent" if "gone" in path else "text"
        return FileText.model_validate({"kind": kind, "text": "same\ntwo\n", "digest": "2"})


def stage(*claude: Reply) -> Stage:
    return Stage([[TextDelta(text="Understood.")]], claude or (MENDED,), texts=Files())


async def back(pilot: Pilot[None], prompt: str = "mend it") -> IncomingCard:
    """Claude has worked, and F9 was pressed."""
    await say(pilot, f"/escalate! {prompt}")
    await done(pilot, 1)
    await pilot.press("f9")
    return await card_of(pilot)


async def card_of(pilot: Pilot[None]) -> IncomingCard:
    await until(pilot, lambda: bool(chat(pilot).query(IncomingCard)), "the card is there")
    card = chat(pilot).query_one(IncomingCard)
    await until(pilot, lambda: bool(card.border_title), "the card is drawn")
    return card


async def sent(pilot: Pilot[None], played: Stage) -> str:
    """What the local agent is told with the next prompt."""
    await say(pilot, "thanks")
    await done(pilot, 2)
    await until(pilot, lambda: not chat(pilot).query(IncomingCard), "the card is gone")
    return played.local.requests[-1].preface


async def decided(pilot: Pilot[None], keys: Sequence[str], words: str) -> None:
    await pilot.press(*keys)
    await until(pilot, lambda: words in shown(pilot), f"it says {words!r}")
    await until(pilot, lambda: chat(pilot).prompt.has_focus, "the prompt has the focus")


async def test_it_is_shown_as_it_is_and_goes_with_the_next_prompt() -> None:
    async with on_stage(played := stage()) as pilot:
        await back(pilot)
        await until(pilot, lambda: "Mended [bold]both[/bold]" in shown(pilot), "its text is shown")
        assert "sending a prompt accepts it" in shown(pilot)
        brick = played.talk.incoming()
        assert brick is not None and f"{len(brick.text):,} of {brick.room:,} characters" in shown(pilot)
        assert f"\n{brick.text}\n" in await sent(pilot, played)


async def test_typing_decides_nothing() -> None:
    async with on_stage(played := stage()) as pilot:
        await back(pilot)
        await pilot.press(*"axef")
        assert chat(pilot).prompt.full_text == "axef"
        brick = played.talk.incoming()
        assert brick is not None and brick.choice == "open"


async def test_discarded_the_local_agent_is_told_nothing() -> None:
    async with on_stage(played := stage()) as pilot:
        await back(pilot)
        await decided(pilot, ("tab", "x"), "the local agent is told nothing")
        assert await sent(pilot, played) == ""
        assert "is told what Claude did" not in told(pilot)


async def test_accepted_it_becomes_two_lines_that_can_be_looked_at_again() -> None:
    async with on_stage(played := stage(), NARROW) as pilot:
        await back(pilot)
        await decided(pilot, ("tab", "enter"), "goes with your next prompt")
        await until(pilot, lambda: "User: mend it" not in shown(pilot), "its text is put away")
        await pilot.press("f9")
        await until(pilot, lambda: "User: mend it" in shown(pilot), "its text is there again")
        await decided(pilot, ("x",), "the local agent is told nothing")
        await decided(pilot, ("tab", "a"), "goes with your next prompt")
        assert "Mended" in await sent(pilot, played)


async def test_own_words_go_in_its_place_line_by_line() -> None:
    async with on_stage(played := stage()) as pilot:
        card = await back(pilot)
        await pilot.press("tab", "e")
        await until(pilot, lambda: bool(card.query(BrickEditor)), "the editor is open")
        editor = card.query_one(BrickEditor)
        await until(pilot, lambda: editor.has_focus and "Mended" in editor.full_text, "it holds the summary")
        editor.select_all()
        await pilot.press("delete", *"One", "ctrl+j", *"two")
        await until(pilot, lambda: "7 of" in shown(pilot), "it counts along")
        await decided(pilot, ("enter",), "goes with your next prompt · edited")
        assert "\nOne\ntwo\n>>>" in await sent(pilot, played)


async def test_words_that_are_still_being_written_go_with_a_prompt_that_is_sent() -> None:
    async with on_stage(played := stage()) as pilot:
        card = await back(pilot)
        await pilot.press("tab", "e")
        await until(pilot, lambda: bool(card.query(BrickEditor)), "the editor is open")
        card.query_one(BrickEditor).load_text("Half a sentence")
        chat(pilot).prompt.focus()
        assert "\nHalf a sentence\n>>>" in await sent(pilot, played)


async def test_too_many_words_are_not_kept_escape_leaves_it_as_it_was_and_no_words_are_a_no() -> None:
    async with on_stage(played := stage()) as pilot:
        card = await back(pilot)
        brick = played.talk.incoming()
        assert brick is not None
        await pilot.press("tab", "e")
        await until(pilot, lambda: bool(card.query(BrickEditor)), "the editor is open")
        card.query_one(BrickEditor).load_text("x" * (brick.room + 5))
        await until(pilot, lambda: "5 characters too many" in shown(pilot), "it is told")
        await pilot.press("enter")
        await pilot.pause()
        assert card.query(BrickEditor)
        await pilot.press("escape")
        await until(pilot, lambda: not card.query(BrickEditor), "the editor is closed")
        assert played.talk.incoming() == brick
        await pilot.press("e")
        await until(pilot, lambda: bool(card.query(BrickEditor)), "the editor is open again")
        card.query_one(BrickEditor).load_text("  \n")
        await decided(pilot, ("enter",), "the local agent is told nothing")


async def test_a_reopened_session_shows_it_again() -> None:
    async with on_stage(played := stage()) as pilot:
        await back(pilot)
        await decided(pilot, ("tab", "x"), "the local agent is told nothing")
    again = Stage(session=played.talk.session)
    async with on_stage(again) as pilot:
        await card_of(pilot)
        await until(pilot, lambda: "the local agent is told nothing" in shown(pilot), "the decision is shown")


async def test_handing_over_again_puts_it_away_until_the_floor_is_back() -> None:
    async with on_stage(stage()) as pilot:
        await back(pilot)
        await say(pilot, "/escalate! and more")
        await done(pilot, 2)
        await until(pilot, lambda: not chat(pilot).query(IncomingCard), "the card is gone")
        await pilot.press("f9")
        await card_of(pilot)
        await until(pilot, lambda: "User: and more" in shown(pilot), "it holds both turns")


async def test_files_are_named_and_their_differences_are_a_key_away() -> None:
    files = (edit(1, "shop/a.py"), edit(2, "gone.py"), edit(3, "unknown.py"))
    bash = Use(ToolCall(id="b", name="Bash", arguments='{"command": "make"}'), "made")
    async with on_stage(stage((*files, bash, *MENDED))) as pilot:
        await back(pilot)
        named = "Changed: shop/a.py, gone.py, unknown.py · perhaps more through commands"
        await until(pilot, lambda: named in shown(pilot), "the files are named")
        await pilot.press("tab", "f")
        await until(pilot, lambda: "3 files, and perhaps more" in shown(pilot), "they are counted")
        await until(
            pilot, lambda: "2 -one" in shown(pilot) and "2 +two" in shown(pilot), "the first is shown"
        )
        await pilot.press("y")
        await until(pilot, lambda: "-one\n+two\n" in pilot.app.clipboard, "the difference is copied")
        assert pilot.app.clipboard.startswith("--- a/shop/a.py\n+++ b/shop/a.py\n@@ -1,2 +1,2 @@\n same\n")
        await pilot.press("n")
        await until(pilot, lambda: "the file is gone:" in shown(pilot), "the second is shown")
        await pilot.press("p", "p")
        await until(pilot, lambda: "How it was before was not kept" in shown(pilot), "the last is shown")
        await until(pilot, lambda: "? unknown.py · as asked" in shown(pilot), "the list says so too")
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is chat(pilot), "the chat is back")


async def test_the_command_shows_what_either_agent_changed_and_says_when_that_is_nothing() -> None:
    local: Reply = (
        Use(ToolCall(id="w", name="write_file", arguments='{"path": "b.py", "text": "x"}'), "Created."),
        TextDelta(text="Written."),
    )
    async with on_stage(Stage([local], [(edit(1, "a.py"), *MENDED)], texts=Files())) as pilot:
        await say(pilot, "/changes")
        await until(pilot, lambda: "No tool call has changed a file." in shown(pilot), "it says so")
        await pilot.press("escape")
        await say(pilot, "write")
        await done(pilot, 1)
        await say(pilot, "/escalate! mend it")
        await done(pilot, 2)
        await say(pilot, "/changes")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChangesScreen), "the files are shown")
        screen = cast(ChangesScreen, pilot.app.screen)
        await until(pilot, lambda: screen.changes is not None, "they were looked at")
        assert screen.changes is not None
        assert [file.name for file in screen.changes.files] == ["b.py", "a.py"]
