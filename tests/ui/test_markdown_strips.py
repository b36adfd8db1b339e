"""Markdown and literal text to rows and strips."""

import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style
from wcwidth import wcswidth

from milk_tui.ui.markdown.highlight import highlight
from milk_tui.ui.markdown.literal import render_literal
from milk_tui.ui.markdown.palette import Palette, select
from milk_tui.ui.markdown.pieces import Piece, split
from milk_tui.ui.markdown.render import render_markdown
from milk_tui.ui.markdown.rows import Row, clean, wrap
from tests.ui.markdown_samples import drawn, mixed, picture, texts


def palette() -> Palette:
    return Palette(Style(), lambda name: Style(bold=True))


def without_joiners(text: str) -> str:
    """A joiner with nothing to join is no writing, and no two terminals agree on it."""
    return text.replace("\u200d", "")


@settings(deadline=None, max_examples=250)
@given(mixed | texts.map(without_joiners), st.integers(17, 300))
def test_whatever_is_written_the_border_stays_where_it_is(source: str, width: int) -> None:
    rows = [
        *drawn(split(source, Piece(0)), source, width),
        *render_literal(source, width, chop=len(source) % 2 == 0),
    ]
    colours = palette()

    for row in rows:
        strip = colours.strip(row, ("▌ ", "user"), width + 3)
        assert wcswidth(strip.text) == strip.cell_length == width + 3


@settings(deadline=None, max_examples=150)
@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=200) | texts, st.integers(17, 60))
def test_no_control_character_reaches_the_screen(source: str, width: int) -> None:
    shown = [
        row.text for row in drawn(split(source, Piece(0)), source, width) + render_literal(source, width)
    ]

    assert not [
        char for text in shown for char in text if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")
    ]


@settings(deadline=None, max_examples=150)
@given(st.text(alphabet="abcxyz012<>/ {}:;,.?\n漢字é👧", max_size=300), st.integers(17, 60))
def test_all_that_is_not_markdown_is_visible(source: str, width: int) -> None:
    shown = [char for char in picture(source, width) if not char.isspace()]

    # Numbers and quote marks at the start of a line are Markdown; all other characters stay.
    for char in "abcxyz</{};,?漢字é👧":
        assert shown.count(char) == source.count(char)


def test_angle_brackets_and_html_stay_text() -> None:
    assert (
        picture("use <name> and List<int>\n\n<div>hello</div>")
        == "use <name> and List<int>\n\n<div>hello</div>"
    )


def test_formulas_keep_their_backslashes_and_stars() -> None:
    source = r"so \(a*b*c\) and $x_1 * y * z$ cost $5 or $10 \[ \frac{1}{2} \]"

    assert picture(source, 100) == source


def test_definitions_of_references_stay_visible() -> None:
    assert picture("[text][1]\n\n[1]: http://x.y") == "[text][1]\n\n[1]: http://x.y"


def test_a_link_shows_its_address_only_where_the_text_does_not() -> None:
    assert (
        picture("[a](http://x.y/ü) <http://z.w> [http://q](http://q)")
        == "a (http://x.y/ü) http://z.w http://q"
    )


def test_no_link_is_ever_handed_to_the_terminal() -> None:
    row = render_markdown("[a](http://x.y)", Piece(0).context, 40)[0]

    assert all(
        segment.style is None or not segment.style.link for segment in palette().strip(row, ("", ""), 40)
    )


def test_cells_for_which_a_table_has_no_column_are_shown() -> None:
    assert "surplus" in picture("| a |\n|---|\n| 1 | surplus |")


def test_a_table_that_is_too_wide_becomes_a_list() -> None:
    source = "| one | two | three | four |\n|-|-|-|-|\n| 1 | 2 | 3 | 4 |"

    assert picture(source, 17).split("\n")[:2] == ["one: 1", "two: 2"]


def test_columns_align_by_cells_and_not_by_characters() -> None:
    lines = picture("| 漢字 | b |\n|---|---|\n| x | y |").split("\n")

    assert [cell_len(line.split("│")[0]) for line in (lines[0], lines[2])] == [5, 5]


def test_code_is_coloured_and_unknown_languages_are_plain() -> None:
    def styles(language: str) -> set[str]:
        return {
            style
            for row in render_markdown(f"```{language}\ndef f(): pass\n```", Piece(0).context, 60)
            for _, style in row.runs
        }

    assert "fence keyword" in styles("python")
    assert "fence keyword" not in styles("no-such-language")


@pytest.mark.parametrize(
    "languages",
    [
        "python py python3 pycon javascript js jsx mjs typescript ts tsx java kotlin kt scala groovy gradle",
        "c h cpp c++ cc hpp objective-c csharp c# cs fsharp vb go golang rust rs swift zig dart ruby rb perl",
        "php lua r julia matlab haskell hs elixir erlang clojure lisp scheme ocaml ml prolog fortran nasm wasm",
        "bash sh shell zsh fish console shell-session shellsession terminal bat cmd powershell ps1 pwsh",
        "html xml svg css scss sass less json jsonc json5 jsonl yaml yml toml ini properties env hcl terraform",
        "nix dockerfile containerfile makefile make mk cmake sql mysql postgresql pgsql sqlite graphql gql",
        "protobuf proto solidity sol latex tex markdown md rst diff patch http nginx vim vimscript glsl vue svelte",
        "{.python python:main.py main.py py{1,3} Python JSON",
    ],
    ids=lambda languages: languages.split()[0],
)
def test_code_of_every_common_language_is_coloured(languages: str) -> None:
    code = (
        'x = 1  # "one"\n<a b="c">// two</a>\n$ ls {"a": [1, true]}\n@@ -1 +1 @@\n- three\n\\begin{x} -- y %z'
    )

    own = {"pycon": ">>> x = 1\n1", "http": "GET / HTTP/1.1\nHost: a\n"}
    for language in languages.split():
        styles = {style for line in highlight(own.get(language, code), language) for _, style in line}
        assert styles - {""}, language


@pytest.mark.parametrize("language", ["", "text", "txt", "plaintext", "output", "no-such-thing", "```", "…"])
def test_code_of_no_language_stays_plain_and_whole(language: str) -> None:
    assert highlight("x = 1\n\n# y", language) == [[("x = 1", "")], [], [("# y", "")]]


def test_wrapped_text_is_joined_again_as_it_was() -> None:
    for text in ("the quick  brown fox jumps", "漢字漢字 漢字 mixed 漢字 words", "averyveryverylongword"):
        parts = wrap([(text, "")], 9)

        joined = "".join(
            (part.join if number else "") + "".join(run for run, _ in part.runs)
            for number, part in enumerate(parts)
        )
        assert joined.split() == text.split()
        assert max(part.cells for part in parts) <= 9


def test_a_joined_emoji_is_never_cut() -> None:
    family = "👩\u200d👩\u200d👧"

    for part in wrap([(family * 5, "")], 5):
        assert "".join(text for text, _ in part.runs).count("👩\u200d👩\u200d👧") * len(family) == len(
            part.runs[0][0]
        )


def test_escape_sequences_become_harmless() -> None:
    assert clean("a\x1b]52;c;ZQ==\x07b\x9b2J\r\n\u202ec") == "a␛]52;c;ZQ==␇b\ufffd2J\nc"


def test_selecting_part_of_a_row_changes_no_text() -> None:
    row = Row((("abc", "x"), ("def", "y")), 6)

    assert select(row, 1, 5).runs == (("a", "x"), ("bc", "x selected"), ("de", "y selected"), ("f", "y"))


def test_the_parser_and_the_highlighter_are_not_imported_with_the_widget() -> None:
    code = (
        "import sys, milk_tui.ui.widgets.transcript\n"
        "found = {'markdown_it', 'pygments'} & set(sys.modules)\n"
        "sys.exit(str(found) if found else 0)"
    )

    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stderr == ""
    )


def test_warming_up_imports_what_the_first_answer_needs() -> None:
    code = (
        "import sys\n"
        "from milk_tui.ui.markdown.render import warm_up\n"
        "warm_up()\n"
        "sys.exit(not {'markdown_it', 'pygments.lexers.python', 'pygments.lexers.shell'} <= set(sys.modules))"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
