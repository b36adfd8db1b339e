"""Finding a text in the conversation, by keys."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from textual.pilot import Pilot

from milk_tui.ui.widgets.blocks import Block
from milk_tui.ui.widgets.find_bar import FindBar
from milk_tui.ui.widgets.search import Search
from milk_tui.ui.widgets.transcript import Transcript
from milk_tui.ui.widgets.viewport import Viewport
from tests.ui.playing import Stage, on_stage, shown
from tests.ui.scenes import chat, until
from tests.ui.transcript_stage import messages

FOLDED = Block("call", "call", "src", label="ls", detail="needle.txt\n" + "x\n" * 30, folded=True, state="ok")


@asynccontextmanager
async def reading(*blocks: Block) -> AsyncIterator[tuple[Pilot[None], Transcript]]:
    async with on_stage(Stage()) as pilot:
        chat(pilot).remove_class("-fresh")
        transcript = chat(pilot).query_one(Transcript)
        transcript.extend(blocks)
        await pilot.pause()
        yield pilot, transcript


async def until_said(pilot: Pilot[None], words: str) -> None:
    def is_said() -> bool:
        return any(line.rstrip(" │").endswith(words) and line.startswith("  Find ") for line in _rows(pilot))

    await until(pilot, is_said, f"the bar says {words!r} in\n{shown(pilot)}")


def _rows(pilot: Pilot[None]) -> Sequence[str]:
    width = chat(pilot).query_one(Transcript).size.width
    return [line[:width] for line in shown(pilot).split("\n")]


def said(*texts: str) -> list[Block]:
    return [Block(f"s{number}", "local", text, label="small") for number, text in enumerate(texts)]


async def test_hits_are_counted_and_shown_as_one_types() -> None:
    async with reading(*said(*(f"**needle** {n}\n\nNeed {n}" for n in range(40)))) as (pilot, _):
        await pilot.press("ctrl+f", *"need")
        await until_said(pilot, " of 80")
        await pilot.press("l")
        await until_said(pilot, " of 40")
        first = int(next(line for line in _rows(pilot) if line.startswith("  Find ")).split()[-3])
        # Near what was read, and not at the beginning.
        assert first > 30
        await pilot.press("enter")
        await until_said(pilot, f" {first + 1} of 40")
        await pilot.press("up", "up")
        await until_said(pilot, f" {first - 1} of 40")
        await pilot.press("x")
        await until_said(pilot, "nothing found")
        assert chat(pilot).prompt.text == ""


async def test_escape_returns_to_where_one_was_and_folds_what_was_opened() -> None:
    async with reading(FOLDED, *messages(30)) as (pilot, transcript):
        before = shown(pilot)
        await pilot.press("ctrl+f", *"needle")
        await until_said(pilot, "1 of 1")
        assert not transcript.viewport.views[0].folded
        assert "needle.txt" in shown(pilot)

        await pilot.press("escape")
        await until(pilot, lambda: shown(pilot) == before, "all is as it was")
        assert transcript.is_following
        assert chat(pilot).prompt.has_focus


async def test_the_hit_is_marked_apart_from_the_others() -> None:
    async with reading(*said("one needle two", "needle")) as (pilot, transcript):
        plain = transcript.render_line(1)
        await pilot.press("ctrl+f", *"needle")
        await until_said(pilot, "1 of 2")

        def style_of(y: int) -> object:
            return next(segment.style for segment in transcript.render_line(y) if segment.text == "needle")

        assert style_of(1) != style_of(4)
        await pilot.press("enter")
        await until_said(pilot, "2 of 2")
        assert style_of(1) != style_of(4)
        await pilot.press("escape")
        await pilot.pause()
        assert transcript.render_line(1) == plain


async def test_one_reads_on_at_the_hit_and_goes_on_from_there() -> None:
    async with reading(*said(*["needle", *["hay\n\nhay"] * 20] * 3)) as (pilot, transcript):
        await pilot.press("ctrl+f", *"needle")
        await until_said(pilot, "3 of 3")
        await pilot.press("tab")
        await until(pilot, lambda: transcript.has_focus, "the transcript is read")
        await pilot.press("n")
        await until_said(pilot, "1 of 3")
        await pilot.press("N", "N")
        await until_said(pilot, "2 of 3")
        place = transcript.viewport.top
        await pilot.press("escape")
        await until(pilot, lambda: not pilot.app.screen.query_one(FindBar).display, "the bar is gone")
        assert transcript.viewport.top == place


async def test_the_command_looks_for_its_text_and_what_arrives_meanwhile_counts() -> None:
    async with reading(*said("needle")) as (pilot, transcript):
        chat(pilot).prompt.write("/find needle")
        await pilot.press("enter")
        await until_said(pilot, "1 of 1")
        transcript.append(Block("new", "claude", "a Needle more"))
        await pilot.press("enter")
        await until_said(pilot, "2 of 2")
        transcript.take_out({"new"})
        await pilot.press("enter")
        await until_said(pilot, "1 of 1")


@pytest.mark.parametrize("needle", ["e", "long enough", "x = 1", "nowhere"])
def test_ten_thousand_messages_are_counted_without_drawing_them(needle: str) -> None:
    viewport = Viewport()
    viewport.resize(80, 40)
    viewport.extend([replace(block, key=f"{n}") for n, block in enumerate(messages(10_000))])
    search = Search(needle)

    assert search.go_on(viewport.views, 60.0)
    assert search.total(viewport.views) == sum(
        view.block.source.lower().count(needle) for view in viewport.views
    )
    assert not any(view.is_open for view in viewport.views)


def test_a_longer_needle_is_looked_for_only_where_the_shorter_one_was() -> None:
    viewport = Viewport()
    viewport.resize(80, 40)
    viewport.extend(said("one", "two", "on"))
    short = Search("on")
    assert short.go_on(viewport.views, 60.0)
    longer = Search("one", short)
    short._counts["s0"] = (viewport.views[0].block, 0)

    assert longer.go_on(viewport.views, 60.0)
    assert longer.total(viewport.views) == 0
