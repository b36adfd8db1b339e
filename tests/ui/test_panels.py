from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.events import Paste
from textual.pilot import Pilot
from textual.widgets import Input, Static

from milk_tui.core.bricks import Brick, Bricks, Gauge, Segment
from milk_tui.core.need import PastNeed
from milk_tui.ui.figures import short
from milk_tui.ui.panels.bar import FREE, GHOST, level, runs
from milk_tui.ui.panels.brick_panel import SHOWN, brick_facts
from milk_tui.ui.panels.gauge_panel import GaugePanel
from milk_tui.ui.panels.need_panel import NeedPanel
from milk_tui.ui.panels.panel import Panel
from milk_tui.ui.panels.registry import PANELS, BrickColumn
from milk_tui.ui.panels.strip import BrickStrip
from milk_tui.ui.styling import stylesheets, theme_tokens

FOREIGN = ("path [/tmp/x]", "[r", "[type=e, v={'a[0]'}]", '{"b": [true, false]}')


def gauge(prompt_chars: int = 0, summary: int = 4_210) -> Gauge:
    segments = (
        Segment(name="identity", chars=812, budget=1_200),
        Segment(name="current_need", chars=143, budget=700),
        Segment(name="local_summary", chars=summary, budget=12_000),
        Segment(name="percepts", chars=0, budget=2_048),
    )
    return Gauge(
        segments=segments, limit=16_000, prompt_chars=prompt_chars, history_chars=412_380, situation="first"
    )


def bricks(need: str = "Fix the importer", summary: str = "user: hello", **facts: Any) -> Bricks:
    return Bricks(
        need=Brick(name="current_need", text=need, budget=700, by="user"),
        local_summary=Brick(name="local_summary", text=summary, budget=12_000, **facts),
        claude_summary=Brick(name="claude_summary", budget=12_000),
        gauge=gauge(),
    )


class PanelApp(App[None]):
    CSS_PATH = [str(path) for path in stylesheets()]
    BINDINGS = [Binding("escape", "note('escape')")]

    def __init__(self) -> None:
        super().__init__()
        self.noted: list[str] = []

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return theme_tokens(self.current_theme)

    def compose(self) -> ComposeResult:
        yield BrickStrip()
        yield BrickColumn()

    @property
    def column(self) -> BrickColumn:
        return self.query_one(BrickColumn)

    def body(self, panel: str) -> str:
        """What a panel shows."""
        content = self.query_one(f"#{panel} .panel-body", Static).content
        assert isinstance(content, Content)
        return content.plain

    def panel(self, name: str) -> Panel[Any]:
        found: Panel[Any] = self.query_one(f"#{name}", Panel)
        return found

    def action_note(self, what: str) -> None:
        self.noted.append(what)

    def on_need_panel_edited(self, message: NeedPanel.Edited) -> None:
        self.noted.append(message.text)

    def on_panel_failed(self, message: Panel.Failed) -> None:
        self.noted.append(f"{message.panel}: {message.error}")


@asynccontextmanager
async def running(
    shown: Bricks, size: tuple[int, int] = (60, 40)
) -> AsyncIterator[tuple[PanelApp, Pilot[None]]]:
    app = PanelApp()
    async with app.run_test(size=size) as pilot:
        app.column.bricks = shown
        app.query_one(BrickStrip).bricks = shown
        await pilot.pause()
        yield app, pilot


# Bricks


async def test_a_brick_shows_its_text_its_size_and_what_it_leaves_out() -> None:
    async with running(bricks(summary="one [r\n  two", held=4, dropped=2, collapsed=3)) as (app, _):
        assert (
            app.body("local-summary") == "4 exchanges · 2 older left out · 3 calls collapsed\none [r\n  two"
        )
        assert app.panel("local-summary").border_subtitle == "12 of 12,000"


def test_facts_say_only_what_there_is() -> None:
    assert brick_facts(Brick(name="local_summary")) == ""
    assert brick_facts(Brick(name="local_summary", held=1, collapsed=1)) == "1 exchange · 1 call collapsed"


@pytest.mark.parametrize("text", FOREIGN)
async def test_markup_in_a_brick_is_text(text: str) -> None:
    async with running(bricks(need=text, summary=text)) as (app, _):
        assert app.body("need") == text
        assert app.body("local-summary") == text
        assert text in app.query_one(BrickStrip).render().plain


async def test_a_stale_brick_says_so_in_words() -> None:
    async with running(bricks(is_stale=True)) as (app, _):
        assert app.panel("local-summary").border_title == "local summary · stale"
        assert app.panel("need").border_title == "need"


async def test_a_guessed_need_says_so_in_panel_and_strip() -> None:
    shown = bricks(need="Mend the till")
    need = shown.need.model_copy(update={"by": "inferred"})
    async with running(shown.model_copy(update={"need": need})) as (app, _):
        assert app.panel("need").border_subtitle == "guessed from your words"
        assert app.query_one(BrickStrip).render().plain.startswith("need (guessed) Mend the till")


async def test_h_on_the_need_shows_and_hides_what_it_was_before() -> None:
    shown = bricks(need="Mend the till")
    earlier = (PastNeed(text="fix [r", by="user", turn=7), PastNeed(text="read", by="inferred", turn=2))
    need = shown.need.model_copy(update={"earlier": earlier})
    async with running(shown.model_copy(update={"need": need})) as (app, pilot):
        assert app.body("need") == "Mend the till"
        app.panel("need").focus()
        await pilot.press("h")
        lines = ["turn 7: fix [r (said by you)", "turn 2: read (guessed from your words)"]
        assert app.body("need").splitlines() == ["Mend the till", "", "Before:", *lines]
        await pilot.press("h")
        assert app.body("need") == "Mend the till"


async def test_the_gauge_says_how_the_next_hand_off_starts() -> None:
    shown = bricks()
    gauge = shown.gauge.model_copy(update={"route": "starts fresh: the need changed"})
    async with running(shown.model_copy(update={"gauge": gauge})) as (app, _):
        assert "starts fresh: the need changed" in app.body("gauge").splitlines()


async def test_the_claude_summary_takes_no_room_until_it_has_text() -> None:
    shown = bricks()
    async with running(shown) as (app, pilot):
        assert not app.panel("claude-summary").display
        summary = shown.claude_summary.model_copy(update={"text": "It ran the tests."})
        app.column.bricks = shown.model_copy(update={"claude_summary": summary})
        await pilot.pause()
        assert app.panel("claude-summary").display
        assert app.body("claude-summary") == "It ran the tests."


async def test_an_enormous_brick_is_drawn_in_part() -> None:
    async with running(bricks(summary="x" * (SHOWN + 10))) as (app, _):
        assert app.body("local-summary").endswith("x\n[10 more characters are not shown here]")


async def test_a_long_brick_scrolls() -> None:
    async with running(bricks(summary="\n".join("x" * 200))) as (app, pilot):
        app.query_one("#local-summary LineList").focus()
        await pilot.press("pagedown")
        await pilot.pause(0.3)
        assert app.panel("local-summary").scroll_offset.y > 0


# The column


async def test_a_panel_is_drawn_again_only_when_its_own_value_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn: list[str] = []
    redraw = Panel.redraw

    def counted(panel: Panel[Any]) -> None:
        drawn.append(panel.id or "")
        redraw(panel)

    async with running(bricks()) as (app, pilot):
        monkeypatch.setattr(Panel, "redraw", counted)
        app.column.bricks = bricks(need="Something else")
        app.column.prompt_chars = 5
        await pilot.pause()
        assert drawn == ["need", "gauge"]


async def test_the_ghost_of_the_prompt_outlives_new_bricks() -> None:
    async with running(bricks()) as (app, pilot):
        app.column.prompt_chars = 1_400
        app.column.bricks = bricks(need="Something else")
        await pilot.pause()
        assert "+1.4k" in app.body("gauge")


async def test_a_panel_that_raises_says_so_in_its_own_box(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(panel: GaugePanel, value: Gauge) -> Content:
        raise ValueError("no such part [/x]")

    async with running(bricks()) as (app, pilot):
        with monkeypatch.context() as patch:
            patch.setattr(GaugePanel, "draw", broken)
            app.column.prompt_chars = 1
            app.column.prompt_chars = 2
            app.column.bricks = bricks(need="Something else")
            await pilot.pause()
            assert app.body("gauge") == "This panel could not be drawn: ValueError: no such part [/x]"
            assert app.body("need") == "Something else"
            assert app.noted == ["GaugePanel: no such part [/x]"]
        app.column.prompt_chars = 3
        await pilot.pause()
        assert not app.panel("gauge").has_class("-failed")


def test_every_brick_on_screen_has_one_panel() -> None:
    shown = bricks()
    assert [row.read(shown) for row in PANELS] == [getattr(shown, name) for name in type(shown).model_fields]


# The need


async def test_the_need_is_edited_in_place() -> None:
    async with running(bricks(need="Fix")) as (app, pilot):
        app.panel("need").focus()
        await pilot.press("e", "e", "space", "[", "r", "enter")
        assert app.noted == ["Fixe [r"]
        assert app.focused is app.panel("need")
        assert not app.query_one(Input).display


async def test_what_is_pasted_into_the_need_holds_no_control_sequences() -> None:
    async with running(bricks(need="")) as (app, pilot):
        app.panel("need").focus()
        await pilot.press("e")
        app.post_message(Paste("Fix \x1b]52;c;ZXZpbA==\x07 it\x1b[2J\nand more"))
        await pilot.press("enter")
        assert app.noted == ["Fix it"]


async def test_an_emptied_need_is_told_too() -> None:
    async with running(bricks(need="Fix")) as (app, pilot):
        app.panel("need").focus()
        await pilot.press("e", "ctrl+u", "enter")
        assert app.noted == [""]


async def test_escape_drops_the_edit_and_only_then_belongs_to_others() -> None:
    async with running(bricks(need="Fix")) as (app, pilot):
        app.panel("need").focus()
        await pilot.press("e", "x", "escape")
        assert (app.noted, app.body("need")) == ([], "Fix")
        await pilot.press("escape")
        assert app.noted == ["escape"]


async def test_a_need_that_changes_meanwhile_leaves_the_editor_alone() -> None:
    async with running(bricks(need="Fix")) as (app, pilot):
        app.panel("need").focus()
        await pilot.press("e", "x")
        app.column.bricks = bricks(need="Another")
        await pilot.press("y", "enter")
        assert app.noted == ["Fixxy"]


async def test_the_need_says_who_said_it_and_how_to_say_it() -> None:
    shown = bricks()
    async with running(shown) as (app, pilot):
        assert app.panel("need").border_subtitle == "said by you"
        app.column.bricks = shown.model_copy(update={"need": Brick(name="current_need", by="user")})
        await pilot.pause()
        assert app.panel("need").border_subtitle == ""
        assert "Press e" in app.body("need")


# The gauge


async def test_the_gauge_shows_parts_figures_and_history() -> None:
    async with running(bricks()) as (app, _):
        body = app.body("gauge")
        assert "5,165 of 16,000 characters" in body
        assert "about 1,292 tokens" in body
        assert "of 412,380 characters of history" in body
        for entry in ("▒ identity", "█ need", "▓ summary", "▞ percepts", "░ your prompt"):
            assert entry in body


@pytest.mark.parametrize("width", [3, 10, 41, 200])
@pytest.mark.parametrize("prompt_chars", [0, 1, 9_000, 1_000_000])
def test_a_bar_has_exactly_its_width_and_no_part_is_lost(width: int, prompt_chars: int) -> None:
    found = runs(gauge(prompt_chars), width)
    assert sum(cells for _, cells in found) == width
    assert all(cells > 0 for _, cells in found)
    expected = ["identity", "current_need", "local_summary", *([GHOST] if prompt_chars else [])]
    assert [name for name, _ in found if name != FREE] == expected[:width]


def test_a_bar_without_a_limit_is_drawn_all_the_same() -> None:
    empty = Gauge(segments=(), limit=0, prompt_chars=0, history_chars=0, situation="first")
    assert runs(empty, 10) == [(FREE, 10)]
    assert level(empty) == "ok"


async def test_the_gauge_says_in_words_how_full_it_is() -> None:
    shown = bricks()
    async with running(shown) as (app, pilot):
        for summary, state, word in (
            (1, "-ok", "characters\n"),
            (12_000, "-near", "nearly full"),
            (15_000, "-full", "· full"),
        ):
            app.column.bricks = shown.model_copy(update={"gauge": gauge(summary=summary)})
            await pilot.pause()
            assert app.panel("gauge").has_class(state)
            assert word in app.body("gauge")


async def test_a_prompt_beyond_the_limit_points_over_the_edge() -> None:
    async with running(bricks()) as (app, pilot):
        assert "▏ " in app.body("gauge")
        app.column.prompt_chars = 20_000
        await pilot.pause()
        assert "▏▸" in app.body("gauge")


async def test_typing_does_not_lay_the_column_out_again() -> None:
    async with running(bricks()) as (app, pilot):
        app.column.prompt_chars = 1
        await pilot.pause()
        body = app.query_one("#gauge .panel-body", Static)
        laid_out: list[bool] = []
        update = body.update

        def noted(content: Content, *, layout: bool = True) -> None:
            laid_out.append(layout)
            update(content, layout=layout)

        body.update = noted  # type: ignore[method-assign, assignment]
        for chars in range(2, 6):
            app.column.prompt_chars = chars
        assert laid_out == [False] * 4


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (999, "999"), (4_210, "4.2k"), (12_000, "12k"), (412_380, "412k"), (1_250_000, "1.2M")],
)
def test_short_figures(number: int, text: str) -> None:
    assert short(number) == text


# The strip


@pytest.mark.parametrize("width", [20, 60, 99])
async def test_the_strip_is_two_rows_that_fit(width: int) -> None:
    async with running(bricks(need="Fix\nthe importer " * 9), size=(width, 24)) as (app, _):
        rows = app.query_one(BrickStrip).render().split("\n")
        assert len(rows) == 2
        assert all(row.cell_length <= width - 2 for row in rows)
        assert rows[0].plain.startswith("need Fix the")


async def test_the_strip_shows_need_and_gauge() -> None:
    async with running(bricks()) as (app, _):
        app.query_one(BrickStrip).prompt_chars = 3_000
        plain = app.query_one(BrickStrip).render().plain
        assert "Fix the importer" in plain
        assert "5.2k of 16k · history 412k" in plain
        assert "░" in plain


async def test_the_strip_says_stale_and_nearly_full_in_words_and_classes() -> None:
    shown = bricks()
    need = shown.need.model_copy(update={"is_stale": True})
    async with running(shown.model_copy(update={"need": need, "gauge": gauge(summary=12_000)})) as (app, _):
        strip = app.query_one(BrickStrip)
        assert strip.has_class("-stale", "-near")
        assert strip.render().plain.startswith("need (stale) Fix")
        assert ", nearly full ·" in strip.render().plain
