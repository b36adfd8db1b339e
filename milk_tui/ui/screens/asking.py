"""An agent's questions, one after the other, on the question card."""

import asyncio
from typing import TYPE_CHECKING

from milk_tui.core.permission import Answer, Question
from milk_tui.ui.widgets.question_card import Decision, QuestionCard

if TYPE_CHECKING:
    from milk_tui.ui.screens.chat import ChatScreen


class Asking:
    """Stands behind the permission desk while the chat is on the screen."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen
        self._card = screen.query_one(QuestionCard)
        self._turn = asyncio.Lock()
        self._decision: asyncio.Future[Decision] | None = None
        screen.bench.desk.answerer = self.ask

    async def ask(self, question: Question) -> Answer:
        """Show a question and wait for the user; a question whose turn is stopped goes away."""
        async with self._turn:
            self._decision = asyncio.get_running_loop().create_future()
            self._card.ask(
                self._who(),
                question.tool,
                question.arguments,
                question.path,
                question.reason,
                question.session_scope,
            )
            self._screen.stating.asking(True)
            try:
                return Answer(decision=await self._decision)
            finally:
                self._decision = None
                self._close()

    def answered(self, decision: Decision) -> None:
        """Pass the user's decision on."""
        if self._decision is not None and not self._decision.done():
            self._decision.set_result(decision)

    def refuse(self) -> bool:
        """Answer an open question with no; tells whether there was one."""
        if self._decision is None:
            return False
        self.answered("no")
        return True

    def focus(self) -> bool:
        """Go to an open question; tells whether there is one to go to."""
        if self._decision is None or self._card.has_focus:
            return False
        self._card.focus()
        return True

    def _who(self) -> str:
        running = self._screen.talk.session.running
        return "The local agent" if running is not None and running.agent == "local" else "Claude"

    def _close(self) -> None:
        had_focus = self._card.has_focus
        self._card.hide()
        self._screen.stating.asking(False)
        if had_focus:
            self._screen.prompt.focus()
