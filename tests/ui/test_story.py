"""How events read in the transcript, live and after reopening."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from textual.app import App, ComposeResult

from milk_tui.agents.scripted import Say, Use
from milk_tui.cli.demo import demo_bench
from milk_tui.core import events as ev
from milk_tui.core.errors import Failure
from milk_tui.core.messages import Receipt, ToolCall, ToolResult
from milk_tui.core.receipts import receipt_line
from milk_tui.core.session import Session
from milk_tui.ui.story import Story
from milk_tui.ui.widgets.blocks import Block
from milk_tui.ui.widgets.transcript import Transcript
from tests.conversation.talking import NOW, all_of, conversation, new_session

CALL = ToolCall(id="c1", name="grep", arguments='{"pattern": "x"}')
OTHER = ToolCall(id="c2", name="ls", arguments='{"path": "a", "all": true}')
CALL_STARTED = ev.ToolCallStarted(call=CALL)
RESULT = ev.ToolCallFinished(result=ToolResult(call_id="c1", text="a.py:1"))
START = ev.TurnStarted(agent="claude", prompt="Why?", at=NOW)
READY = ev.AgentReady(model="opus")
END = ev.TurnEnded(at=NOW)
TRANSIENT = ("notice", "percept")


class StoryApp(App[None]):
    def compose(self) -> ComposeResult:
        yield Transcript()


@asynccontextmanager
async def telling() -> AsyncIterator[tuple[Story, Transcript]]:
    app = StoryApp()
    async with app.run_test():
        transcript = app.query_one(Transcript)
        yield Story(transcript), transcript


def said(text: str) -> ev.TextDelta:
    return ev.TextDelta(text=text)


def thought(text: str) -> ev.ThinkingDelta:
    return ev.ThinkingDelta(text=text)


async def told_live(events: Sequence[ev.Event]) -> list[Block]:
    async with telling() as (story, transcript):
        for event in events:
            story.tell(event)
        return transcript.blocks


async def told_again(events: Sequence[ev.Event]) -> list[Block]:
    session = new_session()
    for event in events:
        session.apply(event)
    async with telling() as (story, transcript):
        story.tell_turns(session.turns)
        return transcript.blocks


def lasting(blocks: Sequence[Block]) -> list[Block]:
    """Without keys, and without what is only told while it happens."""
    return [
        replace(block, key="")
        for block in blocks
        if block.kind not in TRANSIENT or block.source == "Stopped."
    ]


def texts(blocks: Sequence[Block]) -> list[str]:
    return [block.source for block in blocks if block.kind in ("local", "claude")]


SEVERAL = (
    START,
    READY,
    ev.StepStarted(),
    thought("Hm."),
    said("First "),
    said("text."),
    ev.ToolCallStarted(call=CALL),
    ev.ToolCallStarted(call=OTHER),
    ev.ToolCallFinished(result=ToolResult(call_id="c2", text="no", is_error=True)),
    RESULT,
    ev.StepStarted(),
    thought("Hm again."),
    said("Second text."),
)
VOIDED = (
    START,
    READY,
    ev.StepStarted(),
    thought("Wrong."),
    said("Half of i"),
    ev.StepVoided(),
    thought("Right."),
    said("All of it."),
)


def called(id: str, name: str, parent: str | None = None, **arguments: Any) -> ev.ToolCallStarted:
    return ev.ToolCallStarted(
        call=ToolCall(id=id, name=name, arguments=json.dumps(arguments), parent_id=parent)
    )


def ended(started: ev.ToolCallStarted, text: str, *, is_error: bool = False) -> tuple[ev.Event, ev.Event]:
    result = ToolResult(call_id=started.call.id, text=text, is_error=is_error)
    return started, ev.ToolCallFinished(result=result)


def wrote(id: str, *states: str) -> tuple[ev.Event, ev.Event]:
    todos = [
        {"content": f"Do {n}", "activeForm": f"Doing {n}", "status": state} for n, state in enumerate(states)
    ]
    return ended(called(id, "TodoWrite", todos=todos), "Modified.")


SENT: tuple[ev.Event, ...] = (
    START,
    READY,
    ev.StepStarted(),
    said("I send two."),
    called("a", "Agent", description="Look around", prompt="Look."),
    called("b", "Agent", description="Count", prompt="Count."),
    called("a1", "Grep", "a", pattern="x"),
    called("b1", "Agent", "b", description="Count less", prompt="Count."),
    called("b2", "Bash", "b1", command="ls", description="List"),
    *ended(called("a2", "Read", "a", file_path="gone"), "No such\nfile.", is_error=True),
    ev.ToolCallFinished(result=ToolResult(call_id="b2", text="a b c")),
    ev.ToolCallFinished(result=ToolResult(call_id="b1", text="Three.")),
    ev.ToolCallFinished(result=ToolResult(call_id="a1", text="x.py:1")),
    ev.ToolCallFinished(result=ToolResult(call_id="a", text="Found [x].\nThat is all.")),
    ev.ToolCallFinished(result=ToolResult(call_id="b", text="No.", is_error=True)),
    ev.StepStarted(),
    said("They are back."),
)
LISTED: tuple[ev.Event, ...] = (
    START,
    READY,
    ev.StepStarted(),
    *wrote("t1", "in_progress", "pending"),
    *ended(CALL_STARTED, "a.py:1"),
    ev.StepStarted(),
    *wrote("t2", "completed", "in_progress"),
    said("Half."),
)
TURNS: dict[str, tuple[ev.Event, ...]] = {
    "several texts and calls": (*SEVERAL, ev.AgentFinished(), END),
    "voided": (*VOIDED, ev.AgentFinished(), END),
    "voided and never said again": (
        *VOIDED[:6],
        ev.AgentFailed(failure=Failure(kind="lost", sentence="Lost.", remedy="Again.")),
        END,
    ),
    "voided with a call that had no result": (
        *VOIDED[:5],
        ev.ToolCallStarted(call=CALL),
        ev.StepVoided(),
        said("All of it."),
        ev.AgentFinished(),
        END,
    ),
    "voided after a call with a result": (
        *SEVERAL[:6],
        ev.ToolCallStarted(call=CALL),
        RESULT,
        ev.StepStarted(),
        said("Half"),
        ev.StepVoided(),
        said("Whole."),
        ev.AgentFinished(),
        END,
    ),
    "stopped in a call": (*SEVERAL[:7], ev.TurnInterrupted(at=NOW), END),
    "failed": (
        *SEVERAL[:6],
        ev.AgentFailed(failure=Failure(kind="lost", sentence="[/x] lost.", remedy="Again.")),
        END,
    ),
    "text, thinking, text": (
        START,
        READY,
        said("One."),
        thought("Hm."),
        said("Two."),
        ev.AgentFinished(),
        END,
    ),
    "need and fact between words": (
        START,
        READY,
        ev.StepStarted(),
        said("One, "),
        ev.NeedChanged(text="Mend it"),
        ev.PerceptRecorded(text="It is broken"),
        said("two."),
        ev.AgentFinished(),
        END,
    ),
    "receipt": (
        START,
        READY,
        said("Done."),
        ev.AgentFinished(),
        ev.TurnEnded(
            at=NOW, receipt=Receipt(situation="first", chars=3_000, history_chars=400_000, seconds=2.5)
        ),
    ),
    "sub-agents": (*SENT, ev.AgentFinished(), END),
    "stopped while sub-agents work": (*SENT[:8], ev.TurnInterrupted(at=NOW), END),
    "a list of what is to do": (*LISTED, ev.AgentFinished(), END),
    "a list that cannot be kept": (
        START,
        READY,
        *ended(called("t1", "TodoWrite", todos=[]), "No such tool.", is_error=True),
        *ended(called("t2", "TodoWrite", todos=[]), "No such tool.", is_error=True),
        ev.AgentFinished(),
        END,
    ),
    "choices": (
        START,
        READY,
        *ended(called("q1", "AskUserQuestion", questions=[{"question": "Which?"}]), "Which: A"),
        ev.AgentFinished(),
        END,
    ),
    "nothing said": (START, READY, ev.AgentFinished(), END),
}


@pytest.mark.parametrize("name", TURNS)
async def test_a_reopened_turn_looks_as_it_did_live(name: str) -> None:
    events = TURNS[name]
    assert lasting(await told_again(events)) == lasting(await told_live(events))


async def test_sub_agents_work_stands_indented_on_the_call_that_sent_them_and_folds_to_one_line() -> None:
    running = [block for block in await told_live(SENT[:-4]) if block.kind == "call"]
    assert [(b.source, b.note, b.state, b.folded) for b in running] == [
        ("Look around", "2 calls, 1 failed", "running", False),
        ("Count", "2 calls", "running", False),
    ]
    ended = [block for block in await told_live(SENT) if block.kind == "call"]
    assert [(b.source, b.note, b.state, b.folded) for b in ended] == [
        ("Look around", "2 calls, 1 failed", "ok", True),
        ("Count", "2 calls", "error", True),
    ]
    assert ended[0].detail.splitlines() == [
        "✓ Grep x",
        "✗ Read gone",
        "    No such file.",
        "",
        "Found [x].",
        "That is all.",
    ]
    assert ended[1].detail.splitlines() == ["✓ Agent Count less", "  ✓ Bash ls", "", "No."]


async def test_how_a_sub_agents_question_was_answered_stays_with_its_call() -> None:
    async with telling() as (story, transcript):
        for event in SENT[:9]:
            story.tell(event)
        story.remark("b2", "Bash", "allowed once")
        assert "… Bash ls · allowed once" in transcript.blocks[-1].detail


async def test_the_list_of_what_is_to_do_is_one_block_and_follows() -> None:
    async with telling() as (story, transcript):
        for event in LISTED[:5]:
            story.tell(event)
        (block,) = [block for block in transcript.blocks if block.label == "To do"]
        assert (block.source, block.detail) == ("0 of 2 done · Doing 0", "▸ Do 0\n○ Do 1")
        for event in LISTED[5:]:
            story.tell(event)
        (block,) = [block for block in transcript.blocks if block.label == "To do"]
        assert (block.source, block.detail) == ("1 of 2 done · Doing 1", "✓ Do 0\n▸ Do 1")
        assert (block.folded, block.state) == (False, "ok")


async def test_the_list_goes_on_in_the_next_turn_below_it() -> None:
    first = (
        START,
        *ended(called("t1", "TaskCreate", subject="Mend it", activeForm="Mending"), "Task #1 made"),
    )
    second = (START, *ended(called("t2", "TaskUpdate", taskId="1", status="in_progress"), "Updated"))
    events = (*first, ev.AgentFinished(), END, *second, ev.AgentFinished(), END)
    for blocks in (await told_live(events), await told_again(events)):
        lists = [block.source for block in blocks if block.label == "To do"]
        assert lists == ["0 of 1 done", "0 of 1 done · Mending"]


async def test_a_text_that_was_said_again_is_there_once() -> None:
    blocks = await told_live((*VOIDED, ev.AgentFinished(), END))
    assert texts(blocks) == ["All of it."]
    assert [block.source for block in blocks if block.kind == "thinking"] == ["Right."]
    assert [block.headed for block in blocks if block.kind == "claude"] == [True]


async def test_what_comes_after_a_voided_step_in_another_step_is_there_once() -> None:
    blocks = await told_live((*VOIDED[:6], ev.StepStarted(), said("Anew."), ev.AgentFinished(), END))
    assert texts(blocks) == ["Anew."]


async def test_texts_and_calls_stand_in_the_order_in_which_they_happened() -> None:
    blocks = await told_live((*SEVERAL, ev.AgentFinished(), END))
    assert [block.kind for block in blocks] == [
        "user",
        "thinking",
        "claude",
        "call",
        "call",
        "thinking",
        "claude",
    ]
    assert texts(blocks) == ["First text.", "Second text."]
    assert [(b.label, b.state, b.detail) for b in blocks if b.kind == "call"] == [
        ("grep", "ok", "a.py:1"),
        ("ls", "error", "no"),
    ]
    assert [block.headed for block in blocks if block.kind == "claude"] == [True, False]


async def test_a_call_shows_its_only_argument_bare_and_several_by_name() -> None:
    blocks = [block for block in await told_live(SEVERAL) if block.kind == "call"]
    assert [block.source for block in blocks] == ["x", "path=a, all=True"]


async def test_blocks_are_folded_by_the_user_and_stay_so_when_a_step_is_voided() -> None:
    async with telling() as (story, transcript):
        for event in (*SEVERAL, ev.StepStarted(), said("Half")):
            story.tell(event)
        transcript.viewport.fold(3, False)
        story.tell(ev.StepVoided())
        assert [view.folded for view in transcript.viewport.views][3:5] == [False, True]


async def test_a_whole_demo_reads_the_same_after_reopening() -> None:
    bench = demo_bench(word=0)
    talk = bench.conversation
    async with telling() as (story, transcript):
        for prompt in ("Why?", "Mend it."):
            for update in await all_of(talk.send(prompt)):
                story.tell(update.event)
        for update in await all_of(talk.escalate("Do it.")):
            story.tell(update.event)
        live = transcript.blocks
    async with telling() as (story, transcript):
        story.tell_turns(Session(talk.session.state, talk.session.turns).turns)
        assert lasting(transcript.blocks) == lasting(live)


async def test_what_the_user_should_know_is_told_in_words() -> None:
    blocks = await told_live(
        (
            START,
            ev.RetryScheduled(attempt=2, of=3, delay=4.0, reason="Claude is overloaded"),
            ev.Noticed(text="[/tmp/x] noticed"),
            ev.EscalationRequested(reason="too hard"),
            ev.FloorChanged(floor="local"),
        )
    )
    assert [block.source for block in blocks[1:]] == [
        "Claude is overloaded; attempt 2 of 3 in 4 s",
        "[/tmp/x] noticed",
        "The local agent asks for Claude: too hard",
        "The local agent has the floor.",
    ]


async def test_a_tag_in_a_stream_never_shows() -> None:
    talk = conversation([[Say("A <milk:need:{nonce}>Mend</milk:need:{nonce}> b"), Use(CALL, "r")]])
    async with telling() as (story, transcript):
        for update in await all_of(talk.send("Why?")):
            story.tell(update.event)
        assert "milk" not in "".join(block.source for block in transcript.blocks)


def test_a_receipt_speaks_of_the_history_only_where_it_is_larger() -> None:
    small = receipt_line(Receipt(situation="resume", chars=900, history_chars=500))
    large = receipt_line(Receipt(situation="resume", chars=900, history_chars=5_000))
    assert small.startswith("Resumed: 900 characters handed over, about 225 tokens · ")
    assert "instead of 5,000 of history" in large and "history" not in small


def test_a_receipt_of_claude_codes_own_screen_says_so_with_and_without_a_hand_off() -> None:
    with_one = receipt_line(Receipt(situation="first", chars=900, history_chars=0, in_own_screen=True))
    without = receipt_line(Receipt(situation="resume", chars=0, history_chars=0, in_own_screen=True))
    assert with_one.startswith("In Claude Code's own screen · First hand-off: 900 characters handed over")
    assert without.startswith("In Claude Code's own screen · 0 tokens read") and "Resumed" not in without


async def test_the_block_of_a_message_is_found_live_and_after_reopening() -> None:
    events = (
        START,
        thought("Hm."),
        said("Let me look."),
        ev.ToolCallStarted(call=CALL),
        RESULT,
        ev.StepStarted(),
        said("wrong"),
        ev.StepVoided(),
        said("It is so."),
        ev.AgentFinished(),
        END,
    )
    session = new_session()
    for event in events * 2:
        session.apply(event)
    second = session.turns[1]
    wanted = {"2.0": "Why?", "2.1": "Let me look.", "2.2": "x", "2.3": "It is so."}
    assert [message.id for message in second.messages] == list(wanted)
    for is_live in (True, False):
        async with telling() as (story, transcript):
            if is_live:
                for event in events * 2:
                    story.tell(event)
            else:
                story.tell_turns(session.turns)
            blocks = {block.key: block for block in transcript.blocks}
            found = {id: story.key_of(second, id) for id in wanted}

            assert {id: blocks[key or ""].source for id, key in found.items()} == wanted
            assert list(blocks).index(found["2.0"] or "") >= len(blocks) / 2
            assert story.key_of(second.model_copy(update={"number": 9}), "9.0") is None
