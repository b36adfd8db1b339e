"""Claude at work on something larger, as a script: it plans, asks, keeps a list, and sends others."""

import json
from typing import Any

from milk_tui.agents.scripted import Reply, Say, Use
from milk_tui.core.events import AgentEvent, ThinkingDelta, ToolCallFinished, ToolCallStarted
from milk_tui.core.menu import Choice, Menu
from milk_tui.core.messages import ToolCall, ToolResult
from milk_tui.core.permission import Question

MENUS = (
    Menu(
        question="Which database should the shop keep its orders in?",
        header="Database",
        choices=(
            Choice(
                label="SQLite (Recommended)",
                description="One file beside the program; enough for one shop, and nothing to look after.",
                preview='[orders]\nurl = "sqlite:///orders.db"',
            ),
            Choice(label="Postgres", description="A server; needed once several machines write."),
            Choice(label="Keep the JSON files", description="Nothing changes, and the race stays."),
        ),
    ),
    Menu(
        question="Which parts may change with it?",
        header="Parts",
        choices=(
            Choice(label="orders.py", description="Where orders are placed."),
            Choice(label="refunds.py", description="The same pattern."),
            Choice(label="api.py", description="The answers to customers."),
        ),
        takes_several=True,
    ),
)
PLAN = """# Orders in SQLite

Orders move from JSON files into **one table**, so that two workers never see half of a write.

1. Add `shop/store.py` with `place()` and `refund()`, each in one transaction.
2. Read the old files once, at the first start; keep them.
3. Run the checkout test a hundred times.

```python
with connection() as db:
    db.execute("insert into orders values (?, ?)", (order.id, order.total))
```

| file | change |
| --- | --- |
| `orders.py` | calls the store |
| `refunds.py` | calls the store |

Nothing else changes, and no customer sees anything of it.
"""
EDITS = "every edit in the working directory"


def call(number: int, name: str, parent: str | None = None, **arguments: Any) -> ToolCall:
    """A call of Claude's."""
    return ToolCall(
        id=f"work-{number}", name=name, arguments=json.dumps(arguments, ensure_ascii=False), parent_id=parent
    )


def done(number: int, text: str, *, is_error: bool = False) -> AgentEvent:
    """The result of that call."""
    return ToolCallFinished(result=ToolResult(call_id=f"work-{number}", text=text, is_error=is_error))


def todos(number: int, finished: int) -> list[AgentEvent]:
    """The list with so many items finished and the next one begun."""
    names = (
        ("Look for every caller", "Looking for every caller"),
        ("Write the store", "Writing the store"),
        ("Test", "Testing"),
    )
    items = [
        {
            "content": name,
            "activeForm": active,
            "status": "completed" if place < finished else "in_progress" if place == finished else "pending",
        }
        for place, (name, active) in enumerate(names)
    ]
    return [ToolCallStarted(call=call(number, "TodoWrite", todos=items)), done(number, "Todos modified.")]


def question(name: str, **fields: Any) -> Question:
    """A question of Claude's about its call."""
    return Question(tool=name, arguments="{}", agent="claude", **fields)


REPLY: Reply = [
    ThinkingDelta(
        text="Two workers write the same file. A database would end that; which one is theirs to say."
    ),
    Say("I'll find every caller first, and ask what I cannot know.\n"),
    *todos(1, 0),
    ToolCallStarted(
        call=call(2, "Agent", description="Find callers of place() and refund()", prompt="Look.")
    ),
    ToolCallStarted(call=call(3, "Grep", "work-2", pattern="place\\(")),
    done(3, "shop/api.py:17\nshop/jobs.py:44"),
    ToolCallStarted(call=call(4, "Read", "work-2", file_path="shop/legacy.py")),
    done(4, "File does not exist.", is_error=True),
    done(2, "Two callers of place(): api.py:17 and jobs.py:44. None of refund() outside orders.py."),
    *todos(5, 1),
    Use(
        call(6, "AskUserQuestion", questions=[{"question": menu.question} for menu in MENUS]),
        "",
        question=question("AskUserQuestion", call_id="work-6", menus=MENUS),
    ),
    Use(
        call(7, "ExitPlanMode", plan=PLAN),
        f"User has approved your plan.\n\n{PLAN}",
        question=question("ExitPlanMode", call_id="work-7", plan=PLAN, session_scope=EDITS),
    ),
    *todos(8, 3),
    Say("Orders are kept in SQLite now; the checkout test passed a hundred times."),
]
