import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.strip import Strip

from milk_tui.core import events as ev
from milk_tui.core.messages import ToolCall, ToolResult, Usage
from milk_tui.ui.screens.stating import Stating
from milk_tui.ui.styling import stylesheets, theme_tokens
from milk_tui.ui.widgets.status_line import Status, StatusLine
from tests.conversation.talking import NOW, conversation, new_session

FULL = Status(
    floor="claude",
    model="claude-sonnet",
    state="waiting",
    tokens_per_second=38.4,
    context_tokens=31_200,
    window=200_000,
    cost_usd=0.42,
    hints=("Ctrl+G Claude", "F1 help"),
)


class StatusApp(App[None]):
    CSS_PATH = [str(path) for path in stylesheets()]

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return theme_tokens(self.current_theme)

    def compose(self) -> ComposeResult:
        yield StatusLine()

    @property
    def line(self) -> StatusLine:
        return self.query_one(StatusLine)

    def show(self, status: Status) -> str:
        self.line.status = status
        return self.line.render().plain


@asynccontextmanager
async def running(width: int = 120) -> AsyncIterator[tuple[StatusApp, Pilot[None]]]:
    app = StatusApp()
    async with app.run_test(size=(width, 5)) as pilot:
        await pilot.pause()
        yield app, pilot


async def resized(pilot: Pilot[None], width: int) -> None:
    await pilot.resize_terminal(width, 5)
    deadline = time.monotonic() + 5
    while pilot.app.query_one(StatusLine).outer_size.width != width:
        assert time.monotonic() < deadline, "the line keeps its width"
        await pilot.pause(0.01)


async def test_everything_is_shown_where_there_is_room() -> None:
    async with running() as (app, _):
        words = " ".join(app.show(FULL).split())
        left = "● Claude claude-sonnet waits for your answer"
        assert words == f"{left} 38 tok/s 31.2k of 200k tokens $0.42 Ctrl+G Claude F1 help"


async def test_what_matters_least_goes_first() -> None:
    order = ("F1 help", "Ctrl+G", "tok/s", "200k", "claude-sonnet", "$0.42", "waits")
    left_out = []
    async with running(122) as (app, pilot):
        for width in range(122, 9, -4):
            await resized(pilot, width)
            row = app.show(FULL)
            assert len(row) <= width - 2
            kept = [place for place, words in enumerate(order) if words in row]
            left_out.append(len(order) - len(kept))
            assert kept == list(range(left_out[-1], len(order)))
    assert set(left_out) == set(range(len(order) + 1))


async def test_the_row_is_never_wider_than_the_line() -> None:
    async with running(12) as (app, _):
        assert app.line.render().cell_length <= 10


@pytest.mark.parametrize("text", ["path [/tmp/x]", "[r", "[type=e, v={'a[0]'}]"])
async def test_markup_in_a_model_name_is_text(text: str) -> None:
    async with running() as (app, _):
        assert text in app.show(Status(model=text, detail=text, state="retrying"))


async def test_control_sequences_in_a_model_name_are_taken_out() -> None:
    async with running() as (app, _):
        assert " qwen " in app.show(Status(model="\x1b]52;c;ZXZpbA==\x07qw\x1b[2Jen\x9b2J"))


async def test_an_assumed_window_is_said_to_be_assumed() -> None:
    async with running() as (app, _):
        assert "3.1k of about 8.2k tokens" in app.show(
            Status(context_tokens=3_120, window=8_192, is_window_assumed=True)
        )
        assert "3.1k tokens" in app.show(Status(context_tokens=3_120))


async def test_seconds_are_counted_from_the_beginning_of_the_state() -> None:
    async with running() as (app, _):
        assert "answering 12 s" in app.show(Status(state="answering", since=time.monotonic() - 12.5))
        assert "answering  " in app.show(Status(state="answering", since=time.monotonic()))


async def test_a_retry_counts_down_and_then_only_says_that_it_tries() -> None:
    async with running() as (app, _):
        now = time.monotonic()
        status = Status(state="retrying", detail="attempt 2 of 3", retry_at=now + 7.5, since=now - 61)
        assert "trying again in 8 s (attempt 2 of 3)   1 min 1 s in all" in app.show(status)
        assert "trying again (attempt 2 of 3)" in app.show(replace(status, retry_at=now - 1))


async def test_the_tool_at_work_is_named_with_its_own_time_beside_the_turns() -> None:
    async with running() as (app, _):
        now = time.monotonic()
        status = Status(state="answering", tool="Bash", tool_since=now - 12.5, since=now - 75.5)
        assert "uses Bash 12 s   1 min 15 s in all" in app.show(status)
        more = replace(status, more_tools=2, silent_since=now - 60.5)
        assert "uses Bash and 2 more 12 s, silent for 1 min 0 s" in app.show(more)


async def test_what_matters_of_a_busy_turn_fits_eighty_columns() -> None:
    async with running(80) as (app, _):
        now = time.monotonic()
        busy = replace(
            FULL,
            state="answering",
            tool="Bash",
            tool_since=now - 12.5,
            since=now - 75.5,
            written=1_234,
            is_written_estimated=True,
        )
        row = " ".join(app.show(busy).split())
        assert row.endswith("uses Bash 12 s ~1.2k written 31.2k of 200k tokens $0.42")
        silent = replace(busy, tool="", silent_since=now - 90)
        assert "silent for 1 min 30 s, Esc stops" in app.show(silent)


async def test_a_turn_is_told_from_its_events_while_it_runs() -> None:
    async with running() as (app, _):
        stating = Stating(app.line, conversation(session=new_session(floor="claude")))

        def after(*events: ev.Event) -> str:
            for event in events:
                stating.note(event)
            return app.line.render().plain

        assert "starting" in after(ev.TurnStarted(agent="claude", prompt="hi", at=NOW))
        assert "12k tokens" in after(ev.StepStarted(), ev.ContextMeasured(tokens=12_000))
        retry = ev.RetryScheduled(attempt=1, of=3, delay=30.0, reason="overloaded")
        assert "trying again in 30 s (attempt 1 of 3)" in after(retry)
        assert "silent for 1 min 0 s, Esc stops" in after(ev.StepStarted(), ev.Silent(seconds=60.0))
        text = after(ev.TextDelta(text="x" * 400))
        assert "silent" not in text and "attempt" not in text and "answering" in text
        both = [ev.ToolCallStarted(call=ToolCall(id=name, name=name)) for name in ("Bash", "Grep")]
        assert "uses Bash and 1 more" in after(*both) and "~10" in app.line.render().plain
        results = [ev.ToolCallFinished(result=ToolResult(call_id=name, text="")) for name in ("Bash", "Grep")]
        assert "uses Grep" in after(results[0]) and "uses" not in after(results[1])
        spent = ev.UsageReported(usage=Usage(output_tokens=90, context_tokens=13_000, window=1_000_000))
        told = after(spent)
        assert " 90 written" in told and "13k of 1M tokens" in told
        stating.stopping()
        assert "stopping" in after(ev.TextDelta(text="late"))
        assert "ready" in after(ev.TurnEnded(at=NOW)) and "written" not in app.line.render().plain


async def test_a_timer_runs_only_while_something_is_going_on() -> None:
    async with running() as (app, pilot):
        painted = _count_paints(app.line)
        await pilot.pause(0.3)
        assert painted() == 0
        app.line.status = Status(state="answering", since=time.monotonic())
        deadline = time.monotonic() + 5
        while painted() < 3:
            assert time.monotonic() < deadline, "the spinner does not turn"
            await pilot.pause(0.02)
        app.line.status = Status()
        await pilot.pause(0.05)
        before = painted()
        await pilot.pause(0.3)
        assert painted() == before


async def test_calm_takes_the_spinner_away_and_leaves_the_words() -> None:
    async with running() as (app, _):
        app.line.calm = True
        assert app.show(Status(state="answering")).startswith("○ local   answering")


def _count_paints(line: StatusLine) -> Callable[[], int]:
    """How often the line was painted from now on."""
    paints = 0
    render_line = line.render_line

    def counted(y: int) -> Strip:
        nonlocal paints
        paints += 1
        return render_line(y)

    line.render_line = counted  # type: ignore[method-assign]
    return lambda: paints
