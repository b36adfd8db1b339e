"""The transcript by keys, wheel and messages."""

import gc
import weakref
from dataclasses import replace
from typing import Self

import pytest
from textual.app import ComposeResult
from textual.geometry import Region

from milk_tui.ui.widgets.blocks import Block
from milk_tui.ui.widgets.transcript import Transcript
from tests.ui.transcript_stage import ANSWER, Stage, messages, screen, until_shown


async def test_deltas_become_one_block_whose_source_is_their_sum() -> None:
    app = Stage()
    async with app.run_test(size=(60, 20)) as pilot:
        app.transcript.append(Block("a", "local", label="model", state="running"))
        for word in ["thirty", "one-word", "deltas", ""] * 10:
            app.transcript.stream("a", f"{word} ")
        await until_shown(pilot, "thirty one-word")
        app.transcript.stream("a", "**end**")
        app.transcript.finish("a")

        (block,) = app.transcript.blocks
        assert block.source == "thirty one-word deltas  " * 10 + "**end**"
        assert block.state == ""
        assert sum("Local" in line for line in screen(app.transcript)) == 1


async def test_a_delta_for_a_block_that_is_not_there_is_a_mistake() -> None:
    app = Stage()
    async with app.run_test():
        with pytest.raises(KeyError):
            app.transcript.stream("nowhere", "x")


async def test_scrolling_up_stops_following_and_the_end_resumes_it() -> None:
    app = Stage(*messages(20))
    async with app.run_test(size=(60, 20)) as pilot:
        transcript = app.transcript
        transcript.focus()
        await pilot.pause()
        assert transcript.is_following

        await pilot.press("pageup")
        assert not transcript.is_following
        shown = screen(transcript)
        transcript.append(Block("new", "claude", "News", label="model"))
        await pilot.pause()
        assert screen(transcript) == shown

        await pilot.press("end")
        assert transcript.is_following
        assert "News" in screen(transcript)[-1]
        transcript.append(Block("newer", "notice", "Newer"))
        await pilot.pause()
        assert "Newer" in screen(transcript)[-1]
        assert app.follows == [False, True]


async def test_the_wheel_stops_and_resumes_following() -> None:
    app = Stage(*messages(20))
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        await pilot._post_mouse_events([_wheel_up()], app.transcript)
        assert not app.transcript.is_following
        app.transcript.scroll_end(animate=False, immediate=True)
        assert app.transcript.is_following


def _wheel_up() -> type:
    from textual.events import MouseScrollUp

    return MouseScrollUp


async def test_a_growing_window_does_not_stop_following() -> None:
    app = Stage(*messages(20))
    async with app.run_test(size=(60, 10)) as pilot:
        await pilot.pause()
        for size in ((60, 30), (25, 30), (120, 8)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert app.transcript.is_following
            assert screen(app.transcript)[-1].strip() == "End"


async def test_every_page_joins_the_one_before_although_heights_were_guessed() -> None:
    app = Stage(*messages(30))
    async with app.run_test(size=(60, 12)) as pilot:
        transcript = app.transcript
        transcript.focus()
        await pilot.pause()
        whole = screen(transcript)
        for _ in range(200):
            await pilot.press("pageup")
            shown = screen(transcript)
            if transcript.scroll_y == 0:
                break
            assert shown[-1] == whole[0]
            whole = shown + whole[1:]

        assert transcript.scroll_y == 0
        assert sum(line.endswith("End") for line in whole) == 30


async def test_the_first_page_is_reached_and_left_by_key() -> None:
    app = Stage(*messages(30))
    async with app.run_test(size=(60, 12)) as pilot:
        app.transcript.focus()
        await pilot.press("home")
        assert screen(app.transcript)[:2] == ["▌ You", "▌ 0"]
        await pilot.press("down", "down")
        assert screen(app.transcript)[0] == "▌"
        await pilot.press("up", "up")
        assert screen(app.transcript)[0].endswith(" You")


async def test_blocks_are_chosen_by_key_and_copied_exactly() -> None:
    app = Stage(Block("a", "user", "Why  so?\n"), Block("b", "local", ANSWER, label="model"))
    async with app.run_test(size=(60, 30)) as pilot:
        app.transcript.focus()
        await pilot.press("y")
        await pilot.press("k", "k", "y")
        await pilot.press("j", "y")
        await pilot.pause()

        assert app.copied == [ANSWER, "Why  so?\n", ANSWER]


async def test_a_chosen_block_is_marked_without_colours() -> None:
    app = Stage(*messages(2))
    async with app.run_test(size=(60, 60)) as pilot:
        app.transcript.focus()
        await pilot.press("k")

        assert any(line.startswith("┃") for line in screen(app.transcript))


async def test_a_folded_call_says_what_it_hides_and_unfolds_in_place() -> None:
    call = Block(
        "c", "call", "src/app.py", label="read_file", state="ok", detail="one\ntwo\nthree", folded=True
    )
    app = Stage(*messages(3), call)
    async with app.run_test(size=(60, 20)) as pilot:
        app.transcript.focus()
        await pilot.pause()
        assert screen(app.transcript)[-1] == "▸ read_file src/app.py ✓ · 3 lines"

        await pilot.press("space")
        assert screen(app.transcript)[-4:] == ["▾ read_file src/app.py ✓", "│ one", "│ two", "│ three"]
        await pilot.press("enter")
        assert screen(app.transcript)[-1] == "▸ read_file src/app.py ✓ · 3 lines"


async def test_a_click_on_the_first_row_folds_and_unfolds() -> None:
    call = Block("c", "call", "ls", label="shell", state="ok", detail="one", folded=True)
    app = Stage(call)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.click(app.transcript, offset=(5, 0))
        assert screen(app.transcript)[1] == "┃ one"


async def test_a_fold_made_by_hand_survives_a_new_state() -> None:
    call = Block("c", "call", "ls", label="shell", state="running")
    app = Stage(call)
    async with app.run_test(size=(60, 20)) as pilot:
        app.transcript.focus()
        await pilot.press("space")
        app.transcript.replace(replace(call, state="ok", detail="out"))

        assert screen(app.transcript)[:2] == ["▸ shell ls ✓ · 1 line", ""]


async def test_an_answer_that_was_voided_is_gone() -> None:
    app = Stage(Block("a", "local", "wrong\n\nanswer", label="model", state="running"))
    async with app.run_test(size=(60, 20)) as pilot:
        app.transcript.stream("a", " more")
        app.transcript.replace(Block("a", "local", "", label="model", state="running"))
        app.transcript.stream("a", "right")
        shown = await until_shown(pilot, "right")

        assert "wrong" not in "".join(shown) and "more" not in "".join(shown)


async def test_blocks_are_taken_out_below_and_above_what_is_read() -> None:
    app = Stage(*messages(8))
    async with app.run_test(size=(60, 20)) as pilot:
        app.transcript.focus()
        await pilot.press("home", *["pagedown"] * 3)
        shown = screen(app.transcript)
        assert not app.transcript.is_following
        app.transcript.stream("m7", "late")
        app.transcript.take_out({"m0", "m7"})
        await pilot.pause()

        assert screen(app.transcript) == shown
        assert [block.key for block in app.transcript.blocks] == ["m1", "m2", "m3", "m4", "m5", "m6"]
        app.transcript.replace(Block("m6", "notice", "the last"))
        await pilot.press("end")
        assert screen(app.transcript)[-1] == "! the last"
        app.transcript.take_out({block.key for block in app.transcript.blocks})
        assert set(screen(app.transcript)) == {""}


async def test_clearing_leaves_an_empty_transcript_that_follows() -> None:
    app = Stage(*messages(20))
    async with app.run_test(size=(60, 20)) as pilot:
        app.transcript.focus()
        await pilot.press("home")
        app.transcript.stream("m1", "late")
        app.transcript.clear()
        await pilot.pause()

        assert set(screen(app.transcript)) == {""}
        assert app.transcript.is_following
        app.transcript.append(Block("m1", "notice", "again"))
        assert screen(app.transcript)[0] == "! again"


class Watched(Transcript):
    """Records what it asks to be painted again."""

    def __init__(self, *blocks: Block) -> None:
        self.regions: list[Region] = []
        self.layouts = 0
        super().__init__(blocks)

    def refresh(
        self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False
    ) -> Self:
        self.regions += regions
        self.layouts += layout
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)


class WatchedStage(Stage):
    def compose(self) -> ComposeResult:
        yield Watched(*self.starting)

    @property
    def transcript(self) -> Watched:
        return self.query_one(Watched)


async def test_only_rows_that_changed_are_painted_and_nothing_is_laid_out() -> None:
    app = WatchedStage(
        Block("a", "user", "one\ntwo"), Block("b", "local", "text", label="model", state="running")
    )
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        app.transcript.regions.clear()
        app.transcript.layouts = 0
        app.transcript.stream("b", " and more")
        await until_shown(pilot, "and more")

        assert app.transcript.regions == [Region(0, 5, 60, 1)]
        app.transcript.stream("b", "\n\nmore rows" * 30)
        await until_shown(pilot, "more rows")
        assert app.transcript.layouts == 0


async def test_no_timer_runs_when_nothing_moves() -> None:
    app = Stage(Block("b", "local", "text", label="model", state="running"))
    async with app.run_test(size=(60, 20)) as pilot:
        app.transcript.stream("b", " more")
        await until_shown(pilot, "more")
        app.transcript.stream("b", " still")
        await until_shown(pilot, "still")
        await pilot.pause(0.06)

        assert not [timer for timer in app.transcript._timers if timer._task and not timer._task.done()]


async def test_removed_transcripts_are_freed() -> None:
    app = Stage()
    references = []
    async with app.run_test(size=(60, 20)) as pilot:
        for _ in range(4):
            extra = Transcript(messages(3))
            await app.mount(extra)
            extra.stream("m1", "more")
            await pilot.pause()
            references.append(weakref.ref(extra))
            await extra.remove()
            del extra
        await pilot.pause(0.1)
        gc.collect()

        # Textual itself keeps the last widget that was removed until the next layout.
        assert [reference() for reference in references[:-1]] == [None, None, None]


async def test_going_to_a_message_unfolds_it_chooses_it_and_shows_the_line() -> None:
    call = Block(
        "c", "call", "ls", label="shell", detail="\n".join(f"file {n}" for n in range(90)), folded=True
    )
    app = Stage(*messages(40), call, *(replace(each, key=f"{each.key}b") for each in messages(40)))
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        app.transcript.go_to("m3", ANSWER.index("one"))
        assert any("one" in line for line in screen(app.transcript))
        assert not app.transcript.is_following
        app.transcript.go_to("c", call.detail.index("file 70"))
        assert "┃ file 70" in screen(app.transcript)
        assert app.transcript.cursor == 40
        app.transcript.go_to("m0")
        assert screen(app.transcript)[0].endswith(" You")
        with pytest.raises(KeyError):
            app.transcript.go_to("nowhere")


async def test_one_goes_from_prompt_to_prompt() -> None:
    app = Stage(*messages(6))
    async with app.run_test(size=(60, 20)) as pilot:
        app.transcript.focus()
        await pilot.pause()
        places = []
        for key in ("K", "K", "K", "K", "J", "J"):
            await pilot.press(key)
            places.append((app.transcript.cursor, screen(app.transcript)[0][2:]))
        assert places == [(4, "You"), (2, "You"), (0, "You"), (0, "You"), (2, "You"), (4, "You")]
        assert not app.transcript.is_following
        await pilot.press("J")
        assert app.transcript.is_following


async def test_all_thinking_and_output_is_folded_and_unfolded_at_once() -> None:
    calls = [Block(f"c{n}", "call", "ls", label="shell", detail="one\ntwo", folded=n == 0) for n in range(2)]
    app = Stage(Block("t", "thinking", "Hm.\nSo."), *calls, Block("a", "local", "one\n\ntwo", label="x"))
    async with app.run_test(size=(60, 30)) as pilot:
        app.transcript.focus()
        await pilot.press("f")
        folded = screen(app.transcript)
        assert [line for line in folded if line.startswith("▸")] == [
            "▸ Thinking Hm. So. · 7 characters",
            "▸ shell ls · 2 lines",
            "▸ shell ls · 2 lines",
        ]
        assert "  two" in folded
        await pilot.press("f")
        assert screen(app.transcript).count("│ two") == 2
