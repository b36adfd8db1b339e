"""A block that grows: whatever its deltas, and whenever it is looked at, it ends as the whole text looks."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from milk_tui.ui.markdown.rows import Row
from milk_tui.ui.widgets.block_view import BlockView
from milk_tui.ui.widgets.blocks import Block, Kind
from tests.ui.markdown_samples import DOCUMENT, documents, mixed


def rows_of(view: BlockView) -> list[Row]:
    return [row for piece in range(len(view.heights)) for row in view.rows(piece)]


@settings(deadline=None, max_examples=150)
@given(documents | mixed | st.just(DOCUMENT * 3), st.sampled_from(["local", "thinking", "call"]), st.data())
def test_the_last_picture_of_a_stream_is_that_of_the_whole_text(
    source: str, kind: Kind, data: st.DataObject
) -> None:
    ends = sorted(data.draw(st.lists(st.integers(0, len(source)), max_size=10)))
    looks = data.draw(st.lists(st.sampled_from(["", "draw", "narrow", "forget"]), min_size=11, max_size=11))
    block = Block("a", kind, label="x", state="running")
    view = BlockView(block, 1, 60)
    for end, look in zip([*ends, len(source)], looks, strict=False):
        body = source[:end]
        view.update(replace(block, detail=body) if kind == "call" else replace(block, source=body))
        if look == "draw":
            rows_of(view)
        elif look == "narrow":
            view.resize(30)
            rows_of(view)
            view.resize(60)
        elif look == "forget":
            for piece in range(len(view.heights)):
                view.forget(piece)

    assert rows_of(view) == rows_of(BlockView(view.block, 1, 60))
    assert view.height == len(rows_of(view))
