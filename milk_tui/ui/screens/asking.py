"""An agent's questions on their cards: the desk asks one after the other, and says how many wait."""

import asyncio
from typing import TYPE_CHECKING

from milk_tui.core.menu import answers_in_words
from milk_tui.core.messages import AgentRole
from milk_tui.core.permission import Answer, Question
from milk_tui.ui.widgets.card import Card
from milk_tui.ui.widgets.menu_card import MenuCard
from milk_tui.ui.widgets.question_card import QuestionCard

if TYPE_CHECKING:
    from milk_tui.ui.screens.chat import ChatScreen


class Asking:
    """Stands behind the permission desk while the chat is on the screen."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen
        self._card: Card = screen.query_one(QuestionCard)
        self._decided: asyncio.Future[Answer] | None = None
        self._asker: AgentRole = "local"
        screen.bench.desk.answerer = self.ask
        screen.bench.desk.on_queue = self._show_queue

    async def ask(self, question: Question) -> Answer:
        """Show a question and wait for the user; a question whose turn is stopped goes away."""
        self._decided = asyncio.get_running_loop().create_future()
        self._asker = question.agent
        self._card = self._screen.query_one(MenuCard if question.menus else QuestionCard)
        self._card.ask(question)
        self._show_queue()
        self._screen.stating.asking(True)
        self._screen.signalling.asked(question)
        try:
            answer = await self._decided
        finally:
            self._decided = None
            self._close()
        self._screen.call_later(self._tell)
        self._screen.story.remark(question.call_id, question.tool, in_words(question, answer))
        return answer

    def _show_queue(self) -> None:
        self._card.queued(*self._screen.bench.desk.place)

    def _tell(self) -> None:
        """A grant that could not be kept is known once the desk has the answer."""
        problem = self._screen.bench.desk.told()
        if problem:
            self._screen.tell(problem)

    def answered(self, answer: Answer) -> None:
        """Pass the user's decision on."""
        if self._decided is not None and not self._decided.done():
            self._decided.set_result(answer)

    def refuse(self, word: str = "") -> bool:
        """Answer an open question with no, and a word to the model; tells whether there was one."""
        if self._decided is None:
            return False
        self.answered(Answer(word=word))
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


def in_words(question: Question, answer: Answer) -> str:
    """How a question was answered, in a few words that stay with the call."""
    if answer.decision == "no":
        no = "declined" if question.menus else "not approved" if question.plan is not None else "refused"
        return f"{no}: {answer.word}" if answer.word else no
    if question.menus:
        return answers_in_words(question.menus, answer.chosen)
    yes = "allowed" if question.plan is None else "approved"
    if answer.decision == "once":
        return f"{yes} once" if question.plan is None else yes
    scope = answer.scope or question.scope
    when = "from now on" if answer.decision == "always" else "for this session"
    what = scope.words() if scope else question.session_scope
    return f"{yes} {when}: {what}" if what else f"{yes} {when}"
