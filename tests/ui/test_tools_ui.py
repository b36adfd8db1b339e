"""What the user sees of the local agent's tools: live output, answers to questions, modes, and what requests carry."""

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from milk_tui.agents.scripted import Pause, Reply, Use
from milk_tui.core import events as ev
from milk_tui.core.bricks import Gauge, Segment
from milk_tui.core.messages import ToolCall, ToolResult
from milk_tui.core.permission import Question, Scope
from milk_tui.ui.panels.gauge_panel import GaugePanel
from milk_tui.ui.story import LIVE_CHARS
from milk_tui.ui.widgets.blocks import Block
from milk_tui.ui.widgets.prompt_box import PromptBox
from milk_tui.ui.widgets.status_line import StatusLine
from milk_tui.ui.widgets.transcript import Transcript
from tests.ui.playing import Stage, done, on_stage, say, shown, told
from tests.ui.scenes import chat, questioned, until

CALL = ToolCall(id="c1", name="run_command", arguments='{"command": "make"}')
OTHER = ToolCall(id="c2", name="run_command", arguments='{"command": "ls"}')
SCOPE = Scope(tool="run_command", kind="command", subject="make")
FOLDER = Scope(tool="edit_file", kind="folder", subject="/srv/shop")
QUESTION = Question(tool="run_command", arguments="{}", command="make", scope=SCOPE, agent="local")
CHANGE = Question(
    tool="edit_file",
    arguments="{}",
    path="/srv/shop/a.py",
    before="def f():\n    return 1\n",
    after="def f():\n    return 2\n",
    agent="local",
    wider=FOLDER,
)


def running(*live: str) -> Reply:
    """A call that writes, pauses, and then has its result."""
    return [
        ev.ToolCallStarted(call=CALL),
        *(ev.ToolOutput(call_id="c1", text=text) for text in live),
        Pause(1.0),
        ev.ToolCallFinished(result=ToolResult(call_id="c1", text="all of it")),
    ]


def block(pilot: Pilot[None], call: ToolCall = CALL) -> Block:
    blocks = chat(pilot).query_one(Transcript).blocks
    arguments = str(next(iter(call.parsed().values())))
    return next(each for each in blocks if each.kind == "call" and each.source == arguments)


async def test_output_is_shown_while_the_call_runs_and_folded_into_the_result_after_it() -> None:
    async with on_stage(stage := Stage([running("one\n", "one\ntwo\n")])) as pilot:
        await say(pilot, "Build it")
        await until(pilot, lambda: "two" in shown(pilot), "the output is shown")
        assert shown(pilot).count("one") == 1
        stage.gate.open()
        await done(pilot, 1)
        await until(pilot, lambda: "two" not in shown(pilot), "the output is gone")
        assert (block(pilot).detail, block(pilot).state) == ("all of it", "ok")
        assert "│ all of it" not in shown(pilot)
        assert "run_command make ✓ · 1 line" in shown(pilot)


async def test_only_the_end_of_a_long_output_is_kept_on_the_screen() -> None:
    async with on_stage(stage := Stage([running("x" * LIVE_CHARS + "end")])) as pilot:
        await say(pilot, "Build it")
        await until(pilot, lambda: "end" in shown(pilot), "the end is shown")
        assert len(block(pilot).detail) == LIVE_CHARS
        stage.gate.open()


async def test_a_call_that_was_unfolded_by_hand_stays_so_when_it_is_done() -> None:
    async with on_stage(stage := Stage([running()])) as pilot:
        await say(pilot, "Build it")
        await until(pilot, lambda: "run_command make" in shown(pilot), "the call is shown")
        transcript = chat(pilot).query_one(Transcript)
        transcript.focus()
        await pilot.press("space")
        stage.gate.open()
        await done(pilot, 1)
        await until(pilot, lambda: "all of it" in shown(pilot), "the result is shown")


async def test_the_outcome_of_a_call_stays_on_its_row_however_long_its_arguments_are() -> None:
    long = ToolCall(id="c1", name="run_command", arguments='{"command": "%s"}' % ("make all; " * 30))
    async with on_stage(Stage([[Use(long, "built", is_error=True, question=QUESTION)]]), (80, 24)) as pilot:
        await say(pilot, "Build it")
        await questioned(pilot)
        await pilot.press("tab", "y")
        await done(pilot, 1)
        await until(pilot, lambda: "… ✗ · allowed once · 1 line" in shown(pilot), "the outcome is shown")


async def test_stopping_takes_the_output_of_the_call_away() -> None:
    async with on_stage(stage := Stage([running("half of it")])) as pilot:
        await say(pilot, "Build it")
        await until(pilot, lambda: "half of it" in shown(pilot), "the output is shown")
        stage.talk.stop()
        await done(pilot, 1)
        assert block(pilot).detail == "Cancelled."


async def test_what_is_read_stays_in_place_while_a_call_writes() -> None:
    story = [ev.TextDelta(text="\n\n".join(f"line {n}" for n in range(60))), *running("much\n" * 50)]
    async with on_stage(stage := Stage([story])) as pilot:
        await say(pilot, "Build it")
        await until(pilot, lambda: "much" in shown(pilot), "the output is shown")
        transcript = chat(pilot).query_one(Transcript)
        transcript.action_scroll_home()
        rows = shown(pilot)
        stage.gate.open()
        await done(pilot, 1)
        assert transcript.scroll_y == 0
        assert "line 5" in rows and "line 5" in shown(pilot)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("y", "allowed once"),
        ("n", "refused"),
        ("s", "allowed for this session: exactly this command: make"),
        ("a", "allowed from now on: exactly this command: make"),
    ],
)
async def test_how_a_question_was_answered_stays_with_the_call(key: str, words: str) -> None:
    reply: Reply = [Use(OTHER, "files"), Use(CALL, "built", question=QUESTION)]
    async with on_stage(Stage([reply]), size=(140, 36)) as pilot:
        await say(pilot, "Build it")
        await questioned(pilot)
        await pilot.press("tab", key)
        await done(pilot, 1)
        assert block(pilot).note == words
        assert block(pilot, OTHER).note == ""
        await until(pilot, lambda: f"· {words}" in shown(pilot), "it is on the screen")


async def test_an_answer_goes_to_the_very_call_that_was_asked_about() -> None:
    same = ToolCall(id="c3", name="run_command", arguments='{"command": "id"}')
    reply: Reply = [
        ev.ToolCallStarted(call=OTHER),
        Use(same, "me", question=QUESTION.model_copy(update={"call_id": "c3"})),
        ev.ToolCallFinished(result=ToolResult(call_id="c2", text="files")),
    ]
    async with on_stage(Stage([reply])) as pilot:
        await say(pilot, "Who?")
        await questioned(pilot)
        await pilot.press("tab", "y")
        await done(pilot, 1)
        assert (block(pilot, OTHER).note, block(pilot, same).note) == ("", "allowed once")


async def test_r_refuses_with_a_word_that_the_agent_is_told() -> None:
    async with on_stage(Stage([[Use(CALL, "built", question=QUESTION)]])) as pilot:
        await say(pilot, "Build it")
        await questioned(pilot)
        await pilot.press("tab", "r", *"use", "space", *"ninja", "enter")
        screen = await done(pilot, 1)
        assert [m.result.text for m in screen.talk.session.turns[0].messages if m.result] == ["use ninja"]
        assert block(pilot).note == "refused: use ninja"
        assert screen.prompt.has_focus


async def test_escape_in_the_word_goes_back_to_the_question_and_answers_nothing() -> None:
    async with on_stage(Stage([[Use(CALL, "built", question=QUESTION)]])) as pilot:
        await say(pilot, "Build it")
        card = await questioned(pilot)
        await pilot.press("tab", "r", "y", "escape")
        await pilot.pause()
        assert card.has_class("-open") and card.has_focus
        await pilot.press("y")
        await done(pilot, 1)
        assert block(pilot).note == "allowed once"


async def test_tab_leaves_the_word_and_comes_back_to_it() -> None:
    async with on_stage(Stage([[Use(CALL, "built", question=QUESTION)]])) as pilot:
        await say(pilot, "Build it")
        card = await questioned(pilot)
        await pilot.press("tab", "r", *"no", "tab", "tab")
        await until(pilot, lambda: card.is_in_focus and not card.has_focus, "the word has the focus again")
        await pilot.press("t", "enter")
        await done(pilot, 1)
        assert block(pilot).note == "refused: not"


@pytest.mark.parametrize(("width", "is_beside"), [(80, False), (180, True)])
async def test_a_change_is_shown_side_by_side_where_there_is_room(width: int, is_beside: bool) -> None:
    async with on_stage(Stage([[Use(CALL, "ok", question=CHANGE)]]), size=(width, 40)) as pilot:
        await say(pilot, "Change it")
        await questioned(pilot)
        removed = next(row for row in shown(pilot).splitlines() if "-    return 1" in row)
        assert ("+    return 2" in removed) == is_beside
        assert "+    return 2" in shown(pilot)


async def test_a_change_is_drawn_anew_when_the_terminal_gets_wider() -> None:
    async with on_stage(Stage([[Use(CALL, "ok", question=CHANGE)]]), size=(80, 40)) as pilot:
        await say(pilot, "Change it")
        await questioned(pilot)
        await pilot.resize_terminal(190, 40)
        await until(
            pilot,
            lambda: any("return 1" in row and "return 2" in row for row in shown(pilot).splitlines()),
            "old and new stand side by side",
        )


async def test_the_code_of_a_change_is_coloured() -> None:
    async with on_stage(Stage([[Use(CALL, "ok", question=CHANGE)]]), size=(180, 40)) as pilot:
        await say(pilot, "Change it")
        card = await questioned(pilot)
        keyword = card.get_visual_style("question--keyword", partial=True).foreground
        visual = card.query_one("#question-text").visual  # type: ignore[attr-defined]
        spans = [
            visual.plain[span.start : span.end]
            for span in visual.spans
            if getattr(span.style, "foreground", None) == keyword
        ]
        assert "def" in spans and "return" in spans


async def test_a_change_that_cannot_be_seen_is_told() -> None:
    question = CHANGE.model_copy(update={"before": "a\r\nb", "after": "a\nb"})
    async with on_stage(Stage([[Use(CALL, "ok", question=question)]])) as pilot:
        await say(pilot, "Change it")
        await questioned(pilot)
        assert "Only line ends" in shown(pilot)


async def test_shift_tab_in_the_prompt_switches_the_mode_and_back() -> None:
    async with on_stage(stage := Stage()) as pilot:
        screen = chat(pilot)
        await pilot.press("shift+tab")
        assert screen.bench.toolbox.plans_only
        assert screen.query_one(PromptBox).border_title == "to the local agent · plans only"
        assert "plans only" in screen.query_one(StatusLine).render().plain
        await pilot.press("shift+tab")
        assert not screen.bench.toolbox.plans_only
        assert "plans only" not in shown(pilot)
        assert not stage.local.requests


async def test_shift_tab_elsewhere_moves_the_focus() -> None:
    async with on_stage(Stage()) as pilot:
        screen = chat(pilot)
        await say(pilot, "Hello")
        await done(pilot, 1)
        screen.query_one(Transcript).focus()
        await pilot.press("shift+tab")
        assert not screen.query_one(Transcript).has_focus
        assert not screen.bench.toolbox.plans_only


@pytest.mark.parametrize(("said", "plans"), [("/mode plan", True), ("/mode work", False), ("/mode", True)])
async def test_the_mode_can_be_said(said: str, plans: bool) -> None:
    async with on_stage(Stage()) as pilot:
        await say(pilot, said)
        await until(pilot, lambda: chat(pilot).bench.toolbox.plans_only == plans, "the mode is as said")


async def test_a_mode_that_does_not_exist_changes_nothing() -> None:
    async with on_stage(Stage()) as pilot:
        await say(pilot, "Hello")
        await done(pilot, 1)
        await say(pilot, "/mode fly")
        await until(pilot, lambda: "There is no mode “fly”" in told(pilot), "it is told")
        assert not chat(pilot).bench.toolbox.plans_only


async def test_switching_to_plans_refuses_the_question_that_is_open() -> None:
    async with on_stage(Stage([[Use(CALL, "built", question=QUESTION)]])) as pilot:
        await say(pilot, "Build it")
        await questioned(pilot)
        await pilot.press("shift+tab")
        screen = await done(pilot, 1)
        results = [m.result.text for m in screen.talk.session.turns[0].messages if m.result]
        assert results == ["The user has switched to planning only."]


async def test_switching_to_plans_leaves_a_question_of_claude_open() -> None:
    question = QUESTION.model_copy(update={"agent": "claude"})
    async with on_stage(Stage([[Use(CALL, "built", question=question)]])) as pilot:
        await say(pilot, "Build it")
        card = await questioned(pilot)
        await pilot.press("shift+tab")
        await pilot.pause()
        assert card.has_class("-open")


@pytest.mark.parametrize("reason", ["loop", "steps"])
async def test_after_a_loop_the_ways_on_are_named(reason: str) -> None:
    reply: Reply = [ev.Noticed(text="It went round."), ev.AgentFinished(stop_reason=reason)]
    async with on_stage(Stage([reply])) as pilot:
        await say(pilot, "Go")
        await done(pilot, 1)
        assert "Send anything to let it go on; Ctrl+G hands over to Claude." in told(pilot)


async def test_a_turn_that_ends_by_itself_names_none() -> None:
    async with on_stage(Stage()) as pilot:
        await say(pilot, "Go")
        await done(pilot, 1)
        assert "Send anything" not in told(pilot)


class GaugeApp(App[None]):
    def compose(self) -> ComposeResult:
        yield GaugePanel()


@pytest.mark.parametrize("carried", [True, False])
async def test_the_gauge_says_what_each_local_request_carries_where_it_is_known(carried: bool) -> None:
    parts = (("system", 512), ("tools", 3_200), ("AGENTS.md", 1_000)) if carried else ()
    gauge = Gauge(
        segments=(Segment(name="identity", chars=812, budget=1_200),),
        limit=16_000,
        prompt_chars=0,
        history_chars=4,
        situation="first",
        carried=tuple(Segment(name=name, chars=chars, budget=chars) for name, chars in parts),
    )
    app = GaugeApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.query_one(GaugePanel).value = gauge
        await pilot.pause()
        words = "each local request also carries: system 512 · tools 3.2k · AGENTS.md 1k"
        assert (words in shown(pilot)) == carried
