"""Which files the agents have changed, as far as their tool calls tell.

Only tools that name the file they change are known; what a command changes is not, and that is all that is said of it.
Nothing here looks at a file.
"""

from collections.abc import Callable, Iterator, Sequence

from milk_tui.core.messages import CANCELLED, ToolCall, ToolResult, Turn, Value

CHANGING: dict[str, str] = {
    "Edit": "file_path",
    "MultiEdit": "file_path",
    "NotebookEdit": "notebook_path",
    "Write": "file_path",
    "edit_file": "path",
    "write_file": "path",
}
"""The tools that change one file, Claude's and our own, and the argument that names it."""

_COMMANDS = ("Bash", "PowerShell", "run_command")


class Piece(Value):
    """One replacement as an agent asked for it."""

    old: str
    """Empty where a whole text was written."""
    new: str


class ChangedFile(Value):
    """A file, and what was asked for it."""

    path: str
    turns: tuple[int, ...]
    """Numbers of the turns in which it was changed, oldest first."""
    pieces: tuple[Piece, ...]


class ChangedFiles(Value):
    """What some turns have changed, in the order of the first change."""

    files: tuple[ChangedFile, ...] = ()
    may_be_more: bool = False
    """Commands ran as well, and what those change is not known."""


def changed_name(call: ToolCall) -> str:
    """The file that a call is about to change, as it names it; empty if it is none that is known to change one."""
    argument = CHANGING.get(call.name)
    name = call.parsed().get(argument) if argument else None
    return name if isinstance(name, str) else ""


def changed_files(turns: Sequence[Turn], place: Callable[[str], str]) -> ChangedFiles:
    """All that was changed in these turns; `place` makes one path of all the names of a file.

    A call that was cancelled may have done its work before.
    """
    files: dict[str, ChangedFile] = {}
    may_be_more = False
    for turn in turns:
        for call, result in _answered(turn):
            was_refused = result.is_error and result.text != CANCELLED
            may_be_more = may_be_more or (call.name in _COMMANDS and not was_refused)
            name = "" if was_refused else changed_name(call)
            if name:
                path = place(name)
                known = files.get(path, ChangedFile(path=path, turns=(), pieces=()))
                files[path] = ChangedFile(
                    path=path,
                    turns=known.turns if turn.number in known.turns else (*known.turns, turn.number),
                    pieces=(*known.pieces, *_pieces(call)),
                )
    return ChangedFiles(files=tuple(files.values()), may_be_more=may_be_more)


def _answered(turn: Turn) -> Iterator[tuple[ToolCall, ToolResult]]:
    """The calls with their results. Ids may be counted anew in each step, so a result takes the call before it."""
    calls: dict[str, ToolCall] = {}
    for message in turn.messages:
        calls.update({call.id: call for call in message.calls})
        call = calls.pop(message.result.call_id, None) if message.result else None
        if call is not None and message.result is not None:
            yield call, message.result


def _pieces(call: ToolCall) -> Iterator[Piece]:
    arguments = call.parsed()
    edits = arguments.get("edits")
    for edit in edits if isinstance(edits, list) else [arguments]:
        if isinstance(edit, dict):
            old = _first(edit, "old_string", "old")
            new = _first(edit, "new_string", "new", "content", "text", "new_source")
            yield Piece(old=old, new=new)


def _first(arguments: dict[str, object], *names: str) -> str:
    """The first of these arguments that is a text."""
    return next((value for name in names if isinstance(value := arguments.get(name), str)), "")
