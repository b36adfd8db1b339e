"""What selecting in the transcript copies."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.pilot import Pilot

from milk_tui.ui.widgets.blocks import Block
from milk_tui.ui.widgets.excerpt import Excerpt, Mark, pack, unpack
from milk_tui.ui.widgets.stack import Spot
from milk_tui.ui.widgets.transcript import Transcript
from milk_tui.ui.widgets.viewport import Viewport
from tests.ui.transcript_stage import ANSWER, Stage, everything, messages, screen


async def test_selecting_everything_gives_the_sources() -> None:
    app = Stage(Block("a", "user", "Why  so?"), Block("b", "local", ANSWER, label="model"))
    async with app.run_test(size=(40, 20)) as pilot:
        await pilot.pause()
        app.screen.selections = {app.transcript: everything(app)}

        assert app.screen.get_selected_text() == f"Why  so?\n\n{ANSWER}"


async def test_dragging_over_whole_rows_gives_their_source_lines() -> None:
    app = Stage(Block("b", "local", ANSWER, label="model"))
    async with app.run_test(size=(60, 30)) as pilot:
        await pilot.pause()
        shown = screen(app.transcript)
        first = next(y for y, line in enumerate(shown) if "one" in line and "•" in line)
        last = next(y for y, line in enumerate(shown) if "1" in line and "│" in line)
        await _drag(pilot, (0, first), (50, last))

        start = ANSWER.index("- one")
        assert app.screen.get_selected_text() == ANSWER[start : ANSWER.index("\n\nEnd")]


async def test_dragging_inside_a_wrapped_line_gives_what_is_seen_without_the_window_s_line_breaks() -> None:
    app = Stage(Block("b", "local", ANSWER, label="model"))
    async with app.run_test(size=(40, 30)) as pilot:
        await pilot.pause()
        shown = screen(app.transcript)
        assert "•" not in shown[2]
        await _drag(pilot, (7, 1), (9, 2))

        assert app.screen.get_selected_text() == f"{shown[1][7:].rstrip()} {shown[2][2:10]}"


async def test_code_is_copied_without_indentation_or_fence() -> None:
    app = Stage(Block("b", "local", ANSWER, label="model"))
    async with app.run_test(size=(60, 30)) as pilot:
        await pilot.pause()
        shown = screen(app.transcript)
        first = next(y for y, line in enumerate(shown) if "x = 1" in line)
        await _drag(pilot, (0, first), (50, first + 1))

        assert app.screen.get_selected_text() == "x = 1\ny = 2"


async def test_two_clicks_select_the_block() -> None:
    app = Stage(Block("a", "user", "Why  so?"), Block("b", "local", ANSWER, label="model"))
    async with app.run_test(size=(60, 30)) as pilot:
        await pilot.click(app.transcript, offset=(5, 6), times=2)

        assert app.screen.get_selected_text() == ANSWER


async def test_a_selection_stays_on_its_text_while_more_arrives() -> None:
    app = Stage(*messages(4))
    async with app.run_test(size=(60, 30)) as pilot:
        await pilot.pause()
        await _drag(pilot, (3, 10), (20, 12))
        text = app.screen.get_selected_text()
        app.transcript.append(Block("new", "local", ANSWER))
        await pilot.pause()

        assert text and app.screen.get_selected_text() == text


async def _drag(pilot: Pilot[None], start: tuple[int, int], end: tuple[int, int]) -> None:
    transcript = pilot.app.query_one(Transcript)
    await pilot.mouse_down(transcript, offset=start)
    await pilot.hover(transcript, offset=end)
    await pilot.mouse_up(transcript, offset=end)
    await pilot.pause()


@given(st.integers(0, 2**20), st.integers(0, 2**20), st.integers(0, 2**20))
def test_spots_survive_being_packed_in_their_order(block: int, piece: int, row: int) -> None:
    spot = Spot(block, piece, row)

    assert unpack(pack(spot)) == spot
    assert (
        pack(spot) < pack(Spot(block, piece, row + 1)) < pack(Spot(block, piece + 1)) < pack(Spot(block + 1))
    )


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_any_selection_copies_text_of_the_source(data: st.DataObject) -> None:
    viewport = Viewport()
    viewport.resize(40, 30)
    viewport.extend(
        [Block("a", "user", "Why\nso?"), Block("b", "local", ANSWER), Block("c", "call", "ls", detail="x\ny")]
    )
    spots = [
        (Spot(block, piece, row), len(rows[row].text))
        for block, view in enumerate(viewport.views)
        for piece in range(len(view.heights))
        for rows in [view.rows(piece)]
        for row in range(len(rows))
    ]
    marks = [
        Mark(spot, data.draw(st.integers(0, size)))
        for spot, size in data.draw(st.lists(st.sampled_from(spots), min_size=2, max_size=2))
    ]
    text = Excerpt(*sorted(marks)).text(viewport.views)

    sources = "".join("".join(view.block.copied.split()) for view in viewport.views) + "YouLocalpython"
    assert all(word.strip("•│─┼…✓✗") in sources or "│" in word or "─" in word for word in text.split())


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light"])
async def test_selected_text_is_seen_and_set_apart(theme: str) -> None:
    app = Stage(Block("b", "local", ANSWER, label="model"))
    async with app.run_test(size=(60, 30)) as pilot:
        app.theme = theme
        await pilot.pause()
        plain = app.transcript.render_line(1)
        app.screen.selections = {app.transcript: everything(app)}
        await pilot.pause()

        for segment in app.transcript.render_line(1):
            if segment.text.strip():
                assert segment.style and segment.style.color != segment.style.bgcolor
        assert list(app.transcript.render_line(1)) != list(plain)


async def test_rows_are_selected_and_copied_by_keys() -> None:
    app = Stage(Block("a", "user", "Why  so?"), Block("b", "local", ANSWER, label="model"))
    async with app.run_test(size=(60, 30)) as pilot:
        app.transcript.focus()
        await pilot.press("k", "j", *["shift+down"] * 5)
        assert app.screen.get_selected_text() == ANSWER[: ANSWER.index("\n- two")]
        await pilot.press("shift+up", "shift+up", "y")
        await until_copied(pilot, app, ANSWER[: ANSWER.index("\n\n- one")])

        await pilot.press("escape")
        assert not app.screen.get_selected_text()
        await pilot.press("end", *["shift+down"] * 90)
        assert app.screen.get_selected_text() == ANSWER


async def until_copied(pilot: Pilot[None], app: Stage, text: str) -> None:
    for _ in range(200):
        if text in app.copied:
            return
        await pilot.pause(0.01)
    raise AssertionError(f"{text!r} was not copied, but {app.copied}")
