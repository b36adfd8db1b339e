"""What the terminal itself shows: the window's title, and a word when nobody looks."""

from collections.abc import Mapping

import pytest
from textual.pilot import Pilot

from milk_tui.agents.scripted import Pause, Use
from milk_tui.core.events import TextDelta
from milk_tui.core.messages import ToolCall
from milk_tui.core.permission import Question
from milk_tui.ui.screens.signalling import Way, notification, title, way_of
from tests.ui.playing import Stage, done, on_stage, say
from tests.ui.scenes import chat, until

CALL = ToolCall(id="1", name="write_file", arguments="{}")
ASKED = Question(tool="write_file", arguments="{}", call_id="1")
ANSWER = (TextDelta(text="An answer."),)


def listen(pilot: Pilot[None]) -> list[str]:
    """Everything that goes to the terminal besides the picture, from now on."""
    heard: list[str] = []
    driver = pilot.app._driver
    assert driver is not None
    driver.write = heard.append  # type: ignore[method-assign,assignment]
    return heard


async def test_the_title_says_what_the_session_is_about_and_whether_it_works_or_asks() -> None:
    stage = Stage([(Pause(1.0), Use(CALL, "ok", question=ASKED), *ANSWER)])
    async with on_stage(stage) as pilot:
        heard = listen(pilot)
        await say(pilot, "Count \x1b]2;evil\x07 the stars")
        await until(pilot, lambda: any("● Count" in each for each in heard), "it works")
        stage.gate.open()
        await until(pilot, lambda: any("\x1b]2;? Count" in each for each in heard), "it asks")
        await pilot.press("escape")
        await done(pilot, 1)
        titles = [each for each in heard if each.startswith("\x1b]2;")]
        assert titles[-1].startswith("\x1b]2;Count")
        assert all(each.count("\x1b") == 1 and each.count("\x07") == 1 for each in titles)


@pytest.mark.parametrize(
    ("seconds", "is_away", "wish", "is_told"),
    [
        (0.0, True, "osc9", True),
        (0.0, False, "osc9", False),
        (60.0, True, "osc9", False),
        (0.0, True, "off", False),
    ],
)
async def test_the_end_of_a_long_turn_is_told_to_somebody_who_looks_elsewhere(
    seconds: float, is_away: bool, wish: Way, is_told: bool
) -> None:
    stage = Stage([ANSWER])
    async with on_stage(stage) as pilot:
        stage.bench.settings = stage.bench.settings.model_copy(
            update={"notify": wish, "notify_after_seconds": seconds}
        )
        heard = listen(pilot)
        pilot.app.app_focus = not is_away
        chat(pilot).converse(stage.talk.send("Hello"), "Hello")
        await done(pilot, 1)
        await until(pilot, lambda: heard != [], "the title has come")
        assert any(each.startswith("\x1b]9;") and "has answered: Hello" in each for each in heard) == is_told


@pytest.mark.parametrize(
    ("environ", "way"),
    [
        ({"TERM_PROGRAM": "iTerm.app"}, "osc9"),
        ({"TERM": "xterm-kitty"}, "osc9"),
        ({"VTE_VERSION": "7600"}, "osc777"),
        ({"TERM": "foot-extra"}, "osc777"),
        ({"TERM": "xterm-256color"}, "bell"),
        ({"TERM_PROGRAM": "WezTerm", "TMUX": "/tmp/tmux"}, "bell"),
        ({}, "bell"),
    ],
)
def test_the_terminal_is_told_in_a_way_that_it_knows(environ: Mapping[str, str], way: Way) -> None:
    assert way_of(environ) == way


@pytest.mark.parametrize("way", ["osc9", "osc777"])
def test_no_text_ends_the_sequence_that_carries_it(way: Way) -> None:
    evil = "a\x07b\x1b\\c\x9cd\x1b]52;c;aGk=\x07\ne"
    assert notification(evil, way).count("\x07") == 1 and notification(evil, way).count("\x1b") == 1
    assert title(evil).count("\x07") == 1 and title(evil).count("\x1b") == 1
    assert "\n" not in notification(evil, way) + title(evil)
