"""Where an agent's question meets the user's grants, and then whoever may answer it.

Agents are built before there is a screen and outlive every dialog; the desk is the one address they know. Without
anybody behind it the answer is no.
"""

import asyncio

from milk_tui.core.errors import StoreError
from milk_tui.core.permission import Answer, Permission, Question, Scope, deny
from milk_tui.storage.grants import GrantFile


class PermissionDesk:
    """Passes questions on, one after the other, unless a grant answers them.

    A grant is exact: this tool with this command, or this file or folder. It never covers what is chained to it.
    """

    def __init__(self, file: GrantFile | None = None, answerer: Permission = deny) -> None:
        self.answerer = answerer
        self.problem = ""
        """What should be told about grants that could not be read or kept; empty if nothing."""
        self._file = file
        self._turn = asyncio.Lock()
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

    async def ask(self, question: Question) -> Answer:
        """The decision about one tool call: by a grant, else by the user. Nobody is asked two things at once."""
        if self._is_granted(question.scope):
            return Answer(decision="once")
        async with self._turn:
            if self._is_granted(question.scope):
                return Answer(decision="once")
            answer = await self.answerer(question)
        granted = answer.scope or question.scope
        if granted is not None and answer.decision in ("session", "always"):
            self._grant(granted, is_lasting=answer.decision == "always")
        return answer

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
