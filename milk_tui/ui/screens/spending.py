"""What Claude costs and may cost, and hand-offs that are taken elsewhere."""

from math import isfinite
from typing import TYPE_CHECKING

from textual.screen import Screen

from milk_tui.conversation.elsewhere import saved
from milk_tui.conversation.rehearsal import payload
from milk_tui.core.errors import MilkError
from milk_tui.core.secrets import found, looks
from milk_tui.ui.screens.usage import UsageScreen

if TYPE_CHECKING:
    from milk_tui.ui.screens.chat import ChatScreen


class Spending:
    """Shows figures, raises limits, and gives hand-offs away."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen

    def usage(self) -> None:
        """Show what was spent."""
        self._screen.run_worker(self._usage(), group="usage", exclusive=True, exit_on_error=False)

    def allow(self, text: str = "") -> None:
        """Let Claude spend more."""
        try:
            self._screen.tell(self._screen.talk.allow_spending(_amount(text)))
        except MilkError as error:
            self._screen.tell(str(error))
        self._screen.stating.show()

    def handoff(self, name: str = "") -> None:
        """Copy what would be handed over, or save it in a file that is not there yet."""
        if name:
            self._save(name, may_replace=False)
        else:
            self._screen.copying.text(self._payload())

    def handoff_over(self, name: str = "") -> None:
        """Save what would be handed over, whatever is in the file now."""
        if name:
            self._save(name, may_replace=True)
        else:
            self._screen.tell("Name the file: `/handoff! FILE` replaces it.")

    def _save(self, name: str, *, may_replace: bool) -> None:
        text = self._payload()
        try:
            path = saved(
                text,
                name,
                self._screen.talk.session.state.cwd,
                otherwise=f"`/handoff! {name}` replaces it.",
                may_replace=may_replace,
            )
        except MilkError as error:
            self._screen.tell(str(error))
        else:
            self._screen.tell(f"{len(text):,} characters saved in {path}, which only you may read.")

    def _payload(self) -> str:
        """The hand-off as one text; what looks like a secret in it is told."""
        text = payload(self._screen.talk.forecast())
        count = len(found(text))
        if count:
            self._screen.tell(f"{looks(count)} in what you take elsewhere. Nothing is masked.")
        return text

    async def _usage(self) -> None:
        try:
            report = await self._screen.bench.usage()
        except MilkError as error:
            self._screen.tell(str(error))
        else:
            await self._screen.app.push_screen(UsageScreen(report))


class SpendActions(Screen[None]):
    """The part of the chat's actions that is about it."""

    spending: Spending

    def action_usage(self, _text: str = "") -> None:
        """Show what was spent."""
        self.spending.usage()

    def action_spend(self, text: str = "") -> None:
        """Let Claude spend more."""
        self.spending.allow(text)

    def action_handoff(self, name: str = "") -> None:
        """Copy the hand-off, or save it in a new file."""
        self.spending.handoff(name)

    def action_handoff_over(self, name: str = "") -> None:
        """Save the hand-off over a file."""
        self.spending.handoff_over(name)


def _amount(text: str) -> float | None:
    """The dollars that were written; `None` if nothing was. Raises `MilkError`."""
    if not text:
        return None
    try:
        amount = float(text.strip().removeprefix("$"))
    except ValueError:
        amount = 0.0
    if not isfinite(amount) or amount <= 0:
        raise MilkError(f"{text} is no amount of money.", "Write it as in `/spend 0.50`.")
    return amount
