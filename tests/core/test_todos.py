"""The list of what Claude Code means to do, from its calls."""

import json
from typing import Any

from milk_tui.core.messages import ToolCall, ToolResult
from milk_tui.core.todos import Todos


def after(before: Todos, name: str, told: str = "", *, is_error: bool = False, **arguments: Any) -> Todos:
    call = ToolCall(id="c", name=name, arguments=json.dumps(arguments))
    return before.after(call, ToolResult(call_id="c", text=told, is_error=is_error))


def test_a_written_list_takes_the_place_of_the_one_before() -> None:
    todos = after(Todos(), "TodoWrite", todos=[{"content": "One", "status": "completed"}, "no item"])
    assert todos.text() == "✓ One"
    assert after(todos, "TodoWrite", todos=[]).headline() == ""


def test_items_are_added_changed_and_taken_out_by_their_numbers() -> None:
    todos = after(
        Todos(), "TaskCreate", "Task #1 created successfully: One", subject="One", activeForm="At one"
    )
    todos = after(todos, "TaskCreate", "Task #2 created successfully: Two", subject="Two")
    todos = after(todos, "TaskUpdate", "Updated", taskId="1", status="in_progress")
    assert (todos.headline(), todos.text()) == ("0 of 2 done · At one", "▸ One\n○ Two")
    todos = after(todos, "TaskUpdate", "Updated", taskId="1", status="completed", subject="First\nline")
    assert todos.text() == "✓ First line\n○ Two"
    assert after(todos, "TaskUpdate", "Updated", taskId="2", status="deleted").text() == "✓ First line"
    assert after(todos, "TaskUpdate", "Updated", taskId="7", status="deleted") == todos


def test_a_number_that_begins_anew_begins_a_new_list() -> None:
    todos = after(Todos(), "TaskCreate", "Task #1 created", subject="Old")
    assert after(todos, "TaskCreate", "Task #1 created", subject="New").text() == "○ New"


def test_a_call_that_failed_or_makes_no_sense_changes_nothing() -> None:
    todos = after(Todos(), "TaskCreate", "Task #1 created", subject="One")
    assert after(todos, "TaskCreate", "No such tool", is_error=True, subject="Two") == todos
    assert after(todos, "TodoWrite", todos="all") == after(todos, "TaskList") == todos
