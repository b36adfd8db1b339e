from milk_tui.agents.scripted import Say
from milk_tui.ui.widgets.transcript import Transcript
from tests.ui.playing import Stage, done, on_stage, say
from tests.ui.scenes import chat


async def test_what_is_typed_while_the_transcript_has_the_focus_goes_on_in_the_prompt() -> None:
    stage = Stage([[Say("An answer.")]])
    async with on_stage(stage) as pilot:
        await say(pilot, "A question")
        await done(pilot, 1)
        chat(pilot).query_one(Transcript).focus()
        await pilot.press("A", "n", "d")
        assert chat(pilot).prompt.full_text == "And" and chat(pilot).prompt.has_focus


async def test_the_transcripts_own_keys_stay_its_own() -> None:
    stage = Stage([[Say("An answer.")]])
    async with on_stage(stage) as pilot:
        await say(pilot, "A question")
        await done(pilot, 1)
        chat(pilot).query_one(Transcript).focus()
        await pilot.press("k", "j", "space")
        assert chat(pilot).prompt.full_text == "" and chat(pilot).query_one(Transcript).has_focus


async def test_choosing_text_with_the_mouse_leaves_the_focus_in_the_prompt() -> None:
    stage = Stage([[Say("An answer.")]])
    async with on_stage(stage) as pilot:
        await say(pilot, "A question")
        await done(pilot, 1)
        await pilot.click(Transcript, offset=(5, 3))
        await pilot.press("k")
        assert chat(pilot).prompt.full_text == "k"
