"""An agent's questions on the question card: the desk asks one after the other."""

import asyncio
from typing import TYPE_CHECKING

from milk_tui.core.messages import AgentRole
from milk_tui.core.permission import Answer, Question
from milk_tui.ui.widgets.question_card import QuestionCard

if TYPE_CHECKING:
    from milk_tui.ui.screens.chat import ChatScreen


class Asking:
    """Stands behind the permission desk while the chat is on the screen."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen
        self._card = screen.query_one(QuestionCard)
        self._decided: asyncio.Future[QuestionCard.Answered] | None = None
        self._asker: AgentRole = "local"
        screen.bench.desk.answerer = self.ask

    async def ask(self, question: Question) -> Answer:
        """Show a question and wait for the user; a question whose turn is stopped goes away."""
        self._decided = asyncio.get_running_loop().create_future()
        self._asker = question.agent
        self._card.ask(question)
        self._screen.stating.asking(True)
        self._screen.signalling.asked(question)
        try:
            answered = await self._decided
        finally:
            self._decided = None
            self._close()
        self._screen.call_later(self._tell)
        scope = question.wider if answered.is_wider else None
        self._screen.story.remark(question.call_id, question.tool, in_words(question, answered))
        return Answer(decision=answered.decision, scope=scope, word=answered.word)

    def _tell(self) -> None:
        """A grant that could not be kept is known once the desk has the answer."""
        problem = self._screen.bench.desk.told()
        if problem:
            self._screen.tell(problem)

    def answered(self, answered: QuestionCard.Answered) -> None:
        """Pass the user's decision on."""
        if self._decided is not None and not self._decided.done():
            self._decided.set_result(answered)

    def refuse(self, word: str = "") -> bool:
        """Answer an open question with no, and a word to the model; tells whether there was one."""
        if self._decided is None:
            return False
        self.answered(QuestionCard.Answered("no", False, word))
        return True

    @property
    def is_of_local(self) -> bool:
        """Whether the local agent's question is open."""
        return self._decided is not None and self._asker == "local"

    def focus(self) -> bool:
        """Go to an open question; tells whether there is one to go to."""
        if self._decided is None or self._card.is_in_focus:
            return False
        self._card.enter()
        return True

    def _close(self) -> None:
        had_focus = self._card.is_in_focus
        self._card.hide()
        self._screen.stating.asking(False)
        self._screen.signalling.answered()
        if had_focus:
            self._screen.prompt.focus()


def in_words(question: Question, answered: QuestionCard.Answered) -> str:
    """How a question was answered, in a few words that stay with the call."""
    if answered.decision == "no":
        return f"refused: {answered.word}" if answered.word else "refused"
    if answered.decision == "once":
        return "allowed once"
    scope = question.wider if answered.is_wider else question.scope
    when = "from now on" if answered.decision == "always" else "for this session"
    what = scope.words() if scope else question.session_scope
    return f"allowed {when}: {what}" if what else f"allowed {when}"
