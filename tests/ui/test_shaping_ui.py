"""Shaping by keys, beside the conversation and in the preview; what is seen afterwards is what Claude is told."""

import pytest
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import OptionList, Static

from milk_tui.agents.scripted import Reply
from milk_tui.core.bricks import BrickLine
from milk_tui.core.events import PerceptRecorded, TextDelta
from milk_tui.ui.screens.chat import ChatScreen
from milk_tui.ui.screens.ledger import LedgerScreen
from milk_tui.ui.screens.preview import PreviewScreen
from milk_tui.ui.screens.versions import VersionsScreen
from milk_tui.ui.widgets.line_editor import LineEditor
from milk_tui.ui.widgets.line_list import LineList, Row, marks
from milk_tui.ui.widgets.prompt import Prompt
from milk_tui.ui.widgets.transcript import Transcript
from tests.ui.playing import Stage, done, notified, on_stage, parts_shown, say, shown, text_of
from tests.ui.scenes import chat, previewed, until

FOREIGN = "[/x] [r \x1b[31mred"


def stage() -> Stage:
    local: list[Reply] = [
        [TextDelta(text="The port is 8041."), PerceptRecorded(text="tills have ports")],
        [TextDelta(text="It is teal.")],
    ]
    return Stage(local, [[TextDelta(text="Claude mended the till. " * 20)]])


async def talked(pilot: Pilot[None]) -> None:
    await say(pilot, "Which port does the till use?")
    await done(pilot, 1)
    await say(pilot, "Which colour has the till?")
    await done(pilot, 2)


async def chosen(pilot: Pilot[None], words: str, part: str = "#local-summary LineList") -> LineList:
    """Go to a list and choose the line with these words."""
    lines = pilot.app.screen.query_one(part, LineList)
    lines.focus()
    await until(pilot, lambda: lines.has_focus, "the lines have the focus")
    for _ in range(40):
        if lines.row is not None and words in lines.row.text.plain:
            return lines
        await pilot.press("down")
    raise AssertionError(f"There is no line with {words!r}.")


def summary(pilot: Pilot[None]) -> str:
    return chat(pilot).talk.bricks().local_summary.text


def gauge(pilot: Pilot[None]) -> str:
    return text_of(chat(pilot).query_one("#gauge .panel-body", Static))


async def test_a_line_is_dropped_from_brick_and_gauge_at_once_and_u_takes_it_back() -> None:
    async with on_stage(stage()) as pilot:
        await talked(pilot)
        await chosen(pilot, "8041")
        await pilot.press("d")
        await until(pilot, lambda: "8041" not in summary(pilot), "it is dropped")
        chars = f"{chat(pilot).talk.gauge().chars:,}"
        await until(pilot, lambda: chars in gauge(pilot), "the gauge follows")
        await until(pilot, lambda: "1 line dropped by you" in shown(pilot), "the panel says so")
        await pilot.press("u")
        await until(pilot, lambda: "8041" in summary(pilot), "it is back")
        await pilot.press("u")
        await until(pilot, lambda: "nothing to take back" in notified(pilot), "it is said")


async def test_a_pinned_line_is_marked_and_p_again_unpins_it() -> None:
    async with on_stage(stage()) as pilot:
        await talked(pilot)
        lines = await chosen(pilot, "8041")
        await pilot.press("p")
        await until(
            pilot, lambda: "▪› Local agent: The port" in shown(pilot).replace("▪›", "▪› "), "it is marked"
        )
        assert lines.row is not None and lines.row.line is not None and lines.row.line.is_pinned
        await pilot.press("p")
        await until(pilot, lambda: not any(r.line and r.line.is_pinned for r in lines.rows), "it is not")


async def test_a_line_is_edited_in_place_and_escape_keeps_it_as_it_was() -> None:
    async with on_stage(stage()) as pilot:
        await talked(pilot)
        lines = await chosen(pilot, "8041")
        await pilot.press("e")
        await until(pilot, lambda: isinstance(pilot.app.focused, LineEditor), "the editor is open")
        editor = chat(pilot).query_one("#local-summary LineEditor", LineEditor)
        await pilot.press(*"x", "escape")
        await until(pilot, lambda: lines.has_focus and not editor.display, "the editor is closed")
        assert "8041." in summary(pilot) and "x" not in summary(pilot).splitlines()[1]
        await pilot.press("e")
        await until(pilot, lambda: editor.has_focus, "the editor is open again")
        editor.text = FOREIGN
        editor.move_cursor(editor.document.end)
        await pilot.press("ctrl+j", *"two", "enter")
        await until(pilot, lambda: "[/x] [r red" in summary(pilot).replace("\n  two", ""), "it is edited")
        assert "\x1b" not in summary(pilot) and "\n  two" in summary(pilot)
        await until(pilot, lambda: "✎" in shown(pilot), "it is marked")


async def test_enter_goes_to_the_message_that_a_line_came_from() -> None:
    async with on_stage(stage()) as pilot:
        await talked(pilot)
        await chosen(pilot, "8041")
        await pilot.press("enter")
        transcript = chat(pilot).query_one(Transcript)
        await until(pilot, lambda: transcript.has_focus, "the conversation has the focus")
        assert transcript.cursor is not None
        assert transcript.blocks[transcript.cursor].source == "The port is 8041."


async def test_space_switches_the_part_off_and_on_and_the_panel_says_so() -> None:
    async with on_stage(stage()) as pilot:
        await talked(pilot)
        await chosen(pilot, "8041")
        await pilot.press("space")
        await until(pilot, lambda: "local summary · ○ off" in shown(pilot), "it is off")
        assert "8041" not in chat(pilot).talk.session.handoff().changing
        await pilot.press("space")
        await until(pilot, lambda: "○ off" not in shown(pilot), "it is on")


async def test_a_frozen_brick_stays_as_it_was_and_says_as_of_when() -> None:
    async with on_stage(stage()) as pilot:
        await talked(pilot)
        await chosen(pilot, "8041")
        await pilot.press("f")
        await until(pilot, lambda: "frozen as of turn 2" in shown(pilot), "it is frozen")
        chat(pilot).prompt.focus()
        await say(pilot, "And the door?")
        await done(pilot, 3)
        assert "door" not in summary(pilot)
        await pilot.press("ctrl+g")
        await previewed(pilot)
        assert "as it was at turn 2" in chat(pilot).talk.forecast().handoff.changing


async def test_what_is_shaped_in_the_preview_is_what_claude_is_told() -> None:
    async with on_stage(played := stage()) as pilot:
        await talked(pilot)
        await pilot.press("ctrl+g")
        preview = await previewed(pilot)
        assert preview.query_one(Prompt).has_focus
        await pilot.press("tab")
        await until(pilot, lambda: isinstance(preview.focused, LineList), "the lines have the focus")
        await chosen(pilot, "8041", "#preview-lines")
        await pilot.press("d")
        await until(pilot, lambda: "8041" not in "".join(parts_shown(preview)), "it is dropped")
        await chosen(pilot, "teal", "#preview-lines")
        await pilot.press("e")
        await until(pilot, lambda: isinstance(preview.focused, LineEditor), "the editor is open")
        await pilot.press("backspace", *" now.", "enter")
        await until(pilot, lambda: "teal now." in "".join(parts_shown(preview)), "it is edited")
        await chosen(pilot, "tills have", "#preview-lines")
        await pilot.press("space")
        await until(pilot, lambda: "○ percepts · off" in shown(pilot), "the facts are off")
        parts = parts_shown(preview)
        preview.query_one(Prompt).focus()
        await pilot.press("enter")
        await done(pilot, 3)
        handoff = played.claude.requests[0].handoff
        assert handoff is not None
        assert sorted(part.text.strip("\n") for part in handoff.parts) == sorted(parts)
        assert "8041" not in handoff.changing and "tills" not in handoff.changing


async def test_enter_in_the_preview_leaves_for_the_message_and_keeps_the_prompt() -> None:
    async with on_stage(played := stage()) as pilot:
        await talked(pilot)
        chat(pilot).prompt.write("Half a tho")
        await pilot.press("ctrl+g")
        await previewed(pilot)
        await chosen(pilot, "8041", "#preview-lines")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChatScreen), "the preview is closed")
        transcript = chat(pilot).query_one(Transcript)
        await until(pilot, lambda: transcript.has_focus, "the conversation has the focus")
        assert transcript.cursor is not None
        assert transcript.blocks[transcript.cursor].source == "The port is 8041."
        assert chat(pilot).prompt.full_text == "Half a tho" and not played.claude.requests


async def test_a_masked_line_is_pinned_as_it_is_and_not_as_it_looks() -> None:
    async with on_stage(Stage([[TextDelta(text="password = hunter2hunter2")]])) as pilot:
        await say(pilot, "What is it?")
        await done(pilot, 1)
        await pilot.press("ctrl+g")
        preview = await previewed(pilot)
        await pilot.press("f3")
        await until(pilot, lambda: preview.is_masked, "it is masked")
        await chosen(pilot, "[masked", "#preview-lines")
        await pilot.press("p")
        await until(pilot, lambda: bool(chat(pilot).talk.session.state.shaping.lines), "it is pinned")
        assert "hunter2" in summary(pilot) and "hunter2" not in "".join(parts_shown(preview))


async def test_the_preview_shows_what_is_different_from_the_last_hand_off() -> None:
    async with on_stage(stage()) as pilot:
        await talked(pilot)
        await pilot.press("ctrl+g")
        preview = await previewed(pilot)
        await pilot.press("f6")
        await until(pilot, lambda: "Nothing was handed over" in notified(pilot), "it is said")
        await pilot.press("enter")
        await done(pilot, 3)
        await say(pilot, "/local And the door?")
        await done(pilot, 4)
        await pilot.press("ctrl+g")
        preview = await previewed(pilot)
        facts = text_of(preview.query_one("#preview-facts"))
        assert "Since the last hand-off (turn 3): +" in facts
        await pilot.press("f6")
        await until(
            pilot, lambda: "− User: Which port does the till use?" in shown(pilot), "what went is shown"
        )
        assert "+ User: And the door?" in shown(pilot)
        await pilot.press("f6")
        await until(pilot, lambda: not preview.is_comparing, "it is whole again")


async def test_the_ledger_takes_back_what_was_dropped() -> None:
    async with on_stage(stage()) as pilot:
        await talked(pilot)
        await chosen(pilot, "8041")
        await pilot.press("d", "l")
        await until(pilot, lambda: isinstance(pilot.app.screen, LedgerScreen), "the ledger is shown")
        await until(pilot, lambda: "dropped by you" in shown(pilot), "it lists the line")
        await pilot.press("enter")
        await until(pilot, lambda: "8041" in summary(pilot), "it is back")
        await until(pilot, lambda: "nothing was dropped" in shown(pilot), "the ledger is empty")


async def test_versions_are_stepped_through_compared_and_restored() -> None:
    async with on_stage(stage()) as pilot:
        await talked(pilot)
        before = summary(pilot)
        await chosen(pilot, "8041")
        await pilot.press("d", "v")
        await until(pilot, lambda: isinstance(pilot.app.screen, VersionsScreen), "the versions are shown")
        await until(pilot, lambda: "− Local agent: The port is 8041." in shown(pilot), "what went is shown")
        await pilot.press("down")
        await until(pilot, lambda: "+ Local agent: It is teal." in shown(pilot), "the one before is compared")
        await pilot.press("d")
        await until(pilot, lambda: "from then to now" in shown(pilot), "it is compared with now")
        assert pilot.app.screen.query_one(OptionList).option_count == 3
        await pilot.press("u", "escape", "u")
        await until(pilot, lambda: summary(pilot) == before, "the drop is taken back")
        await pilot.press("v")
        await until(pilot, lambda: isinstance(pilot.app.screen, VersionsScreen), "the versions are shown")
        await pilot.press("down", "down", "down", "r")
        await until(pilot, lambda: "Frozen as of turn 1" in shown(pilot), "the first one is restored")
        assert "teal" not in summary(pilot) and "8041" in summary(pilot)
        await pilot.press("f")
        await until(pilot, lambda: summary(pilot) == before, "it is thawed")


async def test_the_need_is_kept_switched_off_and_followed_by_the_same_keys() -> None:
    async with on_stage(stage()) as pilot:
        await talked(pilot)
        chat(pilot).query_one("#need").focus()
        await pilot.press("enter")
        transcript = chat(pilot).query_one(Transcript)
        await until(pilot, lambda: transcript.has_focus, "it leads to its prompt")
        chat(pilot).query_one("#need").focus()
        await pilot.press("p")
        await until(pilot, lambda: chat(pilot).talk.session.state.need_by == "user", "it is kept")
        await pilot.press("d")
        await until(pilot, lambda: "need · ○ off" in shown(pilot), "it is off")


@pytest.mark.parametrize("size", [(80, 24), (60, 20)])
async def test_on_a_small_terminal_lines_are_shaped_and_lead_back_to_the_conversation(
    size: tuple[int, int],
) -> None:
    async with on_stage(stage(), size) as pilot:
        await talked(pilot)
        await pilot.press("f2")
        lines = await chosen(pilot, "8041")
        assert on_screen(lines)
        await pilot.press("p")
        await until(pilot, lambda: "▪" in shown(pilot), "it is pinned")
        await pilot.press("enter")
        await until(pilot, lambda: on_screen(chat(pilot).query_one(Transcript)), "the conversation is back")


def on_screen(widget: Widget) -> bool:
    return widget.region.height > 0 and widget.display


def test_a_line_says_what_is_special_about_it() -> None:
    line = BrickLine(text="x", sources=("1.0",), key="1.0")
    cases = {
        "": line,
        "▪": line.model_copy(update={"is_pinned": True}),
        "▪✎": line.model_copy(update={"is_pinned": True, "is_edited": True, "falls_next": True}),
        "~": line.model_copy(update={"sources": ()}),
        "↓": line.model_copy(update={"falls_next": True}),
    }
    assert {sign: marks(line) for sign, line in cases.items()} == {sign: sign for sign in cases}


async def test_the_cursor_stays_with_its_line_when_the_brick_is_rebuilt() -> None:
    async with on_stage(stage()) as pilot:
        await talked(pilot)
        lines = await chosen(pilot, "teal")
        chat(pilot).prompt.focus()
        await say(pilot, "And the door?")
        await done(pilot, 3)
        row: Row | None = lines.row
        assert row is not None and "teal" in row.text.plain
        assert not isinstance(pilot.app.screen, PreviewScreen)
