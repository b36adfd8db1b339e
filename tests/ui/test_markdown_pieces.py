"""Where a growing Markdown text is cut: whatever its deltas, it looks the same."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milk_tui.ui.markdown.literal import split_literal
from milk_tui.ui.markdown.pieces import LONG_LINE, Piece, split
from milk_tui.ui.markdown.render import render_markdown
from tests.ui.markdown_samples import DOCUMENT, documents, drawn, picture


def streamed(source: str, cuts: list[int]) -> list[Piece]:
    pieces = [Piece(0)]
    for end in [*sorted(cuts), len(source)]:
        tail = pieces.pop()
        pieces += split(source[:end], tail)
    return pieces


@settings(deadline=None, max_examples=150)
@given(documents, st.data())
def test_a_text_looks_the_same_however_its_deltas_are_cut(source: str, data: st.DataObject) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(source)), max_size=12))

    assert streamed(source, cuts) == split(source, Piece(0))


def test_a_document_sent_character_by_character_looks_like_the_whole() -> None:
    pieces = streamed(DOCUMENT, list(range(len(DOCUMENT))))

    assert drawn(pieces, DOCUMENT, 40) == drawn(split(DOCUMENT, Piece(0)), DOCUMENT, 40)


@settings(deadline=None, max_examples=100)
@given(documents, st.integers(17, 120))
def test_cutting_a_text_into_pieces_does_not_show(source: str, width: int) -> None:
    # Where a piece has sixteen rows of a table, the columns of the rest are already decided: so keep these short.
    whole = [row._replace(line=0) for row in render_markdown(source, Piece(0).context, width)]

    assert drawn(split(source, Piece(0)), source, width) == whole


@pytest.mark.parametrize(
    "source",
    [
        "word " * 9_000,
        "x" * 20_000,
        "```\n" + "y" * 20_000 + "\n```\nend",
        "\n".join(f"> quoted line {number}" for number in range(1_500)),
        "- item\n" + "\n".join(f"  - nested {number}" for number in range(1_500)),
        "```python\n" + "\n".join(f"x = {number}" for number in range(500)) + "\n```\n\nend",
        "|a|b|\n|-|-|\n"
        + "\n".join(f"| {number} | {'w' * (number % 50)} |" for number in range(200))
        + "\n\nend",
        "\n".join(f"{number}. item" for number in range(300)),
    ],
    ids=["paragraph", "word", "code line", "quote", "nested list", "fence", "table", "list"],
)
def test_no_piece_of_an_endless_text_grows_without_bound(source: str) -> None:
    pieces = split(source, Piece(0))
    ends = [piece.start for piece in pieces[1:]] + [len(source)]

    assert max(end - piece.start for piece, end in zip(pieces, ends, strict=True)) <= 4 * LONG_LINE
    assert streamed(source, list(range(0, len(source), 997))) == pieces
    assert "".join(picture(source, 80).split()).count("end") == source.count("end")


def test_literal_text_in_pieces_is_the_whole_text() -> None:
    source = "\n".join(f"line {number}" for number in range(1_000)) + "\n" + "z" * 15_000
    pieces = split_literal(source, Piece(0))
    grown = [Piece(0)]
    for end in [*range(0, len(source), 501), len(source)]:
        grown += split_literal(source[:end], grown.pop())

    assert len(pieces) > 10
    assert grown == pieces


def test_a_numbered_list_counts_on_where_it_was_cut() -> None:
    assert picture("7. a\n7. b\n7. c") == "7. a\n8. b\n9. c"
