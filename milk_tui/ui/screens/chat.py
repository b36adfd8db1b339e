"""The two panes: the only place where the conversation and the widgets meet.

Widgets post messages here, the conversation yields updates here, and neither knows the other.
"""

import contextlib
from collections.abc import AsyncGenerator
from time import monotonic
from typing import ClassVar

from textual import on, work
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Footer, Input
from textual.worker import Worker, WorkerState

from milk_tui.conversation.commands import COMMANDS, Command, is_mistyped, parsed
from milk_tui.conversation.update import Update
from milk_tui.conversation.workbench import Workbench
from milk_tui.core import events as ev
from milk_tui.core.errors import MilkError
from milk_tui.ui.panels.need_panel import NeedPanel
from milk_tui.ui.panels.panel import Panel
from milk_tui.ui.panels.registry import BrickColumn
from milk_tui.ui.panels.strip import BrickStrip
from milk_tui.ui.screens.asking import Asking
from milk_tui.ui.screens.copying import Copying
from milk_tui.ui.screens.gauging import Gauging
from milk_tui.ui.screens.handing import Handing
from milk_tui.ui.screens.help import HelpScreen, own_keys
from milk_tui.ui.screens.keys import CHAT, PLACES
from milk_tui.ui.screens.mishaps import Mishaps
from milk_tui.ui.screens.recalling import Recalling
from milk_tui.ui.screens.setup import Setup
from milk_tui.ui.screens.spending import SpendActions, Spending
from milk_tui.ui.screens.stating import Stating
from milk_tui.ui.screens.switching import SwitchActions, Switching
from milk_tui.ui.screens.typing_on import TypingOn
from milk_tui.ui.story import Story
from milk_tui.ui.widgets.checklist import Checklist
from milk_tui.ui.widgets.prompt import Prompt
from milk_tui.ui.widgets.prompt_box import PromptBox
from milk_tui.ui.widgets.question_card import QuestionCard
from milk_tui.ui.widgets.status_line import StatusLine
from milk_tui.ui.widgets.transcript import Transcript

_QUIT_WITHIN = 2.0
"""Seconds in which a second Ctrl+C quits."""


class ChatScreen(SwitchActions, SpendActions, TypingOn):
    """Conversation on the left, bricks on the right; one strip instead of them where it is narrow."""

    AUTO_FOCUS = "Prompt"
    BINDINGS: ClassVar[list[BindingType]] = CHAT

    def __init__(self, bench: Workbench) -> None:
        super().__init__()
        self.bench = bench
        self.talk = bench.conversation
        self._sent, self._is_asked_for = "", False
        self._interrupted_at = -_QUIT_WITHIN

    def compose(self) -> ComposeResult:
        """The panes, the strip for narrow terminals, the status line and the keys."""
        commands = [(command.name[1:], command.help) for command in COMMANDS]
        with Horizontal(id="panes"):
            with Vertical(id="conversation"):
                yield Checklist(id="checklist")
                yield Transcript(id="transcript")
                yield QuestionCard(id="question")
                yield BrickStrip(id="strip")
                yield PromptBox(Prompt(commands, placeholder="Write, and press Enter", id="prompt"))
            yield BrickColumn(id="bricks")
        yield StatusLine(id="status")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Show the session as it is; look at the surroundings once the first frame is there."""
        self.prompt = self.query_one(Prompt)
        self.story = Story(self.query_one(Transcript))
        self.stating = Stating(self.query_one(StatusLine), self.talk)
        self.gauging = Gauging(self)
        self.setup = Setup(self)
        self.asking = Asking(self)
        self.copying = Copying(self)
        self.mishaps = Mishaps(self)
        self.recalling = Recalling(self.prompt, self.talk.session)
        self.handing = Handing(self)
        self.spending = Spending(self)
        self.switching = Switching(self)
        self.set_class(not self.talk.session.turns, "-fresh")
        self.gauging.show(self.talk.bricks())
        self.story.tell_turns(self.talk.session.turns)
        for notice in self.bench.notices:
            self.tell(notice)
        self._show_floor()
        self.call_after_refresh(self.setup.begin)

    @on(Prompt.Submitted)
    def submit(self, event: Prompt.Submitted) -> None:
        """Run a command; give anything else to whoever has the floor. Nothing is cleared before it is accepted."""
        text = event.text
        command = parsed(text)
        if command is not None:
            self.prompt.clear()
            self.run_command(*command)
        elif is_mistyped(text):
            self.tell(f"There is no command {text.split()[0]}; F1 lists them. Your text is still there.")
        elif self.talk.is_busy:
            self.tell("A turn is running; your text waits in the prompt. Esc stops the turn.")
        elif self.talk.floor == "local" and not self.setup.can_answer:
            self.setup.focus()
        elif text.strip():
            self.handing.decline()
            self.converse(self.talk.send(text), text)

    def run_command(self, command: Command, argument: str) -> None:
        """Do what a slash command says."""
        getattr(self, f"action_{command.action}")(argument)

    @work(exclusive=True, group="turn", exit_on_error=False)
    async def converse(self, updates: AsyncGenerator[Update, None], sent: str) -> None:
        """Show a turn as it happens; `sent` leaves the prompt once it is accepted, and comes back if it is lost."""
        self._sent, self._is_asked_for = sent, False
        self.mishaps.forget()
        try:
            async with contextlib.aclosing(updates):
                async for update in updates:
                    self.mishaps.guard(self.show, update)
        except MilkError as error:
            self.tell(str(error))
        self._give_back()
        if self._is_asked_for and self.talk.escalation == "ask":
            self._pass_on_request()

    def _pass_on_request(self) -> None:
        """Open the preview that the local agent asked for, unless that would take a text out of the user's hands."""
        if self.prompt.full_text:
            self.tell("Ctrl+G shows what would be handed over; your text stays in the prompt until then.")
        else:
            self.action_escalate()

    @on(Worker.StateChanged)
    def _look_at_worker(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self.mishaps.admit(event.worker.error)

    def show(self, update: Update) -> None:
        """Show one update everywhere it can be seen."""
        event = update.event
        if isinstance(event, ev.TurnStarted):
            self.remove_class("-fresh")
            if self.prompt.full_text == self._sent:
                self.prompt.clear()
        if isinstance(event, ev.EscalationRequested):
            self._is_asked_for = True
        self.story.tell(event)
        self.stating.note(event)
        if update.bricks is not None:
            self.gauging.show(update.bricks)
        else:
            self.gauging.soon()
        if isinstance(event, ev.FloorChanged):
            self._show_floor()

    def _give_back(self) -> None:
        """A turn that failed before any answer leaves its prompt where it can be sent again."""
        last = self.talk.session.turns[-1] if self.talk.session.turns else None
        if last is not None and last.status == "failed" and not last.answer and not self.prompt.full_text:
            self.prompt.write(self._sent)

    def action_escalate(self, text: str = "") -> None:
        """Preview the hand-off, with this text as the prompt if there is one."""
        self.handing.preview(text, self.talk.session.state.brief)

    def action_escalate_now(self, text: str = "") -> None:
        """Hand over without the preview."""
        self.handing.send(text)

    def action_return_to_local(self, text: str = "") -> None:
        """Give the floor back; a text goes to the local agent."""
        self.handing.give_back(text)

    def action_stop(self) -> None:
        """Refuse an open question, or stop the turn."""
        if not self.asking.refuse() and self.talk.is_busy:
            self.stating.stopping()
            self.talk.stop()

    def action_copy_or_stop(self) -> None:
        """Copy the selection; without one stop the turn; pressed twice while idle, quit."""
        if self.get_selected_text():
            self.action_copy_text()
        elif self.talk.is_busy:
            self.action_stop()
        elif monotonic() - self._interrupted_at < _QUIT_WITHIN:
            self.app.exit()
        else:
            self._interrupted_at = monotonic()
            self.notify("Press Ctrl+C again to quit.", timeout=_QUIT_WITHIN, markup=False)

    def action_quit_if_empty(self) -> None:
        """Quit, unless something is written; then the key is what it is in any text."""
        if self.prompt.full_text or isinstance(self.focused, Input):
            raise SkipAction
        self.app.exit()

    def action_next(self) -> None:
        """Go to an open question, else to the next pane."""
        if not self.asking.focus():
            self.focus_next()

    def action_toggle_bricks(self, _text: str = "") -> None:
        """Show or hide the bricks: beside the conversation, or on narrow terminals instead of it."""
        self.toggle_class("-bricks-toggled")

    def action_help(self, _text: str = "") -> None:
        """Show keys and commands."""
        self.app.push_screen(HelpScreen((("Everywhere", own_keys(self.app)), *PLACES)))

    def action_set_need(self, text: str = "") -> None:
        """Set the need, or edit it in its panel."""
        if text:
            self.show(self.talk.edit_need(text))
        else:
            self.set_class(self.has_class("-narrow"), "-bricks-toggled")
            self.query_one(NeedPanel).action_edit()

    def action_copy_answer(self, _text: str = "") -> None:
        """Copy the source of the last answer."""
        self.copying.answer()

    def action_doctor(self, _text: str = "") -> None:
        """Look at the surroundings again."""
        self.setup.report()

    def action_change_theme(self, _text: str = "") -> None:
        """Choose a theme."""
        self.app.search_themes()

    def action_quit(self, _text: str = "") -> None:
        """Leave; the session is kept."""
        self.app.exit()

    @on(Prompt.Changed)
    def _measure(self) -> None:
        self.gauging.soon()

    @on(Prompt.HistoryRequested)
    def _recall(self, event: Prompt.HistoryRequested) -> None:
        self.recalling.step(event.direction)

    @on(Prompt.ScrollRequested)
    def _scroll(self, event: Prompt.ScrollRequested) -> None:
        actions = {"home": "scroll_home", "end": "scroll_end"}
        getattr(self.query_one(Transcript), f"action_{actions.get(event.step, event.step)}")()

    @on(NeedPanel.Edited)
    def _edit_need(self, event: NeedPanel.Edited) -> None:
        self.show(self.talk.edit_need(event.text))
        self.prompt.focus()

    @on(BrickStrip.Clicked)
    def _open_bricks(self) -> None:
        self.action_toggle_bricks()

    @on(Panel.Failed)
    def _report(self, event: Panel.Failed) -> None:
        self.log.error(f"The panel {event.panel} failed: {event.error!r}")

    @on(Transcript.CopyRequested)
    def _copy_block(self, event: Transcript.CopyRequested) -> None:
        self.copying.text(event.text)

    @on(QuestionCard.Answered)
    def _answered(self, event: QuestionCard.Answered) -> None:
        self.asking.answered(event)

    @on(Checklist.Chosen)
    def _mend(self, event: Checklist.Chosen) -> None:
        self.setup.choose(event.choice)

    @on(Checklist.Left)
    def _leave_checklist(self) -> None:
        self.set_class(not self.talk.session.turns, "-fresh")
        self.prompt.focus()

    def tell(self, text: str) -> None:
        """Tell the user something: in the transcript, or over the checklist as long as that is shown."""
        if self.has_class("-fresh"):
            self.notify(text, markup=False)
        else:
            self.story.note(text)

    def _show_floor(self) -> None:
        self.query_one(PromptBox).recipient = self.talk.floor
        self.stating.show()
