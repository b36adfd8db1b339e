"""Secrets on the preview: marked, counted, masked with one key, and what is shown is what is sent."""

from milk_tui.agents.scripted import Reply
from milk_tui.core.events import EscalationRequested, TextDelta
from milk_tui.core.secrets import found
from milk_tui.core.session import Session
from milk_tui.ui.screens.preview import PreviewScreen
from milk_tui.ui.widgets.line_list import LineList
from milk_tui.ui.widgets.prompt import Prompt
from tests.conversation.talking import new_session
from tests.ui.playing import Stage, done, notified, on_stage, parts_shown, say, shown, text_of, told
from tests.ui.scenes import chat, previewed
from tests.ui.test_preview import sent, turn

KEY = "sk-ant-api03-" + "aB3-" * 12


def session_with_secrets() -> Session:
    session = new_session(need="Write to ann@firm.com", need_by="user", need_turn=1)
    return Session(session.state, [turn(1, f"Call it with {KEY}", "Done.")])


def line_of(preview: PreviewScreen) -> str:
    return text_of(preview.query_one("#preview-line"))


def prompt_of(preview: PreviewScreen) -> str:
    return preview.query_one(Prompt).full_text


async def test_secrets_are_counted_and_marked_where_they_stand() -> None:
    async with on_stage(Stage(session=session_with_secrets())) as pilot:
        await pilot.press("ctrl+g")
        preview = await previewed(pilot)
        assert "Below leaves this machine" in line_of(preview)
        # The need's address, and the key in the summary and in the prompt.
        assert "3 things look like secrets (a hint, no promise) · F3 masks" in line_of(preview)
        marked = [
            row.text.plain[span.start : span.end]
            for row in preview.query_one("#preview-lines", LineList).rows
            for span in row.text.spans
        ]
        assert marked == ["ann@firm.com", KEY]


async def test_without_secrets_the_line_says_nothing_of_them() -> None:
    async with on_stage(Stage()) as pilot:
        chat(pilot).prompt.write("Do it")
        await pilot.press("ctrl+g")
        preview = await previewed(pilot)
        assert line_of(preview) == "Below leaves this machine · price unknown"
        preview.query_one(Prompt).write("Do it with ann@firm.com")
        await pilot.pause()
        assert "1 thing looks like a secret" in line_of(preview)


async def test_one_key_masks_them_and_exactly_what_is_shown_is_sent() -> None:
    async with on_stage(stage := Stage(session=session_with_secrets())) as pilot:
        await pilot.press("ctrl+g")
        preview = await previewed(pilot)
        await pilot.press("f3")
        await pilot.pause()
        parts, prompt = parts_shown(preview), prompt_of(preview)
        assert "Masked in this hand-off: what looks like a secret, 3 times" in line_of(preview)
        assert prompt == "Call it with [masked: api key]"
        assert any("[masked: e-mail address]" in part for part in parts) and "[masked: api key]" in shown(
            pilot
        )
        await pilot.press("enter")
        await done(pilot, 2)
        assert parts == await sent(stage, 1) and stage.claude.requests[0].prompt == prompt
        assert all(found(part) == [] for part in parts)
        assert "what looked like a secret was masked" in told(pilot)


async def test_the_same_key_shows_them_again_and_then_they_are_sent() -> None:
    async with on_stage(stage := Stage(session=session_with_secrets())) as pilot:
        await pilot.press("ctrl+g")
        preview = await previewed(pilot)
        before = parts_shown(preview), prompt_of(preview)
        await pilot.press("f3", "f3")
        await pilot.pause()
        assert (parts_shown(preview), prompt_of(preview)) == before
        await pilot.press("enter")
        await done(pilot, 2)
        assert before[0] == await sent(stage, 1) and KEY in stage.claude.requests[0].prompt
        assert "was masked" not in told(pilot)


async def test_a_secret_written_after_masking_is_shown_masked_before_it_leaves() -> None:
    async with on_stage(stage := Stage(session=session_with_secrets())) as pilot:
        await pilot.press("ctrl+g")
        preview = await previewed(pilot)
        await pilot.press("f3")
        preview.query_one(Prompt).write("Call it with [masked: api key] and bob@firm.com")
        await pilot.press("enter")
        await pilot.pause()
        assert pilot.app.screen is preview and not stage.claude.requests
        assert prompt_of(preview).endswith("and [masked: e-mail address]")
        await pilot.press("enter")
        await done(pilot, 2)
        assert (
            stage.claude.requests[0].prompt == "Call it with [masked: api key] and [masked: e-mail address]"
        )


async def test_going_back_gives_the_prompt_back_as_it_was_written() -> None:
    async with on_stage(Stage()) as pilot:
        chat(pilot).prompt.write(f"Use {KEY}")
        await pilot.press("ctrl+g")
        await previewed(pilot)
        await pilot.press("f3", "escape")
        await pilot.pause()
        assert chat(pilot).prompt.full_text == f"Use {KEY}"


async def test_masking_is_over_with_its_hand_off() -> None:
    stage = Stage(claude=[[TextDelta(text="Done. " * 50)]], session=session_with_secrets())
    async with on_stage(stage) as pilot:
        await pilot.press("ctrl+g")
        await previewed(pilot)
        await pilot.press("f3", "enter")
        await done(pilot, 2)
        await say(pilot, "/local And then?")
        await done(pilot, 3)
        await pilot.press("ctrl+g")
        preview = await previewed(pilot)
        assert not preview.is_masked and any("ann@firm.com" in part for part in parts_shown(preview))


async def test_the_key_changes_nothing_where_nothing_looks_like_a_secret() -> None:
    async with on_stage(Stage()) as pilot:
        chat(pilot).prompt.write("Do it")
        await pilot.press("ctrl+g")
        preview = await previewed(pilot)
        await pilot.press("f3")
        assert not preview.is_masked and "Nothing here looks like a secret." in notified(pilot)


async def test_the_local_agents_reason_is_counted_and_masked_where_it_goes_into_the_prompt() -> None:
    asks: Reply = [TextDelta(text="Hard."), EscalationRequested(reason=f"I need {KEY}")]
    stage = Stage([asks], [[TextDelta(text="Done. " * 50)]])
    async with on_stage(stage) as pilot:
        await say(pilot, "/escalate! Do it")
        await done(pilot, 1)
        await say(pilot, "/local Solve it")
        preview = await previewed(pilot)
        assert "1 thing looks like a secret" in line_of(preview)
        await pilot.press("f3")
        await pilot.pause()
        facts = text_of(preview.query_one("#preview-facts"))
        assert "(The local model asks for you: I need [masked: api key])" in facts
        preview.deaf_seconds = 0.0
        await pilot.press("enter")
        await done(pilot, 3)
        expected = "Solve it\n\n(The local model asks for you: I need [masked: api key])"
        assert stage.claude.requests[1].prompt == expected
