import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.pilot import Pilot
from textual.screen import Screen

from milk_tui.ui.styling import stylesheets, theme_tokens
from milk_tui.ui.widgets.completion import CompletionList
from milk_tui.ui.widgets.keystrokes import BrokenReport
from milk_tui.ui.widgets.prompt import Prompt
from milk_tui.ui.widgets.prompt_box import PromptBox

COMMANDS = (
    ("help", "Keys [r and commands"),
    ("model", "Choose [/tmp/x]"),
    ("models", "List"),
    ("need", "Say it"),
)
LARGE = "first words\n" + "filling " * 620 + "lastword"
FOREIGN = ("path [/tmp/x]", "[r", "[type=e, v={'a[0]'}]", '{"b": [true, false]}')


class ChatLike(Screen[None]):
    CSS = "ChatLike { align-vertical: bottom; }"
    BINDINGS = [
        Binding("escape", "note('escape')"),
        Binding("shift+tab", "note('shift+tab')"),
        Binding("alt+g", "note('alt+g')"),
        Binding("ctrl+g", "note('ctrl+g')"),
        Binding("ctrl+c", "note('ctrl+c')"),
    ]

    def compose(self) -> ComposeResult:
        yield PromptBox(Prompt(COMMANDS, placeholder="Ask"))

    def action_note(self, what: str) -> None:
        assert isinstance(self.app, PromptApp)
        self.app.noted.append(what)


class PromptApp(App[None]):
    CSS_PATH = [str(path) for path in stylesheets()]

    def __init__(self) -> None:
        super().__init__()
        self.noted: list[str] = []
        self.sent: list[str] = []
        self.chars = 0

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return theme_tokens(self.current_theme)

    def on_mount(self) -> None:
        self.push_screen(ChatLike())

    @property
    def prompt(self) -> Prompt:
        return self.screen.query_one(Prompt)

    def on_prompt_submitted(self, message: Prompt.Submitted) -> None:
        self.sent.append(message.text)

    def on_prompt_changed(self, message: Prompt.Changed) -> None:
        self.chars = message.chars

    def on_prompt_history_requested(self, message: Prompt.HistoryRequested) -> None:
        self.noted.append(f"history {message.direction}")

    def on_prompt_scroll_requested(self, message: Prompt.ScrollRequested) -> None:
        self.noted.append(message.step)

    def key(self, key: str, character: str | None = None, at: float | None = None) -> None:
        """Let the terminal send a key, at a time of its own if one is given."""
        event = events.Key(key, character)
        event.set_sender(self)
        event.time = event.time if at is None else at
        self.post_message(event)

    def burst(self, text: str) -> None:
        """Let the terminal send a text as keys, all at once and without paste marks."""
        for character in text:
            self.key("enter" if character == "\n" else character, "\r" if character == "\n" else character)


@asynccontextmanager
async def running(size: tuple[int, int] = (80, 24)) -> AsyncIterator[tuple[PromptApp, Pilot[None]]]:
    app = PromptApp()
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        app.prompt.focus()
        await pilot.pause()
        yield app, pilot


async def until(pilot: Pilot[None], is_so: Callable[[], bool]) -> None:
    """Wait for a condition, five seconds at most."""
    deadline = time.monotonic() + 5
    while not is_so():
        assert time.monotonic() < deadline, "it did not come"
        await pilot.pause(0.01)


# Sending and breaking lines


async def test_enter_sends_the_text_and_leaves_it_in_the_prompt() -> None:
    async with running() as (app, pilot):
        await pilot.press(*"hi [r", "enter")
        await until(pilot, lambda: app.sent == ["hi [r"])
        assert app.prompt.text == "hi [r"


async def test_enter_sends_nothing_when_there_is_only_white_space() -> None:
    async with running() as (app, pilot):
        await pilot.press("space", "enter", "enter")
        await pilot.pause(0.1)
        assert app.sent == []


@pytest.mark.parametrize("keys", [["ctrl+j"], ["shift+enter"], ["alt+enter"], ["\\", "enter"]])
async def test_a_line_is_broken_without_sending(keys: list[str]) -> None:
    async with running() as (app, pilot):
        await pilot.press("a", *keys)
        await until(pilot, lambda: app.prompt.text == "a\n")
        await pilot.press("b")
        assert app.prompt.text == "a\nb"
        assert app.sent == []


async def test_a_backslash_away_from_the_cursor_does_not_break_the_line() -> None:
    async with running() as (app, pilot):
        await pilot.press("\\", "a", "enter")
        await until(pilot, lambda: app.sent == ["\\a"])


# What arrives faster than it can be typed


async def test_a_paste_of_three_lines_is_not_sent() -> None:
    async with running() as (app, pilot):
        app.post_message(events.Paste("one\r\ntwo\rthree\n"))
        await pilot.pause(0.1)
        assert app.prompt.text == "one\ntwo\nthree\n"
        assert app.sent == []


@pytest.mark.parametrize("text", ["one\ntwo\nthree", "a \\\n\tb\n", "\n\nfirst\n", "/h\n/m\n"])
async def test_lines_without_paste_marks_are_not_sent_and_not_changed(text: str) -> None:
    async with running() as (app, pilot):
        app.burst(text.replace("\t", " "))
        await pilot.pause(0.2)
        assert app.prompt.text == text.replace("\t", " ")
        assert app.sent == []


async def test_enter_after_a_burst_sends_all_of_it() -> None:
    async with running() as (app, pilot):
        app.burst("one\ntwo")
        await pilot.pause(0.1)
        await pilot.press("enter")
        await until(pilot, lambda: app.sent == ["one\ntwo"])


async def test_a_line_that_is_delivered_late_still_belongs_to_the_burst() -> None:
    async with running() as (app, pilot):
        app.burst("one\n")
        sent_by_the_terminal = time.monotonic()
        for _ in range(20):  # no time passes, and the keys so far arrive
            await asyncio.sleep(0)
        time.sleep(0.1)  # the app is busy with something else
        app.key("t", "t", at=sent_by_the_terminal)
        await pilot.pause(0.2)
        assert (app.prompt.text, app.sent) == ("one\nt", [])


async def test_editing_keys_keep_their_place_among_letters_typed_without_a_pause() -> None:
    async with running() as (app, pilot):
        for key in ("a", "b", "backspace", "c", "ctrl+j", "d", "left", "e"):
            app.key(key, key if len(key) == 1 else None)
        await until(pilot, lambda: app.prompt.text == "ac\ned")


async def test_what_is_pasted_holds_no_control_sequences() -> None:
    async with running() as (app, pilot):
        app.post_message(events.Paste("see \x1b]52;c;ZXZpbA==\x07this\x1b[2J\x9b2J \ufdd0and"))
        await until(pilot, lambda: app.prompt.text == "see this and")


@pytest.mark.parametrize("text", FOREIGN)
async def test_markup_is_text(text: str) -> None:
    async with running() as (app, pilot):
        app.post_message(events.Paste(text))
        await pilot.pause()
        await pilot.press("enter")
        await until(pilot, lambda: app.sent == [text])


async def test_pieces_of_a_broken_mouse_report_are_not_left_in_the_text() -> None:
    async with running() as (app, pilot):
        await pilot.press("x")
        app.burst("[<")
        await pilot.pause(0.1)
        app.burst("65;59;28M")
        await until(pilot, lambda: app.prompt.text == "x")


def test_a_report_typed_by_hand_stays() -> None:
    report = BrokenReport()
    assert sum(report.feed(character, place / 10) for place, character in enumerate("[<65;59;28M")) == 0


def test_a_report_cut_off_by_the_next_one_goes_as_it_comes() -> None:
    report = BrokenReport()
    assert [report.feed(character, 0.0) for character in "^[<65;5"] == [0, 0, 0, 0, 0, 6, 1]


@pytest.mark.parametrize("text", ["List[<int>]", "[<65;59;28", "^[<>]", "[<1;2;3x"])
def test_text_that_only_begins_like_a_report_stays(text: str) -> None:
    report = BrokenReport()
    assert sum(report.feed(character, 0.0) for character in text) == 0


# Keys of the screen


async def test_escape_shift_tab_and_chords_reach_the_screen() -> None:
    async with running() as (app, pilot):
        await pilot.press("escape", "shift+tab", "ctrl+g", "ctrl+c")
        app.key("alt+g", "g")
        await until(pilot, lambda: app.noted == ["escape", "shift+tab", "ctrl+g", "ctrl+c", "alt+g"])


@pytest.mark.parametrize("key", ["alt+x", "alt+shift+x", "super+x"])
async def test_a_chord_that_nobody_binds_types_nothing(key: str) -> None:
    async with running() as (app, pilot):
        app.key(key, "x")
        await pilot.pause(0.05)
        assert app.prompt.text == ""


async def test_scrolling_keys_ask_for_the_transcript() -> None:
    async with running() as (app, pilot):
        await pilot.press("pageup", "pagedown", "ctrl+home", "ctrl+end")
        assert app.noted == ["page_up", "page_down", "home", "end"]


async def test_history_is_asked_for_only_at_the_edge_of_the_text() -> None:
    async with running(size=(30, 24)) as (app, pilot):
        app.prompt.paste("one line that wraps into two rows\nlast")
        await pilot.press("up", "up")
        assert app.noted == []
        await pilot.press("up")
        assert app.noted == ["history -1"]
        await pilot.press("down", "down", "down")
        assert app.noted == ["history -1", "history 1"]


async def test_the_prompt_grows_with_its_text_up_to_a_third_of_the_screen() -> None:
    async with running(size=(80, 30)) as (app, pilot):
        heights = []
        for lines in (1, 4, 30):
            app.prompt.write("\n".join("x" * lines))
            await pilot.pause(0.05)
            heights.append(app.prompt.size.height)
        assert heights[:2] == [1, 4]
        assert 8 <= heights[2] <= 10


# Large pastes


async def test_a_large_paste_is_shown_as_a_label_and_sent_in_full() -> None:
    async with running() as (app, pilot):
        await pilot.press("a")
        app.post_message(events.Paste(LARGE))
        await pilot.pause()
        await pilot.press("b", "enter")
        await until(pilot, lambda: app.sent == [f"a{LARGE}b"])
        assert "[pasted 4,980 characters, 2 lines #1]" in _shown(app.prompt)
        assert app.prompt.size.height == 1


async def test_a_paste_of_many_short_lines_is_folded_too() -> None:
    async with running() as (app, _):
        app.prompt.paste("x\n" * 40)
        assert app.prompt.document.line_count == 1
        app.prompt.write("x\n" * 39)
        assert app.prompt.document.line_count == 40


async def test_the_length_counts_large_pastes_in_full() -> None:
    async with running() as (app, pilot):
        app.post_message(events.Paste(LARGE))
        await pilot.press("b")
        await until(pilot, lambda: app.chars == len(LARGE) + 1)


@pytest.mark.parametrize(
    "keys", [["backspace"], ["left", "delete"], ["ctrl+w"], ["left", "shift+right", "delete"], ["ctrl+u"]]
)
async def test_a_label_goes_whole_and_comes_back_whole(keys: list[str]) -> None:
    async with running() as (app, pilot):
        app.prompt.paste(LARGE)
        await pilot.press(*keys)
        assert app.prompt.text == ""
        await pilot.press("ctrl+z")
        assert app.prompt.full_text == LARGE


async def test_the_cursor_never_stands_inside_a_label() -> None:
    async with running() as (app, pilot):
        await pilot.press("a")
        app.prompt.paste(LARGE)
        await pilot.press("b", "left", "left", "x", "right", "y")
        assert app.prompt.full_text == f"ax{LARGE}yb"
        await pilot.click(Prompt, offset=(10, 0))
        await pilot.press("z")
        assert app.prompt.full_text in (f"axz{LARGE}yb", f"ax{LARGE}zyb")


async def test_a_label_typed_by_hand_is_no_paste() -> None:
    async with running() as (app, pilot):
        app.prompt.paste(LARGE)
        label = _shown(app.prompt).strip()
        await pilot.press("enter")
        app.prompt.clear()
        await pilot.press(*label, "enter")
        await until(pilot, lambda: app.sent == [LARGE, label])


async def test_a_cut_label_is_pasted_as_the_text_it_stands_for() -> None:
    async with running() as (app, pilot):
        app.prompt.paste(LARGE)
        await pilot.press("f7", "ctrl+x")
        assert (app.prompt.text, app.clipboard) == ("", LARGE)
        await pilot.press("ctrl+v", "ctrl+v")
        assert app.prompt.full_text == LARGE * 2


async def test_a_draft_is_put_back_as_it_was() -> None:
    async with running() as (app, pilot):
        app.prompt.paste(LARGE)
        await pilot.press("a")
        draft = app.prompt.draft
        app.prompt.write("something else")
        app.prompt.restore(draft)
        assert app.prompt.full_text == f"{LARGE}a"
        app.prompt.paste(LARGE)
        assert app.prompt.full_text == f"{LARGE}a{LARGE}"


async def test_clearing_cannot_be_undone() -> None:
    async with running() as (app, pilot):
        app.prompt.paste(LARGE)
        app.prompt.clear()
        await pilot.press("ctrl+z")
        assert app.prompt.full_text == ""


async def test_a_paste_of_a_megabyte_keeps_the_editor_small() -> None:
    async with running() as (app, pilot):
        app.post_message(events.Paste("x" * 1_000_000))
        await pilot.press("a")
        assert len(app.prompt.text) < 60
        assert app.chars == 1_000_001


# Commands


async def test_a_slash_offers_commands_and_tab_completes_the_chosen_one() -> None:
    async with running() as (app, pilot):
        await pilot.press("/", "m", "down")
        assert "/models" in app.screen.query_one(CompletionList).render().plain
        await pilot.press("tab")
        assert app.prompt.text == "/models "
        assert app.prompt.completion is None
        assert app.sent == []


async def test_enter_completes_a_beginning_and_sends_a_whole_command() -> None:
    async with running() as (app, pilot):
        await pilot.press("/", "n", "enter")
        await until(pilot, lambda: app.prompt.text == "/need ")
        assert app.sent == []
        app.prompt.clear()
        await pilot.press(*"/model", "enter")
        await until(pilot, lambda: app.sent == ["/model"])


async def test_escape_closes_the_list_once_and_then_belongs_to_the_screen() -> None:
    async with running() as (app, pilot):
        await pilot.press("/", "escape")
        assert (app.prompt.completion, app.noted) == (None, [])
        await pilot.press("m", "escape")
        assert (app.prompt.completion, app.noted) == (None, ["escape"])
        await pilot.press("backspace", "backspace", "/")
        assert app.prompt.completion is not None


@pytest.mark.parametrize("text", ["a/", " /", "/need x", "/nothing", "//"])
async def test_other_text_offers_no_commands(text: str) -> None:
    async with running() as (app, pilot):
        await pilot.press(*(key if key != " " else "space" for key in text))
        assert app.prompt.completion is None


async def test_a_click_takes_a_command() -> None:
    async with running() as (app, pilot):
        await pilot.press("/")
        await pilot.click(CompletionList, offset=(4, 1))
        await until(pilot, lambda: app.prompt.text == "/model ")


def _shown(prompt: Prompt) -> str:
    return prompt.render_line(0).text
