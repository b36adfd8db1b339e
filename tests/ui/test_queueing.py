"""Writing while a turn runs: the chips above the prompt, and the keys that change what is queued."""

import pytest
from textual.pilot import Pilot

from milk_tui.agents.scripted import Pause, Say
from milk_tui.core.errors import Failure
from milk_tui.core.events import AgentFailed, TextDelta
from milk_tui.ui.screens.preview import PreviewScreen
from milk_tui.ui.widgets.queue_chips import QueueChips
from tests.conversation.talking import new_session
from tests.ui.playing import Stage, done, on_stage, say, shown, told
from tests.ui.scenes import chat, is_busy, until

WAITS = (TextDelta(text="Half an answer"), Pause(1.0), TextDelta(text=" and the rest."))
OK = (TextDelta(text="ok"),)
LOST = AgentFailed(failure=Failure(kind="lost", sentence="The stream ended early."))


def queued(pilot: Pilot[None]) -> list[str]:
    return [item.text for item in chat(pilot).talk.queue.items]


def prompts(pilot: Pilot[None]) -> list[str]:
    return [turn.prompt for turn in chat(pilot).talk.session.turns]


async def begin(pilot: Pilot[None], *texts: str) -> None:
    """A turn that waits at the gate, and these texts queued behind it."""
    await say(pilot, "First")
    await until(pilot, lambda: is_busy(pilot), "the turn runs")
    for count, text in enumerate(texts, 1):
        await say(pilot, text)
        await until(pilot, lambda count=count: len(queued(pilot)) == count, "it is queued")  # type: ignore[misc]


async def stop(pilot: Pilot[None]) -> None:
    await until(pilot, lambda: "Half an answer" in told(pilot), "the answer has begun")
    await pilot.press("escape")
    await done(pilot, 1)
    await until(pilot, lambda: "Held: you stopped the turn." in shown(pilot), "the reason is told")


async def test_enter_while_a_turn_runs_queues_and_the_turns_end_sends_it_beside_what_is_written_meanwhile() -> (
    None
):
    async with on_stage(stage := Stage([WAITS, OK])) as pilot:
        await begin(pilot, "Second", "[b]Third[/] and\nmore")
        assert chat(pilot).prompt.full_text == ""
        await until(pilot, lambda: "→ local  Second" in shown(pilot), "it is shown with who gets it")
        await until(pilot, lambda: "[b]Third[/] and more" in shown(pilot), "markup is text on one row")
        await pilot.press(*"draft")
        stage.gate.open()
        screen = await done(pilot, 3)
        assert prompts(pilot) == ["First", "Second", "[b]Third[/] and\nmore"]
        assert screen.prompt.full_text == "draft"
        await until(pilot, lambda: not screen.query_one(QueueChips).display, "the chips are gone")


async def test_escape_holds_the_queue_and_only_then_enter_in_the_empty_prompt_lets_it_go() -> None:
    async with on_stage(Stage([WAITS, OK])) as pilot:
        await pilot.press("enter")
        await begin(pilot, "Second", "Third")
        await pilot.press("enter")
        await stop(pilot)
        assert queued(pilot) == ["Second", "Third"]
        await pilot.press("enter")
        await done(pilot, 3)
        assert prompts(pilot) == ["First", "Second", "Third"]


async def test_a_failed_turn_holds_the_queue() -> None:
    async with on_stage(stage := Stage([[TextDelta(text="x"), Pause(1.0), LOST], OK])) as pilot:
        await begin(pilot, "Second")
        stage.gate.open()
        await done(pilot, 1)
        await until(pilot, lambda: "Held: the turn failed." in shown(pilot), "the reason is told")
        assert queued(pilot) == ["Second"]


@pytest.mark.parametrize("command", ["/escalate! look here", "/local look here"])
async def test_a_command_that_cannot_be_done_now_is_queued_and_done_at_its_turn(command: str) -> None:
    async with on_stage(stage := Stage([WAITS, OK])) as pilot:
        await begin(pilot, command, "And then?")
        to = "→ Claude And then?" if "escalate" in command else "→ local  And then?"
        await until(pilot, lambda: to in shown(pilot), "it is said who gets the next one")
        stage.gate.open()
        await done(pilot, 3)
        assert prompts(pilot) == ["First", "look here", "And then?"]
        assert len(stage.claude.requests) == (2 if "escalate" in command else 0)


async def test_nothing_is_sent_while_a_queued_escalation_shows_its_preview() -> None:
    async with on_stage(stage := Stage([WAITS, OK])) as pilot:
        await begin(pilot, "/escalate do it", "And then?")
        stage.gate.open()
        await until(pilot, lambda: isinstance(pilot.app.screen, PreviewScreen), "the preview is open")
        await pilot.pause(0.1)
        assert queued(pilot) == ["And then?"] and len(stage.local.requests) == 1
        await pilot.press("escape")
        await done(pilot, 2)
        assert prompts(pilot) == ["First", "And then?"]


async def test_a_command_that_disturbs_no_turn_is_done_at_once() -> None:
    async with on_stage(stage := Stage([WAITS, OK])) as pilot:
        await begin(pilot)
        await say(pilot, "/need Sleep more")
        await until(pilot, lambda: stage.talk.session.state.need == "Sleep more", "it is said")
        assert queued(pilot) == []


async def test_up_in_the_empty_prompt_takes_the_last_one_back_and_enter_puts_it_where_it_was() -> None:
    async with on_stage(Stage([WAITS, OK])) as pilot:
        await begin(pilot, "Second", "Third")
        await pilot.press("up")
        await until(pilot, lambda: chat(pilot).prompt.full_text == "Third", "it is back")
        assert queued(pilot) == ["Second"]
        await pilot.press("end", "!", "enter")
        await until(pilot, lambda: queued(pilot) == ["Second", "Third!"], "it is queued again")


async def test_the_chosen_one_is_moved_edited_and_removed() -> None:
    async with on_stage(Stage([WAITS, OK])) as pilot:
        await begin(pilot, "a", "b", "c")
        await pilot.press("f6")
        chips = pilot.app.screen.query_one(QueueChips)
        await until(pilot, lambda: chips.has_focus and "▸ → local  c" in shown(pilot), "the last is chosen")
        await pilot.press("shift+up")
        await until(pilot, lambda: queued(pilot) == ["a", "c", "b"], "it is moved")
        await pilot.press("x")
        await until(pilot, lambda: queued(pilot) == ["a", "b"], "it is removed")
        await pilot.press("up", "enter")
        await until(pilot, lambda: chat(pilot).prompt.full_text == "a", "it is in the prompt")
        assert queued(pilot) == ["b"] and chat(pilot).prompt.has_focus
        await pilot.press("end", "2", "enter")
        await until(pilot, lambda: queued(pilot) == ["a2", "b"], "it is back in its place")


async def test_editing_does_not_overwrite_what_is_written_and_escape_there_stops_nothing() -> None:
    async with on_stage(Stage([WAITS, OK])) as pilot:
        await begin(pilot, "a")
        await pilot.press(*"draft", "f6", "enter")
        await until(pilot, lambda: "There is a text in the prompt" in told(pilot), "the reason is told")
        await pilot.press("escape")
        await until(pilot, lambda: chat(pilot).prompt.has_focus, "the prompt has the focus")
        assert queued(pilot) == ["a"] and chat(pilot).prompt.full_text == "draft" and is_busy(pilot)


async def test_send_now_stops_the_turn_and_sends_the_chosen_one_first() -> None:
    async with on_stage(Stage([WAITS, OK])) as pilot:
        await begin(pilot, "later", "urgent")
        await until(pilot, lambda: "Half an answer" in told(pilot), "the answer has begun")
        await pilot.press("f6", "s")
        screen = await done(pilot, 3)
        assert prompts(pilot) == ["First", "urgent", "later"]
        assert screen.talk.session.turns[0].status == "interrupted"


async def test_the_queue_of_a_reopened_session_waits_for_the_user() -> None:
    session = new_session(queue=[{"id": 1, "text": "Left over"}])
    async with on_stage(stage := Stage([OK], session=session)) as pilot:
        await until(pilot, lambda: "Held: the session was reopened." in shown(pilot), "the reason is told")
        assert not stage.local.requests
        await pilot.press("enter")
        await done(pilot, 1)
        assert prompts(pilot) == ["Left over"] and queued(pilot) == []


async def test_a_long_queue_takes_few_rows_and_all_of_it_can_be_reached() -> None:
    async with on_stage(Stage([[Say("Half an answer"), Pause(1.0)], OK]), size=(80, 24)) as pilot:
        await begin(pilot, *(f"number {count}" for count in range(1, 8)))
        assert pilot.app.screen.query_one(QueueChips).size.height == 5
        await until(pilot, lambda: "7 queued." in shown(pilot), "it says how many there are")
        await pilot.press("f6")
        await until(pilot, lambda: "▸ → local  number 7" in shown(pilot), "the last is in view")
        await pilot.press(*["up"] * 6)
        await until(pilot, lambda: "▸ → local  number 1" in shown(pilot), "the first is in view")
