"""`/undo` and `/retry` on the screen: the prompt is never lost, and what stays done is said."""

from milk_tui.agents.scripted import Pause, Say, Use
from milk_tui.core.events import TextDelta
from milk_tui.core.messages import ToolCall
from milk_tui.ui.screens.preview import PreviewScreen
from tests.ui.playing import Stage, done, on_stage, say, told
from tests.ui.scenes import chat, is_busy, until

EDIT = Use(ToolCall(id="1", name="Edit", arguments='{"file_path": "a.py"}'), "done")


async def test_undo_gives_the_prompt_back_and_says_what_stays_done() -> None:
    async with on_stage(stage := Stage([[Say("Kept answer.")], [EDIT, Say("Gone answer.")]])) as pilot:
        await say(pilot, "Kept question")
        await done(pilot, 1)
        await say(pilot, "Gone question")
        screen = await done(pilot, 2)
        screen.prompt.write("/undo")
        await pilot.press("enter")
        await until(pilot, lambda: screen.prompt.full_text == "Gone question", "the prompt is back")
        await until(
            pilot,
            lambda: "What its 1 tool call did, to files too, is not undone." in told(pilot),
            "it is said",
        )
        assert "Gone" not in told(pilot) and "Kept answer." in told(pilot)
        assert "Gone" not in stage.talk.bricks().local_summary.text


async def test_retry_asks_the_same_again_in_place_of_the_last_exchange() -> None:
    async with on_stage(stage := Stage([[Say("Bad answer.")], [Say("Good answer.")]])) as pilot:
        await say(pilot, "A question")
        await done(pilot, 1)
        await say(pilot, "/retry")
        await until(pilot, lambda: "Good answer." in told(pilot), "it is asked again")
        screen = await done(pilot, 1)
        assert [turn.prompt for turn in screen.talk.session.turns] == ["A question"]
        assert told(pilot).count("A question") == 1 and "Bad answer." not in told(pilot)
        assert [request.prompt for request in stage.local.requests] == ["A question", "A question"]


async def test_undo_written_during_a_turn_waits_for_its_end_and_overwrites_nothing() -> None:
    async with on_stage(stage := Stage([[TextDelta(text="x"), Pause(1.0)], [Say("ok")]])) as pilot:
        await say(pilot, "A question")
        await until(pilot, lambda: is_busy(pilot), "the turn runs")
        await say(pilot, "/undo")
        await pilot.press(*"draft")
        stage.gate.open()
        queue = stage.talk.queue
        await until(pilot, lambda: [item.text for item in queue.items] == ["A question"], "it is queued")
        assert chat(pilot).prompt.full_text == "draft" and queue.held == "taken back"
        assert stage.talk.session.turns == []


async def test_asking_claude_again_after_the_floor_is_back_shows_the_hand_off_first() -> None:
    async with on_stage(stage := Stage(claude=[[Say("One. " * 60)], [Say("Two.")]])) as pilot:
        await say(pilot, "/escalate! Do it")
        await done(pilot, 1)
        await say(pilot, "/local")
        await until(pilot, lambda: stage.talk.floor == "local", "the floor is back")
        await say(pilot, "/retry")
        await until(pilot, lambda: isinstance(pilot.app.screen, PreviewScreen), "the preview is open")
        assert len(stage.claude.requests) == 1
        await pilot.press("escape")
        await until(pilot, lambda: chat(pilot).prompt.full_text == "Do it", "nothing is lost")
