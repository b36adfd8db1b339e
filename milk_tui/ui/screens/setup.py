"""Looking at the surroundings: fills the checklist, keeps it true while it is shown, and mends what it can."""

from collections.abc import Awaitable
from typing import TYPE_CHECKING

from textual.timer import Timer

from milk_tui.agents.embedded.weights import Stage
from milk_tui.agents.server.facts import shown_name
from milk_tui.conversation.checkup import Check, LocalCheckup
from milk_tui.core.errors import MilkError
from milk_tui.ui.screens.address import AddressScreen
from milk_tui.ui.widgets.checklist import Checklist, Offer, Row

if TYPE_CHECKING:
    from milk_tui.ui.screens.chat import ChatScreen

_AGAIN = 5.0
"""Seconds between two looks while the local role is empty and the list is shown."""

_PROMISE = "Nothing goes to Claude unless you hand over yourself: Ctrl+G shows what would be sent."
_AUTO = "The local agent may hand over to Claude by itself: agent_escalation is auto."

_PULL = "pull"
_URL = "url"
_LOOK = "look"


class Setup:
    """What is known about the local role and about Claude Code."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen
        self._bench = screen.bench
        self._list = screen.query_one(Checklist)
        self._local: LocalCheckup | None = None
        self.claude: Check | None = None
        """What was found out about Claude Code; `None` while it is being looked at."""
        self._pulling = ""
        self._timer: Timer | None = None
        self._list.promise = _AUTO if screen.talk.escalation == "auto" else _PROMISE
        self._draw()

    @property
    def can_answer(self) -> bool:
        """Whether a prompt to the local agent is worth a try; before anybody has looked, it is."""
        return self._local is None or self._local.is_usable or bool(self._bench.settings.url)

    def begin(self) -> None:
        """Look for the first time, and start what the first turn should not wait for."""
        self._screen.run_worker(self._bench.toolbox.servers.start(), group="mcp", exit_on_error=False)
        self._screen.run_worker(self._look(), group="look", exclusive=True, exit_on_error=False)
        self._screen.run_worker(self.look_at_claude(), group="claude", exclusive=True, exit_on_error=False)

    def report(self) -> None:
        """Look at everything again and say what was found."""
        self._screen.run_worker(self._report(), group="look", exclusive=True, exit_on_error=False)

    async def look_at_claude(self) -> Check:
        """Look whether Claude Code is there."""
        self.claude = await self._bench.check_claude()
        self._draw()
        return self.claude

    def focus(self) -> None:
        """There is nobody to answer: show what can be done, and keep the prompt."""
        self._screen.add_class("-fresh")
        self._list.focus()

    def choose(self, choice: str) -> None:
        """Do what the user chose on the list."""
        if choice == _PULL:
            self.pull()
        elif choice == _URL:
            self._screen.run_worker(self.ask_address(), group="address", exit_on_error=False)
        elif choice == _LOOK:
            self.begin()
        else:
            url, _, model = choice.partition("\n")
            self._screen.run_worker(self.use(url, model), group="use", exit_on_error=False)

    def pull(self) -> None:
        """Fetch the built-in model and let it answer."""
        if not self._pulling:
            self._pulling = "starting…"
            self._screen.run_worker(self._pull(), group="pull", exit_on_error=False)

    async def use(self, url: str, model: str) -> None:
        """Let a server answer from now on."""
        await self._put(self._bench.use_server(url, model), shown_name(model))

    async def use_embedded(self) -> None:
        """Let the built-in model answer from now on."""
        await self._put(self._bench.use_embedded(), "")

    async def ask_address(self) -> None:
        """Ask for a server's address, and let it answer from now on."""
        address = await self._screen.app.push_screen_wait(AddressScreen(self._bench.settings.url or ""))
        if address:
            await self.use(address, "")

    async def _look(self, *, tells: bool = False) -> LocalCheckup:
        self._local = local = await self._bench.check_local()
        self._draw()
        if not self._screen.has_class("-fresh"):
            if tells or not local.is_usable:
                self._screen.tell(_words(local.check))
        elif not local.is_usable and self._timer is None:
            self._timer = self._screen.set_timer(_AGAIN, self._look_again)
        return local

    def _look_again(self) -> None:
        self._timer = None
        if self._screen.has_class("-fresh") and not self._pulling:
            self._screen.run_worker(self._look(), group="look", exclusive=True, exit_on_error=False)

    async def _report(self) -> None:
        local = await self._bench.check_local()
        claude = await self.look_at_claude()
        self._local = local
        self._draw()
        self._screen.tell("\n".join(_words(check) for check in (local.check, local.window, claude)))

    async def _put(self, change: Awaitable[str], model: str) -> None:
        """Put another model in the local role, and say who answers now."""
        try:
            problem = await change
        except MilkError as error:
            problem = str(error)
        else:
            self._screen.stating.model_chosen(model)
            self._screen.returning.show()
        if problem:
            self._screen.tell(problem)
        await self._look(tells=True)
        self._screen.prompt.focus()

    async def _pull(self) -> None:
        try:
            problem = await self._bench.fetch_model(self._progress)
        except MilkError as error:
            problem = str(error)
        if problem:
            self._screen.tell(problem)
        self._pulling = ""
        await self._look(tells=True)

    def _progress(self, stage: Stage, fraction: float | None) -> None:
        """Called from the thread that fetches."""
        words = "fetching" if stage == "fetching" else "checking"
        self._pulling = f"{words} the built-in model" + ("" if fraction is None else f" {fraction:.0%}")
        self._screen.app.call_from_thread(self._draw)

    def _draw(self) -> None:
        local = self._local
        rows = [Row(name="Local model"), Row(name="Window")]
        if local is not None:
            rows = [_row(local.check), _row(local.window)]
        if self._pulling:
            rows[0] = Row(name="Local model", text=self._pulling)
        rows.append(_row(self.claude) if self.claude else Row(name="Claude Code"))
        self._list.rows = tuple(rows)
        self._list.offers = tuple(self._offers(local))

    def _offers(self, local: LocalCheckup | None) -> list[Offer]:
        if local is None:
            return []
        offers = [
            Offer(
                key=str(number),
                text=f"use {shown_name(facts.model) or facts.kind} at {facts.url}",
                choice=f"{facts.url}\n{facts.model}",
            )
            for number, facts in enumerate(local.offered[:9], 1)
        ]
        if not local.is_usable and not self._pulling:
            offers.append(Offer(key="p", text="fetch the built-in model (98 MB)", choice=_PULL))
        offers.append(Offer(key="u", text="give the address of a server", choice=_URL))
        offers.append(Offer(key="l", text="look again", choice=_LOOK))
        return offers


def _words(check: Check) -> str:
    return f"{check.name}: {check.text}" + (f" – {check.remedy}" if check.remedy else "")


def _row(check: Check) -> Row:
    return Row(name=check.name, state=check.state, text=check.text, remedy=check.remedy)
