"""`milk-tui --demo`: the whole program with scripted agents. Nothing is asked, sent or stored.

The scenes of the tests and the README's pictures are played from the same script.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from milk_tui.agents.scripted import Pause, Reply, Say, ScriptedAgent, Use
from milk_tui.conversation.checkup import Check, LocalCheckup
from milk_tui.conversation.controller import Conversation
from milk_tui.conversation.file_watch import FileWatch
from milk_tui.conversation.permissions import PermissionDesk
from milk_tui.conversation.toolbox import SessionToolbox
from milk_tui.conversation.workbench import Workbench
from milk_tui.core.events import EscalationRequested, ThinkingDelta, UsageReported
from milk_tui.core.file_text import FileText
from milk_tui.core.messages import ToolCall, Turn, Usage
from milk_tui.core.permission import Question
from milk_tui.core.session import Session, SessionState
from milk_tui.storage.config import Settings

NONCE = "demo2k7q"

_LOCAL_USAGE = UsageReported(
    usage=Usage(input_tokens=1_240, output_tokens=96, context_tokens=1_336, window=32_768, seconds=1.6)
)
_CLAUDE_USAGE = UsageReported(
    usage=Usage(
        input_tokens=14_820,
        cached_tokens=12_100,
        output_tokens=412,
        cost_usd=0.0431,
        context_tokens=15_232,
        window=200_000,
        seconds=9.2,
    )
)


_BEFORE = '''"""Orders: placed once, refunded once."""

from shop.database import connection
from shop.receipts import Receipt


def place(order: Order) -> Receipt:
    with connection() as db:
        db.insert(order)
        return Receipt(order.id)


def refund(order: Order) -> Receipt:
    with connection() as db:
        db.mark(order, "refunded")
        return Receipt(order.id)
'''


def _call(number: int, name: str, arguments: str) -> ToolCall:
    return ToolCall(id=f"demo-{number}", name=name, arguments=arguments)


def _local(word: float) -> list[Reply]:
    return [
        [
            Say("<milk:need:{nonce}>Find out why test_checkout fails now and then</milk:need:{nonce}>"),
            ThinkingDelta(text="It fails one time in five, so the order of something matters."),
            Say("Let me look at the test first.\n", word),
            Use(
                _call(1, "read_file", '{"path": "tests/test_checkout.py"}'),
                "42 lines. The test starts two workers and expects the second one to see the first one's order.",
            ),
            Use(
                _call(2, "run_command", '{"command": "pytest -q tests/test_checkout.py -x --count 20"}'),
                "4 failed, 16 passed in 8.31s\nAssertionError: order 1007 not found",
                is_error=True,
            ),
            Say(
                "It fails **4 times in 20**. Both workers share one connection:\n\n"
                "| worker | commits | sees order |\n| --- | --- | --- |\n"
                "| first | after the reply | yes |\n| second | – | sometimes |\n\n"
                "So the second worker reads *before* the first one commits.",
                word,
            ),
            _LOCAL_USAGE,
        ],
        [
            Say(
                "One way is to commit before replying:\n\n"
                "```python\ndef place(order: Order) -> Receipt:\n"
                "    with connection() as db:\n        db.insert(order)\n"
                "        db.commit()  # before anybody is told\n"
                "    return Receipt(order.id)\n```\n\n"
                "<milk:percept:{nonce}>The shop's tests share one database connection</milk:percept:{nonce}>"
                "But `refund()` has the same pattern and I cannot see all of its callers.",
                word,
            ),
            EscalationRequested(
                reason="The fix touches locking in several modules; I cannot see all callers."
            ),
            _LOCAL_USAGE,
        ],
        [
            Say("Claude moved the commit in front of the reply, in `place()` and `refund()`. ", word),
            Say("Shall I run the whole suite?", word),
            _LOCAL_USAGE,
        ],
    ]


def _claude(word: float) -> list[Reply]:
    edit = _call(
        12, "Edit", '{"file_path": "shop/orders.py", "old_string": "return Receipt(…)", "new_string": "…"}'
    )
    return [
        [
            Say("I'll check every caller of `place` and `refund` before changing anything.\n", word),
            Use(
                _call(11, "Grep", '{"pattern": "place\\\\(|refund\\\\("}'),
                "shop/orders.py:31\nshop/orders.py:58\nshop/api.py:17\nshop/jobs.py:44",
            ),
            Use(
                edit,
                "The file shop/orders.py has been updated.",
                question=Question(
                    tool="Edit",
                    arguments='{\n  "file_path": "shop/orders.py",\n  "old_string": "return Receipt(order.id)",\n'
                    '  "new_string": "db.commit()\\n    return Receipt(order.id)"\n}',
                    path="shop/orders.py",
                    reason="Edits need your permission",
                    session_scope="edit files in this directory",
                ),
            ),
            Say(
                "Done. The commit now comes **before** the reply in both functions:\n\n"
                "1. `place()` commits inside its `with` block.\n"
                "2. `refund()` does the same, and no caller relied on the old order.\n\n"
                "`jobs.py:44` retries on failure, so committing earlier is safe there.",
                word,
            ),
            Pause(word),
            _CLAUDE_USAGE,
        ],
        [Say("Yes: the retry in `jobs.py` looks for the order's id first.", word), _CLAUDE_USAGE],
    ]


def demo_bench(
    *,
    word: float = 0.03,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    clock: Callable[[], float] = time.monotonic,
    turns: Sequence[Turn] = (),
    claude: Sequence[Reply] = (),
) -> Workbench:
    """A workbench with nothing real on it. `word` is the pause between two words, in seconds.

    The session begins with `turns`, as a reopened one. Claude may be given other replies.
    """
    desk = PermissionDesk()
    local = ScriptedAgent(_local(word), model="qwen3-coder-30b", sleep=sleep)
    escalated = ScriptedAgent(
        claude or _claude(word), model="claude-opus", session_id="demo", permission=desk.ask, sleep=sleep
    )
    state = SessionState(
        id="demo", cwd="/home/ana/shop", nonce=NONCE, created_at=datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
    )
    session = Session(state, turns)
    conversation = Conversation(session, local=local, claude=escalated, store=_Nowhere(), clock=clock)
    settings = Settings.model_validate({"home": Path("/home/ana/.milk")})
    return Workbench(
        settings,
        conversation,
        desk,
        SessionToolbox(settings, state.cwd, state.id, desk.ask),
        check_local=_check_local,
        check_claude=_check_claude,
        keeps_settings=False,
        watch=FileWatch(session, _Shop()),
    )


class _Shop:
    """The one file that Claude changes in the demo, before and after."""

    def keep(self, turn: int, path: str) -> None:
        """It is known already."""

    def before(self, _turn: int, _path: str) -> FileText:
        """As the demo finds it."""
        return FileText(kind="text", text=_BEFORE, digest="before")

    def now(self, _path: str) -> FileText:
        """As the demo leaves it."""
        committed = _BEFORE.replace("        return", "        db.commit()\n        return")
        return FileText(kind="text", text=committed, digest="now")


class _Nowhere:
    """Keeps nothing."""

    is_up_to_date = True

    def save(self, session: Session) -> None:
        """Leave no trace of the demo."""


async def _check_local(_settings: Settings) -> LocalCheckup:
    return LocalCheckup(
        check=Check(
            name="Local model", state="ok", text="qwen3-coder-30b at http://127.0.0.1:8080/v1 (demo)"
        ),
        window=Check(name="Window", state="ok", text="32,768 tokens"),
    )


async def _check_claude(_settings: Settings) -> Check:
    return Check(name="Claude Code", state="ok", text="2.1.332, your subscription (demo)")
