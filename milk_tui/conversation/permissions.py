"""Where an agent's question meets the user's grants, and then whoever may answer it.

Agents are built before there is a screen and outlive every dialog; the desk is the one address they know. Without
anybody behind it the answer is no.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from milk_tui.core.errors import StoreError
from milk_tui.core.permission import Answer, Permission, Question, Scope, deny
from milk_tui.storage.grants import GrantFile


class Place(NamedTuple):
    """Where the question that is asked now stands among those that came while one was open."""

    number: int
    of: int


class PermissionDesk:
    """Passes questions on, one after the other in the order in which they came, unless a grant answers them.

    A grant is exact: this tool with this command, or this file or folder. It never covers what is chained to it.
    """

    def __init__(self, file: GrantFile | None = None, answerer: Permission = deny) -> None:
        self.answerer = answerer
        self.problem = ""
        """What should be told about grants that could not be read or kept; empty if nothing."""
        self.on_queue: Callable[[], None] = lambda: None
        """Called when a question comes or goes."""
        self._file = file
        self._turn = asyncio.Lock()
        self._waiting = self._gone = 0
        self._granted_now: set[str] = set()
        """What the asker itself was allowed while these questions wait: the same is not asked about again."""
        self._session: list[Scope] = []
        self._always: list[Scope] = file.read() if file else []
        if file is not None:
            self.problem = file.warning

    @property
    def session_grants(self) -> tuple[Scope, ...]:
        """What is allowed until the program ends."""
        return tuple(self._session)

    @property
    def lasting_grants(self) -> tuple[Scope, ...]:
        """What is allowed in this directory until it is revoked."""
        return tuple(self._always)

    @property
    def place(self) -> Place:
        """The place of the question that is asked now."""
        return Place(self._gone + 1, self._gone + self._waiting)

    async def ask(self, question: Question) -> Answer:
        """The decision about one tool call: by a grant, else by the user. Nobody is asked two things at once."""
        if self._is_granted(question.scope):
            return Answer(decision="once")
        with self._in_queue():
            async with self._turn:
                if self._is_granted(question.scope) or question.session_scope in self._granted_now:
                    return Answer(decision="once")
                answer = await self.answerer(question)
                if answer.decision == "session" and question.session_scope:
                    self._granted_now.add(question.session_scope)
        granted = answer.scope or question.scope
        if granted is not None and answer.decision in ("session", "always"):
            self._grant(granted, is_lasting=answer.decision == "always")
        return answer

    @contextmanager
    def _in_queue(self) -> Iterator[None]:
        self._waiting += 1
        self.on_queue()
        try:
            yield
        finally:
            self._waiting -= 1
            self._gone += 1
            if not self._waiting:
                self._gone = 0
                self._granted_now.clear()
            self.on_queue()

    def told(self) -> str:
        """What should be told, once."""
        problem, self.problem = self.problem, ""
        return problem

    def revoke(self, scope: Scope) -> None:
        """Take a grant back, for the session and for good."""
        self._session = [each for each in self._session if each != scope]
        if scope in self._always:
            self._always.remove(scope)
            self._keep()

    def _is_granted(self, scope: Scope | None) -> bool:
        return scope is not None and any(grant.covers(scope) for grant in (*self._session, *self._always))

    def _grant(self, scope: Scope, *, is_lasting: bool) -> None:
        if not is_lasting:
            self._session.append(scope)
            return
        self._always.append(scope)
        self._keep()

    def _keep(self) -> None:
        if self._file is None:
            return
        try:
            self._file.write(self._always)
        except StoreError as error:
            self.problem = str(error)
