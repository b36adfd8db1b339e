"""The tool calls of a turn as blocks.

Most calls have a block each. A sub-agent's calls stand on the block of the call that started it, indented, and all
that keep the list of what is to do share one. Live and after reopening the same events give the same blocks.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from milk_tui.core.cut import one_line
from milk_tui.core.messages import ToolCall, ToolResult
from milk_tui.core.todos import TODO_TOOLS, Todos
from milk_tui.ui.widgets.blocks import Block

NOTE_CHARS = 100
"""Characters of how a call was allowed; the list of permissions has the whole scope."""
_ASKED_CHARS = 400
_INNER_CHARS = 300
"""Characters of what a sub-agent's call was asked, and of its error."""
_INNER_SHOWN = 200
"""The latest calls of a sub-agent that are listed."""
_MAIN = {"Bash": "command", "Agent": "description", "Task": "description"}
"""The argument that says what a call is for, where the others would only hide it."""


@dataclass
class _Call:
    """A call, and what has come of it."""

    call: ToolCall
    key: str
    """The block that shows it."""
    depth: int = 0
    """How many sub-agents it is away from the agent itself."""
    starter: "_Call | None" = None
    """For a sub-agent's call: the agent's own call that started it all."""
    note: str = ""
    result: ToolResult | None = None
    inner: list["_Call"] = field(default_factory=list)
    """Calls of the sub-agent that it started, and of those below, in their order."""


class Calls:
    """The calls of one turn."""

    def __init__(self, new_key: Callable[[], str], todos: Todos) -> None:
        """Begin.

        Args:
            new_key: makes the key of another block.
            todos: the list as the turns before have left it.
        """
        self.todos = todos
        self._new_key = new_key
        self._calls: dict[str, _Call] = {}
        self._blocks: dict[str, Block] = {}
        self._list_key = ""

    def block(self, key: str) -> Block | None:
        """The block of this key as it is now; `None` if it shows no call."""
        return self._blocks.get(key)

    def key_of(self, call_id: str) -> str:
        """The key of the block that shows a call; empty if there is none."""
        call = self._calls.get(call_id)
        return call.key if call else ""

    def open_call(self, tool: str) -> str:
        """The id of the first call of a tool that has no result and no note; empty if there is none."""
        found = (id for id, c in self._calls.items() if c.call.name == tool and not (c.result or c.note))
        return next(found, "")

    def started(self, call: ToolCall) -> tuple[Block, bool]:
        """The block that shows a call which has begun, and whether it is a new one."""
        parent = self._calls.get(call.parent_id or "")
        if parent is not None:
            root = parent.starter or parent
            inner = self._calls[call.id] = _Call(call, root.key, parent.depth + 1, root)
            root.inner.append(inner)
            return self._set(_with_inner(self._blocks[root.key], root), folded=root.result is not None), False
        if call.name in TODO_TOOLS and self._list_key:
            self._calls[call.id] = _Call(call, self._list_key)
            return self._set(self._blocks[self._list_key], state="running"), False
        key = self._new_key()
        self._calls[call.id] = _Call(call, key)
        block = Block(key=key, kind="call", source=asked(call), label=call.name, state="running", folded=True)
        if call.name in TODO_TOOLS:
            self._list_key = key
            block = self._list(block)
        return self._set(block), True

    def finished(self, result: ToolResult) -> Block | None:
        """The block that shows a call which has its result; `None` if there is no such call, or it had one."""
        call = self._calls.get(result.call_id)
        if call is None or call.result is not None:
            return None
        call.result = result
        block = self._blocks[call.key]
        if call.starter:
            return self._set(_with_inner(block, call.starter))
        state: Any = "error" if result.is_error else "ok"
        if call.key == self._list_key:
            self.todos = self.todos.after(call.call, result)
            if self.todos.items or not result.is_error:
                note = one_line(result.text, NOTE_CHARS) if result.is_error else ""
                return self._set(self._list(block), state=state, note=note)
        if call.inner:
            return self._set(_with_inner(block, call), state=state, folded=True)
        note = block.note
        if call.call.name == "AskUserQuestion" and not result.is_error:
            note = one_line(result.text, NOTE_CHARS)
        return self._set(block, detail=result.text, state=state, note=note, folded=True)

    def remark(self, call_id: str, words: str) -> Block | None:
        """The block of a call without a result, with a few words about that call."""
        call = self._calls.get(call_id)
        if call is None or call.result is not None:
            return None
        call.note = one_line(words, NOTE_CHARS)
        block = self._blocks[call.key]
        if call.starter:
            return self._set(_with_inner(block, call.starter))
        return self._set(block, note=call.note)

    def wrote(self, call_id: str, text: str) -> Block | None:
        """The block of a running call with what it has written so far."""
        call = self._calls.get(call_id)
        if call is None or call.result is not None or call.depth:
            return None
        return self._set(self._blocks[call.key], detail=text, folded=False)

    def cancelled(self) -> Iterator[Block]:
        """The blocks of all calls that have no result, when none will come."""
        for call_id, call in self._calls.items():
            if call.result is None:
                block = self.finished(ToolResult(call_id=call_id, text="Cancelled.", is_error=True))
                if block is not None:
                    yield block

    def forget(self, keys: Collection[str]) -> None:
        """These blocks are gone, with the calls on them."""
        self._calls = {id: call for id, call in self._calls.items() if call.key not in keys}
        self._blocks = {key: block for key, block in self._blocks.items() if key not in keys}
        if self._list_key in keys:
            self._list_key = ""

    def _list(self, block: Block) -> Block:
        if not self.todos.items:
            return block
        return replace(
            block, label="To do", source=self.todos.headline(), detail=self.todos.text(), folded=False
        )

    def _set(self, block: Block, **changes: Any) -> Block:
        block = self._blocks[block.key] = replace(block, **changes)
        return block


def asked(call: ToolCall) -> str:
    """What a call was asked, on one line."""
    arguments = call.parsed()
    if call.name == "AskUserQuestion":
        return one_line(" · ".join(_questions(arguments)), _ASKED_CHARS)
    if call.name == "ExitPlanMode":
        lines = str(arguments.get("plan") or "").strip().splitlines()
        return one_line(lines[0].lstrip("# ") if lines else "", _ASKED_CHARS)
    main = arguments.get(_MAIN.get(call.name, ""))
    if main:
        return one_line(str(main), _ASKED_CHARS)
    shown = ", ".join(
        str(value) if len(arguments) == 1 else f"{name}={value}" for name, value in arguments.items()
    )
    return one_line(shown, _ASKED_CHARS)


def _questions(arguments: dict[str, Any]) -> Iterator[str]:
    questions = arguments.get("questions")
    for each in questions if isinstance(questions, list) else ():
        if isinstance(each, dict):
            yield str(each.get("question") or "")


def _with_inner(block: Block, root: _Call) -> Block:
    """The block of a call that started a sub-agent: that one's calls, and its last words."""
    failed = sum(call.result is not None and call.result.is_error for call in root.inner)
    count = len(root.inner)
    note = f"{count} call" if count == 1 else f"{count} calls"
    note += f", {failed} failed" if failed else ""
    left_out = count - _INNER_SHOWN
    lines = [f"[{left_out:,} earlier calls]"] if left_out > 0 else []
    lines += [line for call in root.inner[-_INNER_SHOWN:] for line in _inner_lines(call)]
    if root.result is not None:
        lines += ["", root.result.text]
    return replace(block, detail="\n".join(lines), note=note)


def _inner_lines(call: _Call) -> Iterator[str]:
    indent = "  " * (call.depth - 1)
    result = call.result
    mark = "…" if result is None else "✗" if result.is_error else "✓"
    note = f" · {call.note}" if call.note else ""
    yield f"{indent}{mark} {call.call.name} {one_line(asked(call.call), _INNER_CHARS)}{note}".rstrip()
    if result is not None and result.is_error:
        yield f"{indent}    {one_line(result.text, _INNER_CHARS)}"
