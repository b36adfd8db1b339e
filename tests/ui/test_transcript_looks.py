"""What the transcript looks like: who is who without colours, themes, widths, hostile texts."""

from dataclasses import replace

import pytest
from wcwidth import wcswidth

from milk_tui.ui.widgets.blocks import LOOKS, Block, Kind
from milk_tui.ui.widgets.transcript import Transcript
from tests.ui.markdown_samples import WORDS
from tests.ui.playing import Stage as PlayedStage
from tests.ui.playing import on_stage
from tests.ui.scenes import chat
from tests.ui.transcript_stage import Stage, messages, screen


async def test_brackets_and_escape_sequences_are_shown_and_not_obeyed() -> None:
    nasty = "path [/tmp/x] [r {\"b\": [true]} [type=e, v={'a[0]'}] \x1b]52;c;ZQ==\x07 \x9b2J"
    kinds: list[Kind] = list(LOOKS)
    app = Stage(*(Block(kind, kind, nasty, label=nasty, note=nasty, detail=nasty) for kind in kinds))
    async with app.run_test(size=(200, 60)) as pilot:
        await pilot.pause()
        shown = screen(app.transcript)

    assert sum('path [/tmp/x] [r {"b": [true]}' in line for line in shown) >= len(kinds)
    assert not [char for line in shown for char in line if char < " " or "\x7f" <= char <= "\x9f"]


async def test_kinds_are_told_apart_without_colours() -> None:
    heads = []
    for kind in LOOKS:
        app = Stage(Block("a", kind, "same text", label="x", detail="same text"))
        async with app.run_test(size=(60, 6)) as pilot:
            await pilot.pause()
            heads.append(tuple(screen(app.transcript)))

    assert len(set(heads)) == len(LOOKS)


async def test_a_change_of_theme_paints_in_its_colours() -> None:
    app = Stage(Block("a", "local", "text", label="model"))
    async with app.run_test(size=(60, 6)) as pilot:
        await pilot.pause()
        before = list(app.transcript.render_line(0))
        app.theme = "textual-light"
        await pilot.pause()

        assert list(app.transcript.render_line(0)) != before


@pytest.mark.parametrize("width", [20, 33, 80, 300])
async def test_every_line_is_as_wide_as_the_widget_beside_its_scrollbar(width: int) -> None:
    app = Stage(
        *messages(3),
        Block("w", "claude", "漢字 👩‍👩‍👧 " * 30),
        Block("t", "call", "x" * 400, label="y" * 50, folded=True),
    )
    async with app.run_test(size=(width, 40)) as pilot:
        await pilot.pause()
        beside_bar = width - 1
        for y in range(40):
            strip = app.transcript.render_line(y)
            assert sum(segment.cell_length for segment in strip) == strip.cell_length == beside_bar


@pytest.mark.parametrize("width", [60, 187, 300])
async def test_no_text_in_the_conversation_moves_the_borders_beside_it(width: int) -> None:
    stage = PlayedStage()
    blocks = [
        Block(f"b{number}", kind, "".join(WORDS[number * 5 : number * 5 + 25]), label="漢字 हिन्दी 👩\u200d👧")
        for number in range(len(WORDS) // 5)
        for kind in ("local", "user")
    ]
    async with on_stage(stage, (width, 30)) as pilot:
        chat(pilot).remove_class("-fresh")
        transcript = chat(pilot).query_one(Transcript)
        transcript.extend(replace(block, key=f"{place}") for place, block in enumerate(blocks))
        transcript.focus()
        pages = 0
        while True:
            pages += 1
            await pilot.press("pageup")
            strips = chat(pilot)._compositor.render_strips(pilot.app.size)
            assert [wcswidth(strip.text) for strip in strips] == [width] * 30
            if transcript.scroll_y == 0:
                break
        assert pages > 2
