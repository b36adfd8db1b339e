"""Files that agents changed are known by their tool calls: those that ran, and no others."""

from milk_tui.core.changed_files import Piece, changed_files
from milk_tui.core.messages import CANCELLED, Turn
from tests.core.building import claude_turn, turn, use


def paths(*turns: Turn) -> list[str]:
    return [file.path for file in changed_files(turns, lambda name: f"/shop/{name}").files]


def test_each_tool_that_changes_a_file_names_it_with_what_was_asked() -> None:
    turns = (
        claude_turn(
            1,
            "go",
            use("Edit", {"file_path": "a", "old_string": "one", "new_string": "two"}),
            use("MultiEdit", {"file_path": "b", "edits": [{"old_string": "x", "new_string": "y"}, 7]}),
            use("Write", {"file_path": "c", "content": "all"}),
            use("NotebookEdit", {"notebook_path": "d", "new_source": "cell"}),
        ),
        turn(2, "go", use("write_file", {"path": "e", "text": "t"}), use("edit_file", {"path": "a"})),
    )
    files = {file.path: file for file in changed_files(turns, str).files}
    assert list(files) == ["a", "b", "c", "d", "e"]
    assert files["a"].turns == (1, 2)
    assert files["a"].pieces == (Piece(old="one", new="two"), Piece(old="", new=""))
    assert files["b"].pieces == (Piece(old="x", new="y"),)
    assert files["c"].pieces == (Piece(old="", new="all"),)


def test_a_call_that_failed_or_was_refused_changed_nothing_and_one_that_was_cancelled_may_have() -> None:
    refused = use("Write", {"file_path": "a"}, "The user does not allow this.", is_error=True)
    cancelled = use("Write", {"file_path": "b"}, CANCELLED, is_error=True)
    assert paths(claude_turn(1, "go", refused, cancelled)) == ["/shop/b"]


def test_reading_changes_nothing_and_a_call_without_a_path_names_nothing() -> None:
    calls = (
        use("Read", {"file_path": "a"}),
        use("Edit", {}),
        use("Edit", {"file_path": 7}),
        use("Edit", "[]"),
    )
    assert paths(claude_turn(1, "go", *calls)) == []


def test_ids_that_are_counted_anew_in_each_step_do_not_mix_calls_up() -> None:
    refused = use("Write", {"file_path": "a"}, "no", call_id="0", is_error=True)
    assert paths(turn(1, "go", refused, use("Write", {"file_path": "b"}, call_id="0"))) == ["/shop/b"]


def test_only_commands_that_ran_may_have_changed_more() -> None:
    def may_be_more(*turns: Turn) -> bool:
        return changed_files(turns, str).may_be_more

    assert may_be_more(claude_turn(1, "go", use("Bash", {"command": "make"})))
    assert may_be_more(turn(1, "go", use("run_command", {"command": "make"})))
    assert not may_be_more(claude_turn(1, "go", use("Bash", {"command": "make"}, "no", is_error=True)))
    assert not may_be_more(claude_turn(1, "go", use("Write", {"file_path": "a"})))
