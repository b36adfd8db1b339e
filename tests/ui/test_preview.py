"""Handing over: what the preview shows is what is sent, and nothing is sent without the user's word."""

from datetime import UTC, datetime

import pytest

from milk_tui.agents.scripted import Pause, Reply
from milk_tui.conversation.checkup import Check
from milk_tui.conversation.forecast import Forecast
from milk_tui.core.errors import Failure
from milk_tui.core.events import AgentFailed, EscalationRequested, TextDelta, UsageReported
from milk_tui.core.messages import Message, Turn, Usage
from milk_tui.core.session import Session
from milk_tui.ui.screens.chat import ChatScreen
from milk_tui.ui.screens.handoff_words import facts
from milk_tui.ui.widgets.line_list import LineList
from milk_tui.ui.widgets.prompt import Prompt
from tests.conversation.talking import new_session
from tests.ui.playing import NO_CLAUDE, Stage, done, on_stage, parts_shown, say, shown, text_of, told
from tests.ui.scenes import chat, is_busy, previewed, until

ASKS: Reply = [TextDelta(text="Hard."), EscalationRequested(reason="Too hard for me")]
LOST = AgentFailed(failure=Failure(kind="died", sentence="Claude Code ended."))
FOREIGN = "[/tmp/x] [type=e, v={'a[0]'}] [bold]"


def turn(number: int, prompt: str, answer: str) -> Turn:
    messages = (
        Message(id=f"{number}.0", role="user", text=prompt),
        Message(id=f"{number}.1", role="agent", text=answer),
    )
    when = datetime(2026, 1, 2, tzinfo=UTC)
    return Turn(number=number, agent="local", messages=messages, status="finished", started_at=when)


def long_session() -> Session:
    session = new_session(need=FOREIGN, need_by="user", need_turn=1)
    turns = [turn(number, f"Question {number} {FOREIGN}", "words " * 300) for number in range(1, 41)]
    return Session(session.state, turns)


async def sent(stage: Stage, count: int) -> list[str]:
    """The parts of a hand-off as the agent received them."""
    handoff = stage.claude.requests[count - 1].handoff
    assert handoff is not None
    whole = handoff.standing + handoff.changing
    texts = [part.text for part in handoff.parts]
    texts.sort(key=whole.index)
    assert "".join(texts) == whole
    return [text.strip("\n") for text in texts]


@pytest.mark.parametrize("way", ["ctrl+g", "f8", "/escalate"])
async def test_what_the_preview_shows_is_what_claude_is_told(way: str) -> None:
    async with on_stage(stage := Stage(session=long_session())) as pilot:
        if way.startswith("/"):
            await say(pilot, way)
        else:
            await pilot.press(way)
        preview = await previewed(pilot)
        parts = parts_shown(preview)
        assert any(FOREIGN in part for part in parts)
        assert not stage.claude.requests
        await pilot.press("enter")
        await done(pilot, 41)
        assert parts == await sent(stage, 1)
        assert stage.claude.requests[0].prompt == preview.written == f"Question 40 {FOREIGN}"


async def test_a_later_hand_off_is_shown_as_it_is_sent_too() -> None:
    async with on_stage(stage := Stage(claude=[[TextDelta(text="Done. " * 50)]])) as pilot:
        await say(pilot, "/escalate! Do it")
        await done(pilot, 1)
        await say(pilot, "/local And then?")
        await done(pilot, 2)
        await pilot.press("ctrl+g")
        preview = await previewed(pilot)
        parts = parts_shown(preview)
        assert "Resumes Claude's session" in text_of(preview.query_one("#preview-facts"))
        assert "as before" in shown(pilot)
        await pilot.press("enter")
        await done(pilot, 3)
        assert parts == await sent(stage, 2)
        assert stage.claude.requests[1].resume_id == "claude-1"


async def test_the_local_agents_reason_is_shown_as_it_is_sent() -> None:
    async with on_stage(stage := Stage([ASKS])) as pilot:
        await say(pilot, "Solve it")
        preview = await previewed(pilot)
        parts = parts_shown(preview)
        assert any("Too hard for me" in part for part in parts)
        await pilot.press("enter")
        await done(pilot, 2)
        assert parts == await sent(stage, 1)


async def test_on_a_resume_the_preview_shows_what_is_added_to_the_prompt() -> None:
    async with on_stage(stage := Stage([ASKS])) as pilot:
        await say(pilot, "/escalate! Do it")
        await done(pilot, 1)
        await say(pilot, "/local Solve it")
        preview = await previewed(pilot)
        added = "(The local model asks for you: Too hard for me)"
        assert f"Added to the prompt: {added}" in text_of(preview.query_one("#preview-facts"))
        await pilot.press("enter")
        await done(pilot, 3)
        assert stage.claude.requests[1].prompt == f"Solve it\n\n{added}"


async def test_each_part_has_its_size_and_its_budget() -> None:
    async with on_stage(Stage(session=long_session())) as pilot:
        await pilot.press("ctrl+g")
        preview = await previewed(pilot)
        handoff = chat(pilot).talk.forecast().handoff
        rows = preview.query_one("#preview-lines", LineList).rows
        headings = [row.text.plain for row in rows if row.style == "heading"]
        for part in handoff.parts:
            name = part.name.replace("_", " ")
            assert f"{name} · {part.chars:,} of {part.budget:,}" in headings


def test_the_facts_say_size_history_and_what_is_left_out() -> None:
    session = long_session()
    handoff = session.handoff()
    lines = list(facts(Forecast(handoff=handoff, prompt="x", left_out=("3 older exchanges", "2 calls"))))
    tokens = handoff.gauge(session.budget, 0).tokens
    assert lines == [
        "Starts a Claude session, which knows nothing but this.",
        f"{handoff.chars:,} characters, about {tokens:,} tokens, instead of {handoff.history_chars:,} of history",
        "Left out: 3 older exchanges; 2 calls",
    ]


def test_the_facts_do_not_boast_of_a_history_smaller_than_the_hand_off() -> None:
    forecast = Forecast(handoff=new_session().handoff(), prompt="x")
    assert not any("history" in line for line in facts(forecast))


async def test_escape_sends_nothing_and_the_unsent_prompt_is_still_there() -> None:
    async with on_stage(stage := Stage()) as pilot:
        chat(pilot).prompt.write("Half a tho")
        await pilot.press("ctrl+g")
        preview = await previewed(pilot)
        assert preview.query_one(Prompt).full_text == "Half a tho"
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChatScreen), "the preview is closed")
        assert chat(pilot).prompt.full_text == "Half a tho"
        assert not stage.claude.requests


async def test_what_was_written_in_the_preview_survives_escape() -> None:
    async with on_stage(Stage()) as pilot:
        chat(pilot).prompt.write("Half")
        await pilot.press("ctrl+g")
        await previewed(pilot)
        await pilot.press(*"way", "escape")
        await until(pilot, lambda: chat(pilot).prompt.full_text == "Halfway", "it is in the chat's prompt")


async def test_a_prompt_made_by_the_program_is_not_left_in_the_chat() -> None:
    async with on_stage(Stage()) as pilot:
        await say(pilot, "Hello")
        await done(pilot, 1)
        await pilot.press("ctrl+g")
        preview = await previewed(pilot)
        assert preview.query_one(Prompt).full_text == "Hello"
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChatScreen), "the preview is closed")
        assert chat(pilot).prompt.full_text == ""


async def test_a_hand_off_that_fails_gives_back_the_prompt_as_it_was_changed_in_the_preview() -> None:
    async with on_stage(stage := Stage(claude=[[LOST]])) as pilot:
        chat(pilot).prompt.write("Do")
        await pilot.press("ctrl+g")
        await previewed(pilot)
        await pilot.press(*" it", "enter")
        screen = await done(pilot, 1)
        assert stage.claude.requests[0].prompt == "Do it"
        assert screen.prompt.full_text == "Do it"
        assert screen.talk.floor == "local"


async def test_escalate_with_a_bang_skips_the_preview() -> None:
    async with on_stage(stage := Stage()) as pilot:
        await say(pilot, "/escalate! Mend the till")
        await done(pilot, 1)
        assert [request.prompt for request in stage.claude.requests] == ["Mend the till"]
        assert not stage.local.requests


async def test_escalate_with_a_text_previews_that_text() -> None:
    async with on_stage(stage := Stage()) as pilot:
        await say(pilot, "/escalate Mend the till")
        preview = await previewed(pilot)
        assert preview.query_one(Prompt).full_text == "Mend the till"
        assert not stage.claude.requests


async def test_while_claude_has_the_floor_prompts_go_on_without_another_hand_off() -> None:
    async with on_stage(stage := Stage()) as pilot:
        await say(pilot, "/escalate! One")
        await done(pilot, 1)
        await say(pilot, "Two")
        await done(pilot, 2)
        assert [request.handoff is None for request in stage.claude.requests] == [False, True]
        await pilot.press("ctrl+g")
        await until(pilot, lambda: "Claude has the floor already" in told(pilot), "it is told")
        assert isinstance(pilot.app.screen, ChatScreen)


async def test_the_receipt_says_what_was_handed_over_and_what_it_cost() -> None:
    spent = UsageReported(
        usage=Usage(input_tokens=14_820, cached_tokens=12_100, output_tokens=412, cost_usd=0.0431)
    )
    session = long_session()
    async with on_stage(Stage(claude=[[TextDelta(text="Done."), spent]], session=session)) as pilot:
        handoff = session.handoff()
        await say(pilot, "/escalate! Do it")
        await done(pilot, 41)
        receipt = told(pilot).splitlines()[-1]
        assert f"First hand-off: {handoff.chars:,} characters" in receipt
        assert f"instead of {handoff.history_chars:,} of history" in receipt
        assert "14,820 tokens read (12,100 from the cache), 412 written · $0.0431" in receipt


async def test_a_missing_claude_disables_sending_and_nothing_else() -> None:
    async with on_stage(stage := Stage(claude_check=NO_CLAUDE)) as pilot:
        chat(pilot).prompt.write("Help")
        await pilot.press("ctrl+g")
        preview = await previewed(pilot)
        assert (
            text_of(preview.query_one("#preview-sender")) == "Cannot be sent: Claude Code is not installed."
        )
        await pilot.press("enter")
        await pilot.pause()
        assert pilot.app.screen is preview
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChatScreen), "the preview is closed")
        await pilot.press("enter")
        await done(pilot, 1)
        assert stage.local.requests and not stage.claude.requests


async def test_a_claude_that_has_come_meanwhile_is_found_by_the_preview() -> None:
    async with on_stage(stage := Stage(claude_check=NO_CLAUDE)) as pilot:
        stage.claude_check = Check(name="Claude Code", state="ok", text="2.1, [/tmp/x]")
        chat(pilot).prompt.write("Help")
        await pilot.press("ctrl+g")
        preview = await previewed(pilot)
        await until(pilot, lambda: not preview.has_class("-blocked"), "Claude is found")
        assert text_of(preview.query_one("#preview-sender")) == "Leaves through Claude Code 2.1, [/tmp/x]"
        await pilot.press("enter")
        await done(pilot, 1)
        assert stage.claude.requests


async def test_an_enter_meant_for_the_chat_does_not_send_a_preview_that_just_opened() -> None:
    async with on_stage(stage := Stage([ASKS])) as pilot:
        await say(pilot, "Solve it")
        preview = await previewed(pilot)
        preview.deaf_seconds = 3_600.0
        preview.query_one(Prompt).post_message(Prompt.Submitted("Solve it"))
        await pilot.pause()
        assert pilot.app.screen is preview and not stage.claude.requests
        preview.deaf_seconds = 0.0
        preview.query_one(Prompt).post_message(Prompt.Submitted("Solve it"))
        await done(pilot, 2)


async def test_with_ask_the_local_agents_request_opens_the_preview() -> None:
    async with on_stage(stage := Stage([ASKS])) as pilot:
        await say(pilot, "Solve it")
        await previewed(pilot)
        assert not stage.claude.requests
        await pilot.press("escape")
        await until(pilot, lambda: chat(pilot).talk.session.state.brief == "", "the request is declined")
        assert not stage.claude.requests


async def test_with_ask_a_text_in_the_users_hands_is_not_taken_away() -> None:
    asks: Reply = [ASKS[0], Pause(1.0), ASKS[1]]
    async with on_stage(stage := Stage([asks])) as pilot:
        await say(pilot, "Solve it")
        await until(pilot, lambda: is_busy(pilot), "the turn runs")
        await pilot.press(*"wait")
        stage.gate.open()
        await done(pilot, 1)
        assert isinstance(pilot.app.screen, ChatScreen)
        assert chat(pilot).prompt.full_text == "wait"
        await pilot.press("ctrl+g")
        preview = await previewed(pilot)
        assert preview.written == "wait"
        assert "as the local agent asks" in shown(pilot)


async def test_a_request_that_was_passed_over_is_not_made_later() -> None:
    async with on_stage(stage := Stage([[ASKS[0], Pause(1.0), ASKS[1]], [TextDelta(text="Easy.")]])) as pilot:
        await say(pilot, "Solve it")
        await until(pilot, lambda: is_busy(pilot), "the turn runs")
        await pilot.press(*"no")
        stage.gate.open()
        await done(pilot, 1)
        await pilot.press("enter")
        screen = await done(pilot, 2)
        assert screen.talk.session.state.brief == ""


async def test_with_auto_the_request_is_a_hand_off_at_once() -> None:
    async with on_stage(stage := Stage([ASKS], escalation="auto")) as pilot:
        await say(pilot, "Solve it")
        screen = await done(pilot, 2)
        assert isinstance(pilot.app.screen, ChatScreen)
        handoff = stage.claude.requests[0].handoff
        assert handoff is not None and "Too hard for me" in handoff.changing
        assert screen.talk.floor == "claude"


async def test_with_off_the_request_is_only_told() -> None:
    async with on_stage(stage := Stage([ASKS], escalation="off")) as pilot:
        await say(pilot, "Solve it")
        await done(pilot, 1)
        assert isinstance(pilot.app.screen, ChatScreen)
        assert not stage.claude.requests
        assert "Too hard for me" in told(pilot)


async def test_on_a_small_terminal_most_rows_are_the_texts() -> None:
    async with on_stage(Stage(session=long_session()), size=(80, 24)) as pilot:
        await pilot.press("ctrl+g")
        preview = await previewed(pilot)
        await pilot.pause()
        assert preview.query_one("#preview-parts").size.height >= 12
        assert preview.query_one("#preview-hint").size.height == 1


async def test_the_preview_can_be_read_to_its_end_while_the_prompt_keeps_the_focus() -> None:
    async with on_stage(Stage(session=long_session()), size=(80, 24)) as pilot:
        await pilot.press("ctrl+g")
        preview = await previewed(pilot)
        parts = preview.query_one("#preview-parts")
        for _ in range(60):
            await pilot.press("pagedown")
        assert parts.scroll_offset.y == parts.max_scroll_y > 0
        assert preview.query_one(Prompt).has_focus


async def test_one_key_turns_a_resume_into_a_fresh_start_and_back() -> None:
    async with on_stage(stage := Stage(claude=[[TextDelta(text="Done. " * 50)]])) as pilot:
        await say(pilot, "/escalate! Do it")
        await done(pilot, 1)
        await say(pilot, "/local And then?")
        await done(pilot, 2)
        assert "Ctrl+G resumes Claude's session, 1 local turn behind" in shown(pilot)
        await pilot.press("ctrl+g")
        preview = await previewed(pilot)
        resumed = parts_shown(preview)
        await pilot.press("f7")
        await until(pilot, lambda: preview.fresh is True and parts_shown(preview) != resumed, "it is flipped")
        fresh = parts_shown(preview)
        assert any("claude_summary" in part for part in fresh)
        assert "Starts fresh: as you wish" in text_of(preview.query_one("#preview-facts"))
        await pilot.press("ctrl+r")
        await until(pilot, lambda: parts_shown(preview) == resumed, "it is flipped back")
        await pilot.press("ctrl+r")
        await until(pilot, lambda: parts_shown(preview) == fresh, "it is fresh again")
        await pilot.press("enter")
        await done(pilot, 3)
        assert fresh == await sent(stage, 2)
        assert stage.claude.requests[1].resume_id is None


async def test_without_a_session_of_claudes_there_is_nothing_to_flip() -> None:
    async with on_stage(Stage()) as pilot:
        await say(pilot, "/escalate Mend the till")
        preview = await previewed(pilot)
        before = parts_shown(preview)
        await pilot.press("ctrl+r")
        await pilot.pause()
        assert preview.fresh is None and parts_shown(preview) == before
        assert "Ctrl+R" not in text_of(preview.query_one("#preview-hint"))


async def test_the_keys_of_a_resume_fit_on_one_row_of_a_small_terminal() -> None:
    async with on_stage(Stage(claude=[[TextDelta(text="Done. " * 50)]]), size=(80, 24)) as pilot:
        await say(pilot, "/escalate! Do it")
        await done(pilot, 1)
        await say(pilot, "/local And then?")
        await done(pilot, 2)
        await pilot.press("ctrl+g")
        preview = await previewed(pilot)
        await until(
            pilot, lambda: "Ctrl+R starts fresh · Tab to the lines" in shown(pilot), "it is shown whole"
        )
        assert preview.query_one("#preview-hint").size.height == 1
