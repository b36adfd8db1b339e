"""Claude Code as an agent: the escalation's end of the line.

While Claude has the floor one connected process serves turn after turn. A hand-off always starts a new one: the
standing part goes into a file behind Claude Code's system prompt, the changing part beside it at a first hand-off and
with the prompt at a later one, where Claude Code would ignore a changed file. This module decides when Claude Code is
started, kept and ended; what it reports is translated elsewhere. The SDK takes most of a second to import, so it is
imported with the first turn.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from importlib import import_module
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from milk_tui.agents.base import TurnRequest, Watch, unwatched
from milk_tui.agents.claude.lock import ClaudeLock
from milk_tui.agents.claude.pieces import CONTEXT_LIMIT, pieces
from milk_tui.agents.claude.private import private_file
from milk_tui.agents.claude.process import find_cli
from milk_tui.core.errors import Failure, MilkError
from milk_tui.core.events import AgentEvent, AgentFailed, AgentReady, Noticed, Silent
from milk_tui.core.permission import Permission

if TYPE_CHECKING:
    from claude_agent_sdk import Message

    from milk_tui.agents.claude.connection import Connection
    from milk_tui.agents.claude.own_screen import Opening, OwnScreen

_MISSING = Failure(
    kind="missing",
    sentence="There is no Claude Code on this machine.",
    remedy="Install Claude Code, or set its path.",
)
_CENT = 0.01
"""A smaller difference in what may be spent is not worth a new process, in US dollars."""


class ClaudeCode:
    """The agent. It is usable again after every failure, on the same session where one is known."""

    def __init__(
        self,
        permission: Permission,
        *,
        lock_dir: Path,
        cli_path: str | None = None,
        model: str | None = None,
        max_retries: int = 3,
        silence_seconds: float = 60.0,
        plans_only: Callable[[], bool] = lambda: False,
        log: Callable[[str], None] | None = None,
        watch: Watch = unwatched,
    ) -> None:
        """Prepare; nothing is started before the first turn.

        Args:
            permission: who is asked before a tool runs that Claude Code's rules do not allow.
            lock_dir: where locks are kept: one Claude session has one milk-tui at a time.
            cli_path: the program; the one inside the SDK if not set.
            model: the model to ask for; Claude Code's own choice if not set.
            max_retries: how often Claude Code repeats a failed request.
            silence_seconds: when the first `Silent` comes; further ones come twice as often.
            plans_only: asked before each turn: whether Claude may only look and make a plan.
            log: where diagnostic lines go, secrets masked.
            watch: is told of each call that may change a file, before it can run.
        """
        self._permission = permission
        self._cli_path = cli_path
        self._model = model
        self._max_retries = max_retries
        self._silence_seconds = silence_seconds
        self._log = log
        self._plans_only = plans_only
        self._watch = watch
        self._connection: Connection | None = None
        self._leaving: asyncio.Task[None] | None = None
        self._lock = ClaudeLock(lock_dir)
        self._session_id: str | None = None
        self._standing = ""
        self._spent: dict[str, float] = {}
        self._ceiling = inf
        """What the session may have cost when the present process has to stop."""

    async def run(self, request: TurnRequest) -> AsyncGenerator[AgentEvent, None]:
        """Answer one turn; see `Agent.run`."""
        await self._settle()
        # The import takes most of a second, which the event loop has better uses for.
        await asyncio.to_thread(import_module, "milk_tui.agents.claude.events")
        await asyncio.to_thread(import_module, "milk_tui.agents.claude.connection")
        with tempfile.TemporaryDirectory(prefix="milk-tui-") as folder:
            connection = await self._open(request, Path(folder))
            if isinstance(connection, Failure):
                yield AgentFailed(failure=connection)
                return
            failure: Failure | None = None
            try:
                async with aclosing(self._turn(connection, request)) as events:
                    async for event in events:
                        failure = event.failure if isinstance(event, AgentFailed) else None
                        yield event
            finally:
                await self._leave(connection, failure)

    async def close(self) -> None:
        """Claude gives the floor back: end its process and forget the stay. A later hand-off resumes its session."""
        await self._settle()
        await self._drop()
        self._session_id, self._standing = None, ""

    @asynccontextmanager
    async def own_screen(self, opening: Opening) -> AsyncIterator[OwnScreen]:
        """Claude Code's own screen, ready to be opened: no other process of ours is on its session meanwhile.

        Raises:
            MilkError: it is not on this machine, or somebody else has the session open.
        """
        from milk_tui.agents.claude.own_screen import OwnScreen

        await self.close()
        cli, _ = find_cli(self._cli_path)
        refusal = self._hold(opening.resume_id) if cli else _MISSING
        try:
            if refusal is not None:
                raise MilkError(refusal.sentence, refusal.remedy)
            with tempfile.TemporaryDirectory(prefix="milk-tui-") as folder:
                yield OwnScreen(cli, self._model, opening, Path(folder))
        finally:
            await self.close()

    def note_cost(self, session_id: str, total_usd: float | None) -> None:
        """A session went on elsewhere, and has cost so much by now; `None` if nobody knows."""
        self._spent.pop(session_id, None)
        if total_usd is not None:
            self._spent[session_id] = total_usd

    async def _turn(self, connection: Connection, request: TurnRequest) -> AsyncGenerator[AgentEvent, None]:
        from milk_tui.agents.claude.events import Translator

        unasked = connection.leftovers()
        if unasked:
            yield Noticed(text=f"Meanwhile Claude said, unasked: {unasked}")
        prompt = f"{request.preface}\n\n{request.prompt}" if request.preface else request.prompt
        plans_only = self._plans_only()
        prompt_id = connection.ask(prompt, plans_only=plans_only)
        translator = Translator(prompt_id, self._spent_before(request), plans_only=plans_only)
        async with aclosing(self._items(connection)) as items:
            async for item in items:
                if isinstance(item, Silent | AgentFailed):
                    yield item
                    continue
                told = list(translator.events(item))
                if translator.is_over:
                    self._turn_over(connection, translator.total_cost)
                for event in told:
                    yield event
                    refusal = self._hold(event.session_id) if isinstance(event, AgentReady) else None
                    if refusal is not None:
                        yield AgentFailed(failure=refusal)
                        return
                if translator.is_over:
                    return

    def _spent_before(self, request: TurnRequest) -> float:
        """What Claude's session has cost, in US dollars; after a restart, what its turns are known to have cost."""
        if self._session_id is None:
            return 0.0
        if self._session_id in self._spent:
            return self._spent[self._session_id]
        known = 0.0
        for turn in reversed(request.turns):
            if turn.agent == "claude":
                known += turn.usage.cost_usd or 0.0
                if turn.receipt and turn.receipt.situation != "resume" and turn.status == "finished":
                    break  # Claude's session began here
        return known

    def _turn_over(self, connection: Connection, total_cost: float | None) -> None:
        connection.end_turn()
        if self._session_id is not None and total_cost is not None:
            self._spent[self._session_id] = total_cost

    async def _items(self, connection: Connection) -> AsyncGenerator[Message | Silent | AgentFailed, None]:
        """What the connection reports, how long it has been silent, and how it died."""
        from milk_tui.agents.claude.connection import Ended
        from milk_tui.agents.claude.failures import of_end

        silence, wait = 0.0, self._silence_seconds
        while not isinstance(item := await connection.next(wait), Ended):
            if item is not None:
                silence, wait = 0.0, self._silence_seconds
                yield item
                continue
            silence, wait = silence + wait, self._silence_seconds / 2
            if not connection.setup.gate.is_asking:
                yield Silent(seconds=silence)
        yield AgentFailed(failure=of_end(item.error, connection.setup.cli, tuple(connection.last_words)))

    async def _open(self, request: TurnRequest, folder: Path) -> Connection | Failure:
        """The process for this turn: the connected one for a follow-up, else a new one."""
        handoff, resume = request.handoff, request.resume_id
        if handoff is not None and handoff.situation != "resume":
            resume = None
        if handoff is None:
            resume = resume or self._session_id
            if self._connection is not None and resume == self._session_id and self._may_spend(request):
                return self._connection
        await self._drop()
        refusal = self._hold(resume)
        if refusal is not None:
            return refusal
        cli, _ = find_cli(self._cli_path)
        return self._start(cli, request, resume, folder) if cli else _MISSING

    def _may_spend(self, request: TurnRequest) -> bool:
        """Whether the process was started with all that the turn may spend: it cannot be told of more."""
        return self._ceiling >= self._ceiling_of(request) - _CENT

    def _ceiling_of(self, request: TurnRequest) -> float:
        allowance = request.allowance_usd
        return inf if allowance is None else self._spent_before(request) + allowance

    def _start(self, cli: str, request: TurnRequest, resume: str | None, folder: Path) -> Connection:
        from milk_tui.agents.claude.connection import Connection, Setup
        from milk_tui.agents.claude.permission import Gate

        changing = request.handoff.changing if request.handoff else ""
        if request.handoff is not None:
            self._standing = request.handoff.standing
        self._ceiling = self._ceiling_of(request)
        appended = self._standing if resume else "\n\n".join(filter(None, (self._standing, changing)))
        self._connection = Connection(
            Setup(
                cli=cli,
                cwd=request.cwd,
                gate=Gate(self._permission, request.cwd),
                model=self._model,
                resume=resume,
                system_file=private_file(folder / "context.md", appended) if appended else None,
                context=tuple(pieces(changing, CONTEXT_LIMIT)) if resume else (),
                max_retries=self._max_retries,
                allowance_usd=request.allowance_usd,
                log=self._log,
                watch=self._watch,
            )
        )
        return self._connection

    async def _leave(self, connection: Connection, failure: Failure | None) -> None:
        """After a turn: keep the process if it can serve another one. Cancelling this stops nothing half-way."""
        if not connection.is_over and not connection.is_in_turn and failure is None:
            return
        self._leaving = asyncio.create_task(self._wind_down(connection, failure), name="claude-leave")
        await asyncio.shield(self._leaving)

    async def _wind_down(self, connection: Connection, failure: Failure | None) -> None:
        if connection.is_in_turn and not connection.is_over:
            await connection.stop_turn()
        if failure is not None and failure.kind == "unknown_session":
            self._session_id = None
        if failure is not None or connection.is_over:
            await self._drop()

    async def _settle(self) -> None:
        """Wait until the turn before has been wound down, however impatiently it was left."""
        if self._leaving is not None:
            await asyncio.shield(self._leaving)
            self._leaving = None

    async def _drop(self) -> None:
        """End the process and let its session go."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()
        self._lock.release()

    def _hold(self, session_id: str | None) -> Failure | None:
        """Go on with this session, unless somebody else does."""
        refusal = self._lock.take(session_id)
        self._session_id = session_id if refusal is None else None
        return refusal
