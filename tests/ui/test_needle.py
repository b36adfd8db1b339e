"""Looking for a text: what is the same text, and where it is."""

from unicodedata import normalize

from hypothesis import given, settings
from hypothesis import strategies as st

from milk_tui.ui.widgets.block_view import BlockView
from milk_tui.ui.widgets.blocks import Block
from milk_tui.ui.widgets.hits import count, hits, pieces_with
from milk_tui.ui.widgets.needle import Needle
from tests.ui.markdown_samples import LINES, documents


def seen(view: BlockView, needle: Needle) -> list[str]:
    """What is marked, piece by piece."""
    marked = []
    for piece in pieces_with(view, needle):
        rows = view.rows(piece)
        marked += [
            "".join(rows[part.row].text[part.start : part.end] for part in hit)
            for hit in hits(view, piece, needle)
        ]
    return marked


def found(needle: str, source: str, width: int = 40) -> list[str]:
    view = BlockView(Block("a", "local", source), 0, width)
    assert count(view, Needle(needle)) == len(seen(view, Needle(needle)))
    return seen(view, Needle(needle))


def test_case_does_not_matter_in_any_script() -> None:
    for needle, text in (
        ("straße", "STRASSE"),
        ("STRASSE", "straße"),
        ("ΟΔΟΣ", "οδός οδος"),
        ("привет", "ПРИВЕТ"),
        ("漢字", "x漢字y"),
        ("שלום", "שלום"),
        ("ไทย", "ภาษาไทย"),
        ("한", "한국"),
        ("ﬁ", "FINE"),
        ("İ", "i̇"),
    ):
        (span,) = Needle(needle).spans(text)
        assert span[1] > span[0], needle


def test_accents_count_as_they_are_typed_however_they_are_encoded() -> None:
    assert Needle("resume").spans("résumé") == []
    assert Needle("e").spans("é e\u0301 e") == [(5, 6)]
    for form in ("NFC", "NFD"):
        (span,) = Needle(normalize("NFC", "é")).spans(normalize(form, "aéb"))
        assert normalize(form, "aéb")[slice(*span)] == normalize(form, "é")


def test_a_phrase_is_found_through_the_marks_that_markdown_hides() -> None:
    assert found("the budget is", "Counted: the **budget** is `what` counts") == ["the budget is"]
    assert found("is what counts", "the **budget** is `what` _counts_") == ["is what counts"]
    assert found("old", "**b**old and ~~o~~ld") == ["old", "old"]


def test_marks_that_are_not_seen_are_not_found() -> None:
    assert found("*", "**bold** and `*`") == ["*"]
    assert found("_", "_it_ and snake_case") == ["_"]
    assert found("testcheckout", "test_checkout") == []
    assert found("ab", "```\na*b ab\n```\na*b*c ab") == ["ab", "abc"[:2], "ab"]


def test_a_hit_goes_on_over_the_rows_that_the_width_has_made() -> None:
    assert found("one two three four", "zero one two three four five", 9) == ["onetwo threefour"]
    assert found("漢字漢字", "x漢字漢字漢字", 5) == ["漢字漢字"]
    assert found("aaaaaa", f"```\n{'b' * 7}{'a' * 6}\n```", 12) == ["aaaaaa"]


def test_cells_headings_items_and_code_are_found() -> None:
    source = "# Word\n\n- a word\n  - **word**\n\n| word | x |\n|---|---|\n| 1 | word |\n\n```py\nword = 1\n```\n> word"

    assert found("word", source) == ["Word"] + ["word"] * 6


def test_what_a_call_was_asked_and_what_it_gave_back_are_found() -> None:
    block = Block("a", "call", "src/app.py", label="read_file", detail="app\nAPP", folded=True)
    view = BlockView(block, 0, 60)

    assert count(view, Needle("app")) == 3


def test_a_long_row_of_marks_is_looked_at_quickly() -> None:
    source = "`*_" * 40_000

    assert Needle("*_`" * 20 + "x").source_spans(source) == []


@settings(deadline=None, max_examples=150)
@given(documents, st.sampled_from([*LINES, "e", "te", "x y", "*", "- ", "or"]), st.integers(17, 80))
def test_as_many_are_counted_as_are_seen(source: str, needle: str, width: int) -> None:
    view = BlockView(Block("a", "local", source), 0, width)
    text = needle.strip()

    if text and all(char.isalnum() or char == " " for char in text):
        assert count(view, Needle(text)) == len(seen(view, Needle(text)))
