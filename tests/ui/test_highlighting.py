"""Markdown in the prompt, as it is written."""

import pytest
from textual.pilot import Pilot

from milk_tui.ui.widgets.prompt import Prompt
from milk_tui.ui.widgets.written import LONGEST, fenced, spans
from tests.ui.playing import Stage, on_stage
from tests.ui.scenes import chat


def parts(line: str) -> list[tuple[str, str]]:
    return [(line[start:end], kind) for start, end, kind in spans(line, False)]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("## What for", [("## What for", "heading")]),
        ("#hashtag and C# ", []),
        ("- [ ] do `it`", [("-", "mark"), ("`it`", "code")]),
        ("  12. **twelve** 2 ** 3", [("  12.", "mark"), ("**twelve**", "bold")]),
        ("> quoted", [(">", "mark")]),
        ("-1 is less than 1.5", []),
        ("``a ` b`` and `**c**` and `d", [("``a ` b``", "code"), ("`**c**`", "code")]),
        ('see @src/a.py and @"b c.txt", not me@here', [("@src/a.py", "mention"), ('@"b c.txt"', "mention")]),
        ("x" * LONGEST + " `a`", []),
    ],
)
def test_what_stands_out_in_a_line(line: str, wanted: list[tuple[str, str]]) -> None:
    assert parts(line) == wanted


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        (["a", "```py", "b", "```", "c"], [False, True, True, True, False]),
        (["```", "~~~", "````", "c"], [True, True, True, False]),
        (["~~~~", "~~~", "``` ", "b"], [True, True, True, True]),
        (["```a```", "```py", "``` no end", "b"], [False, True, True, True]),
    ],
)
def test_lines_are_code_from_a_fence_to_the_one_that_closes_it(lines: list[str], code: list[bool]) -> None:
    assert fenced(lines) == code


def colours(pilot: Pilot[None], text: str) -> set[object]:
    """The colours in which this text is drawn in the prompt."""
    prompt = chat(pilot).prompt
    rows = [prompt.render_line(row) for row in range(prompt.size.height)]
    segments = [segment for row in rows if text in row.text for segment in row]
    return {segment.style.color for segment in segments if segment.style and text in segment.text}


def style(prompt: Prompt, kind: str) -> object:
    return prompt.get_component_rich_style(f"written--{kind}", partial=True).color


async def test_a_fence_that_is_typed_or_undone_changes_the_lines_below_it() -> None:
    async with on_stage(Stage()) as pilot:
        prompt = chat(pilot).prompt
        prompt.write("\nx = 1\n`y` is not code")
        prompt.move_cursor((0, 0))
        await pilot.pause()
        plain = colours(pilot, "x = 1")
        assert colours(pilot, "`y`") == {style(prompt, "code")} != plain
        await pilot.press(*["grave_accent"] * 3)
        assert prompt.document[0] == "```"
        assert colours(pilot, "x = 1") == colours(pilot, "is not code") == {style(prompt, "code")}
        await pilot.press("ctrl+z")
        assert colours(pilot, "x = 1") == colours(pilot, "is not code") == plain


async def test_rows_that_stay_are_drawn_anew_in_another_theme_and_width() -> None:
    async with on_stage(Stage()) as pilot:
        prompt = chat(pilot).prompt
        prompt.write(f"see `that` {'word ' * 30}\nend")
        await pilot.pause()
        before = colours(pilot, "`that`")
        pilot.app.theme = "textual-light"
        await pilot.pause()
        assert colours(pilot, "`that`") == {style(prompt, "code")} != before
        await pilot.resize_terminal(60, 36)
        await pilot.pause()
        assert prompt.render_line(0).cell_length == prompt.size.width


async def test_a_command_is_no_markdown() -> None:
    async with on_stage(Stage()) as pilot:
        prompt = chat(pilot).prompt
        prompt.write("!echo `date`\nend")
        await pilot.pause()
        assert colours(pilot, "date") and style(prompt, "code") not in colours(pilot, "date")
