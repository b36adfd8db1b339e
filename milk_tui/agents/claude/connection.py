"""One running Claude Code: an owner task that holds the SDK's client, and a queue of what it reports.

Whoever reads the queue may be cancelled at any time; the owner never is. Cancelling it would take five seconds and
could leave processes behind, so a turn is stopped by interrupting it and the program by disconnecting from it. This
module knows messages of the SDK and no events. It imports the SDK, so import it late.
"""

import asyncio
import logging
import secrets
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    Message,
    PermissionMode,
    ResultMessage,
    SystemMessage,
    TextBlock,
)
from claude_agent_sdk.types import AssistantMessage

from milk_tui.agents.base import Watch, unwatched
from milk_tui.agents.claude.permission import PLAN, Gate
from milk_tui.agents.claude.process import MARK, end_marked, leave_outer_session, masked
from milk_tui.agents.claude.sdk_hooks import hooks

LINE_LIMIT = 64 << 20
"""The longest message that is read, in bytes; one tool result with an image can take megabytes."""
START_SECONDS = 30.0
"""How long it may take to get ready; the SDK never notices a program that ends at once without an error."""
STOP_SECONDS = 5.0
"""How long an interrupted turn may take to end before the whole connection is given up."""
START_LEFT_SECONDS = 0.5
"""The same for a start that was broken off: the SDK may wait for ever for a program that is gone by then."""
LAST_WORDS = 20
"""Lines kept of what the program wrote to its standard error."""
# Tools that wake Claude Code when nobody listens.
UNSERVED_TOOLS = ["ScheduleWakeup", "CronCreate", "CronDelete", "CronList"]

logging.getLogger("claude_agent_sdk").addHandler(logging.NullHandler())
logging.getLogger("claude_agent_sdk").propagate = False


@dataclass(frozen=True)
class Setup:
    """What one Claude Code is started with."""

    cli: str
    cwd: str
    gate: Gate
    model: str | None = None
    resume: str | None = None
    system_file: Path | None = None
    """The file whose text goes behind Claude Code's own system prompt."""
    context: Sequence[str] = ()
    """Texts that go with the first prompt, in this order."""
    max_retries: int = 3
    allowance_usd: float | None = None
    """What this process may spend. Claude Code looks after each step, so that the last one may cost more."""
    log: Callable[[str], None] | None = None
    watch: Watch = unwatched
    """Is told of each call that may change a file, before the user is asked about it."""


@dataclass(frozen=True)
class Ended:
    """The connection is over; nothing follows."""

    error: Exception | None = None


class Connection:
    """One Claude Code process, from its start to its end."""

    def __init__(self, setup: Setup) -> None:
        """Start it; must be called in a running event loop."""
        self.setup = setup
        self.last_words: deque[str] = deque(maxlen=LAST_WORDS)
        self.is_over = False
        """Whether the process is gone, or of no use any more."""
        self.is_in_turn = False
        """Whether a prompt was sent whose result has not been seen."""
        self._plans_only = False
        self._work_mode: PermissionMode = "default"
        """What to go back to from planning: the user's own settings may say another one."""
        self._mark = secrets.token_hex(8)
        self._items: asyncio.Queue[Message | Ended] = asyncio.Queue()
        self._is_ready = asyncio.Event()
        self._client = ClaudeSDKClient(_options(setup, self._mark, self._heard))
        self._sending: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None
        self._owner = asyncio.create_task(self._own(), name="claude-owner")

    def ask(self, prompt: str, *, plans_only: bool = False) -> str:
        """Send a prompt as soon as the program is ready; the id by which its result can be told.

        If only a plan is wanted, and that cannot be told to Claude Code, the connection is over and nothing is sent.
        """
        prompt_id = str(uuid4())
        self.is_in_turn = self.setup.gate.is_open = True
        self._sending = asyncio.create_task(self._send(prompt, prompt_id, plans_only), name="claude-prompt")
        return prompt_id

    def leftovers(self) -> str:
        """What Claude said since the last turn ended, unasked; it is taken out of the queue."""
        texts: list[str] = []
        while not self._items.empty():
            item = self._items.get_nowait()
            if isinstance(item, Ended):
                self._items.put_nowait(item)
                break
            if isinstance(item, AssistantMessage) and item.parent_tool_use_id is None:
                texts += [block.text for block in item.content if isinstance(block, TextBlock)]
        return "\n\n".join(texts)

    async def next(self, seconds: float) -> Message | Ended | None:
        """The next thing reported, or `None` if nothing came for so long."""
        try:
            async with asyncio.timeout(seconds):
                return await self._items.get()
        except TimeoutError:
            return None

    async def stop_turn(self) -> None:
        """Interrupt the turn and read it to its end, so that nothing of it is left for the next one."""
        self.end_turn()
        try:
            async with asyncio.timeout(STOP_SECONDS):
                if await self._was_sent():
                    await self._client.interrupt()
                    await self._read_to_result()
                    return
        except Exception as error:
            # Whatever stands in the way, the answer is the same: this Claude Code is given up.
            self._note(f"could not interrupt: {error}")
        await self.close()

    def end_turn(self) -> None:
        """The turn is over by itself."""
        self.is_in_turn = self.setup.gate.is_open = False

    async def close(self) -> None:
        """Disconnect and end every process that belongs to this connection. Bounded; may be called often."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(), name="claude-close")
        await asyncio.shield(self._closing)

    async def _own(self) -> None:
        error: Exception | None = None
        try:
            leave_outer_session()
            async with asyncio.timeout(START_SECONDS):
                await self._client.connect()
            self._is_ready.set()
            async for message in self._client.receive_messages():
                self._see_mode(message)
                self._items.put_nowait(message)
        except Exception as reason:
            error = reason
        self.is_over = True
        self._items.put_nowait(Ended(error))

    def _see_mode(self, message: Message) -> None:
        """Claude Code also changes its mode by itself, when a plan was approved or when it goes to plan."""
        mode = message.data.get("permissionMode") if isinstance(message, SystemMessage) else None
        if mode:
            self._plans_only = mode == PLAN
            self._work_mode = self._work_mode if self._plans_only else mode

    async def _plan(self, plans_only: bool) -> bool:
        """Tell Claude Code whether only a plan is wanted; whether it knows."""
        if plans_only == self._plans_only:
            return True
        try:
            await self._client.set_permission_mode(PLAN if plans_only else self._work_mode)
        except Exception as error:
            self.is_over = True
            self._items.put_nowait(Ended(error))
            return False
        self._plans_only = plans_only
        return True

    async def _send(self, prompt: str, prompt_id: str, plans_only: bool) -> None:
        async def one() -> AsyncIterator[dict[str, Any]]:
            content = {"role": "user", "content": prompt}
            yield {"type": "user", "uuid": prompt_id, "message": content, "parent_tool_use_id": None}

        await self._is_ready.wait()
        if not await self._plan(plans_only):
            return
        try:
            await self._client.query(one())
        except Exception as error:
            # The owner meets the same end, and with it the reason; this only keeps the words.
            self._note(f"could not send: {error}")

    async def _was_sent(self) -> bool:
        """Whether there is a turn to interrupt. A prompt that waits for the start is taken back."""
        if self._sending is None or not self._is_ready.is_set() or self.is_over:
            return False
        await self._sending
        return True

    async def _read_to_result(self) -> None:
        while not isinstance(item := await self._items.get(), Ended):
            if isinstance(item, ResultMessage) and (item.origin is None or item.origin["kind"] == "human"):
                return
        self._items.put_nowait(item)

    async def _close(self) -> None:
        if self._sending is not None:
            self._sending.cancel()
            await asyncio.gather(self._sending, return_exceptions=True)
        is_starting = not self._is_ready.is_set() and not self.is_over
        if is_starting:
            # Still starting: there is nobody to disconnect from, and the client must not be cancelled.
            await end_marked(self._mark)
        with suppress(Exception):
            await self._client.disconnect()
        await end_marked(self._mark)
        await asyncio.wait([self._owner], timeout=START_LEFT_SECONDS if is_starting else STOP_SECONDS)
        self._owner.cancel()
        await asyncio.gather(self._owner, return_exceptions=True)

    def _heard(self, line: str) -> None:
        line = masked(line)
        self.last_words.append(line)
        self._note(line)

    def _note(self, line: str) -> None:
        if self.setup.log is not None:
            self.setup.log(masked(line))


def _options(setup: Setup, mark: str, heard: Callable[[str], None]) -> ClaudeAgentOptions:
    # Two tokens, as the SDK passes it: the file's name is ours and never begins with a dash.
    file = {"append-system-prompt-file": str(setup.system_file)} if setup.system_file else {}
    return ClaudeAgentOptions(
        system_prompt={"type": "preset", "preset": "claude_code"},
        extra_args={**file},
        setting_sources=["user", "project", "local"],
        cli_path=setup.cli,
        cwd=setup.cwd,
        model=setup.model,
        resume=setup.resume,
        can_use_tool=setup.gate.decide,
        disallowed_tools=list(UNSERVED_TOOLS),
        hooks=hooks(setup.context, setup.watch),
        include_partial_messages=True,
        verbatim_prompts=True,
        max_budget_usd=setup.allowance_usd,
        max_buffer_size=LINE_LIMIT,
        stderr=heard,
        env={MARK: mark, "CLAUDE_CODE_MAX_RETRIES": str(setup.max_retries)},
    )
