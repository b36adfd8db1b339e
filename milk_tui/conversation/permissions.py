"""Where an agent's question meets whoever may answer it.

Agents are built before there is a screen and outlive every dialog; the desk is the one address they know. Without
anybody behind it the answer is no.
"""

from milk_tui.core.permission import Answer, Permission, Question, deny


class PermissionDesk:
    """Passes questions on, one after the other."""

    def __init__(self, answerer: Permission = deny) -> None:
        self.answerer = answerer

    async def ask(self, question: Question) -> Answer:
        """The user's decision about one tool call."""
        return await self.answerer(question)
