"""The list of what Claude Code means to do, as its tools for that leave it.

There are two kinds of such tools: one writes the whole list at once, the others add an item and change one. A value
that a call and its result turn into the next one; nothing here knows how it is shown.
"""

import re
from collections.abc import Iterator
from typing import Any, Literal

from milk_tui.core.messages import ToolCall, ToolResult, Value

TODO_TOOLS = frozenset({"TodoWrite", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet"})
"""The tools that keep the list; the last two only look at it."""

State = Literal["open", "doing", "done"]
_STATES: dict[str, State] = {"in_progress": "doing", "completed": "done"}
_MARKS: dict[State, str] = {"open": "○", "doing": "▸", "done": "✓"}
_NUMBER = re.compile(r"#(\w+)")


class Todo(Value):
    """One thing to do."""

    text: str
    state: State = "open"
    active: str = ""
    """The same while it is being done."""
    id: str = ""

    def words(self) -> str:
        """The item with its mark, on one line."""
        return f"{_MARKS[self.state]} {self.text}"


class Todos(Value):
    """The list, in its order."""

    items: tuple[Todo, ...] = ()

    def after(self, call: ToolCall, result: ToolResult) -> "Todos":
        """The list as this call leaves it; the same if it failed or is not understood."""
        if result.is_error:
            return self
        arguments = call.parsed()
        match call.name:
            case "TodoWrite" if isinstance(arguments.get("todos"), list):
                return Todos(items=tuple(_written(arguments["todos"])))
            case "TaskCreate":
                return self._with(arguments, result.text)
            case "TaskUpdate":
                return self._changed(arguments)
            case _:
                return self

    def _with(self, arguments: dict[str, Any], told: str) -> "Todos":
        number = _NUMBER.search(told)
        active = str(arguments.get("activeForm") or "")
        id = number[1] if number else ""
        todo = Todo(text=str(arguments.get("subject") or ""), active=active, id=id)
        # A number that is there already is the first of a new session of Claude's.
        kept = () if id and any(each.id == id for each in self.items) else self.items
        return Todos(items=(*kept, todo))

    def _changed(self, arguments: dict[str, Any]) -> "Todos":
        changes: dict[str, Any] = {}
        status = str(arguments.get("status") or "")
        if status:
            changes["state"] = _STATES.get(status, "open")
        if arguments.get("subject"):
            changes["text"] = str(arguments["subject"])
        if arguments.get("activeForm"):
            changes["active"] = str(arguments["activeForm"])
        wanted = str(arguments.get("taskId") or "")
        items = (todo.model_copy(update=changes) if todo.id == wanted else todo for todo in self.items)
        return Todos(items=tuple(todo for todo in items if status != "deleted" or todo.id != wanted))

    def headline(self) -> str:
        """How far it is, and what is being done, on one line."""
        if not self.items:
            return ""
        done = sum(todo.state == "done" for todo in self.items)
        doing = [todo.active or todo.text for todo in self.items if todo.state == "doing"]
        return " · ".join([f"{done} of {len(self.items)} done", *doing])

    def text(self) -> str:
        """Every item on a line."""
        return "\n".join(" ".join(todo.words().split()) for todo in self.items)


def _written(todos: list[Any]) -> Iterator[Todo]:
    for each in todos:
        if isinstance(each, dict):
            yield Todo(
                text=str(each.get("content") or ""),
                state=_STATES.get(str(each.get("status")), "open"),
                active=str(each.get("activeForm") or ""),
            )
