"""The two panes: the only place where the conversation and the widgets meet.

Widgets post messages here, the conversation yields updates here, and neither knows the other.
"""

from collections.abc import AsyncGenerator
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Footer
from textual.worker import Worker, WorkerState

from milk_tui.conversation.commands import Command, is_mistyped, parsed
from milk_tui.conversation.update import Update
from milk_tui.conversation.workbench import Workbench
from milk_tui.core.own_command import own_command
from milk_tui.ui.panels.need_panel import NeedPanel
from milk_tui.ui.panels.panel import Panel
from milk_tui.ui.panels.registry import BrickColumn
from milk_tui.ui.panels.strip import BrickStrip
from milk_tui.ui.preferences import prefer
from milk_tui.ui.screens.asking import Asking
from milk_tui.ui.screens.conversing import Conversing
from milk_tui.ui.screens.copying import Copying
from milk_tui.ui.screens.drafting import Drafting
from milk_tui.ui.screens.editing import EditActions, Editing
from milk_tui.ui.screens.finding import FindActions, Finding
from milk_tui.ui.screens.gauging import Gauging
from milk_tui.ui.screens.giving import GiveActions, Giving
from milk_tui.ui.screens.handing import Handing
from milk_tui.ui.screens.keys import CHAT, all_places
from milk_tui.ui.screens.mentioning import Mentioning
from milk_tui.ui.screens.mishaps import Mishaps
from milk_tui.ui.screens.plain_actions import PlainActions
from milk_tui.ui.screens.queueing import QueueActions, Queueing
from milk_tui.ui.screens.recalling import RecallActions, Recalling
from milk_tui.ui.screens.reopening import Reopening, SessionActions
from milk_tui.ui.screens.returning import ReturnActions, Returning
from milk_tui.ui.screens.settings import SettingsScreen
from milk_tui.ui.screens.setup import Setup
from milk_tui.ui.screens.shaping import ShapeActions, Shaping
from milk_tui.ui.screens.shell import new_prompt
from milk_tui.ui.screens.signalling import Signalling
from milk_tui.ui.screens.spending import SpendActions, Spending
from milk_tui.ui.screens.stating import Stating
from milk_tui.ui.screens.switching import SwitchActions, Switching
from milk_tui.ui.screens.taking import TakeActions, Taking
from milk_tui.ui.screens.typing_on import TypingOn
from milk_tui.ui.screens.undoing import UndoActions, Undoing
from milk_tui.ui.story import Story
from milk_tui.ui.widgets.card import Card
from milk_tui.ui.widgets.checklist import Checklist
from milk_tui.ui.widgets.menu_card import MenuCard
from milk_tui.ui.widgets.prompt import Prompt
from milk_tui.ui.widgets.prompt_box import PromptBox
from milk_tui.ui.widgets.question_card import QuestionCard
from milk_tui.ui.widgets.queue_chips import QueueChips
from milk_tui.ui.widgets.status_line import StatusLine
from milk_tui.ui.widgets.transcript import Transcript


class ChatScreen(
    PlainActions,
    FindActions,
    GiveActions,
    SwitchActions,
    SpendActions,
    QueueActions,
    UndoActions,
    SessionActions,
    TakeActions,
    EditActions,
    RecallActions,
    ReturnActions,
    ShapeActions,
    TypingOn,
):
    """Conversation on the left, bricks on the right; one strip instead of them where it is narrow."""

    AUTO_FOCUS = "Prompt"
    BINDINGS: ClassVar[list[BindingType]] = CHAT

    def __init__(self, bench: Workbench) -> None:
        super().__init__()
        self.bench = bench
        self.talk = bench.conversation

    def compose(self) -> ComposeResult:
        """The panes, the strip for narrow terminals, the status line and the keys."""
        with Horizontal(id="panes"):
            with Vertical(id="conversation"):
                yield Checklist(id="checklist")
                yield Transcript(id="transcript")
                yield QuestionCard(id="question")
                yield MenuCard(id="menu")
                yield BrickStrip(id="strip")
                yield QueueChips(id="queue")
                yield PromptBox(new_prompt())
            yield BrickColumn(id="bricks")
        yield StatusLine(id="status")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Show the session as it is; look at the surroundings once the first frame is there."""
        self.prompt = self.query_one(Prompt)
        self.story = Story(self.query_one(Transcript))
        self.stating = Stating(self.query_one(StatusLine), self.talk)
        self.gauging = Gauging(self)
        self.finding = Finding(self)
        self.setup = Setup(self)
        self.asking = Asking(self)
        self.copying = Copying(self)
        self.giving = Giving(self)
        self.mishaps = Mishaps(self)
        self.recalling = Recalling(self)
        self.conversing = Conversing(self)
        self.queueing = Queueing(self)
        self.shaping = Shaping(self)
        self.handing = Handing(self)
        self.returning = Returning(self)
        self.spending = Spending(self)
        self.switching = Switching(self)
        self.undoing = Undoing(self)
        self.taking = Taking(self)
        self.mentioning = Mentioning(self)
        self.editing = Editing(self)
        self.drafting = Drafting(self)
        self.signalling = Signalling(self)
        self.reopening = Reopening(self)
        self.set_class(not self.talk.session.turns, "-fresh")
        self.gauging.show(self.talk.bricks())
        self.story.tell_turns(self.talk.session.turns, self.talk.session.state.undone_turn)
        for notice in self.bench.notices:
            self.tell(notice)
        self.follow_settings()
        self.show_floor()
        self.returning.show()
        self.queueing.show()
        self.call_after_refresh(self.setup.begin)

    async def on_unmount(self) -> None:
        """Keep what is not sent, and give back what the terminal lent."""
        await self.editing.close()
        await self.drafting.finish()
        self.signalling.leave()

    def follow_settings(self) -> None:
        """Look and listen as the settings say; what they cannot have is told."""
        self.keymap, problems = prefer(self.app, self.bench.settings, all_places(self.app))
        for problem in problems:
            self.tell(problem)

    @on(Prompt.Submitted)
    def submit(self, event: Prompt.Submitted) -> None:
        """Run a command, give a prompt to whoever has the floor, or queue it. Nothing is cleared before it is taken."""
        text = event.text
        command = parsed(text)
        if self.queueing.must_wait and (command[0].is_queued if command else not is_mistyped(text)):
            self.prompt.clear()
            self.queueing.put(text)
        elif command is not None:
            self.prompt.clear()
            self.run_command(*command)
        elif is_mistyped(text):
            self.tell(f"There is no command {text.split()[0]}; F1 lists them. Your text is still there.")
        elif self.talk.floor == "local" and not self.setup.can_answer and not own_command(text):
            self.setup.focus()
        elif text.strip():
            self.handing.decline()
            self.converse(self.talk.send(text), text)

    @work(exclusive=True, group="turn", exit_on_error=False)
    async def converse(self, updates: AsyncGenerator[Update, None], sent: str) -> None:
        """Show a turn as it happens; `sent` is what it was asked with."""
        self.returning.settle()
        await self.conversing.follow(updates, sent)

    def show(self, update: Update) -> None:
        """Show one update everywhere it can be seen."""
        self.conversing.show(update)

    @on(Worker.StateChanged)
    def _look_at_worker(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self.mishaps.admit(event.worker.error)

    def run_command(self, command: Command, argument: str) -> None:
        """Do what a slash command says."""
        getattr(self, f"action_{command.action}")(argument)

    def action_escalate(self, text: str = "") -> None:
        """Preview the hand-off, with this text as the prompt if there is one."""
        self.handing.preview(text, self.talk.session.state.brief)

    def action_escalate_now(self, text: str = "") -> None:
        """Hand over without the preview."""
        self.handing.send(text)

    def action_return_to_local(self, text: str = "") -> None:
        """Give the floor back; a text goes to the local agent."""
        self.handing.give_back(text)

    def action_settings(self, words: str = "") -> None:
        """Show the settings, those first that fit the words."""
        self.app.push_screen(SettingsScreen(self.bench, self.follow_settings, words))

    def action_compact(self, _text: str = "") -> None:
        """Say why there is nothing to compact."""
        self.tell(
            "Nothing has to be compacted: what is handed over is the bricks, which are bounded, and the local model "
            "is sent as many whole exchanges as its window holds. /new begins a session without the old ones."
        )

    def action_set_need(self, text: str = "") -> None:
        """Set the need, or edit it in its panel."""
        if text:
            self.show(self.talk.edit_need(text))
        else:
            self.set_class(self.has_class("-narrow"), "-bricks-toggled")
            self.query_one(NeedPanel).action_edit()

    @on(Prompt.Changed)
    def _measure(self) -> None:
        self.gauging.soon()
        self.drafting.soon()

    @on(Prompt.HistoryRequested)
    def _recall(self, event: Prompt.HistoryRequested) -> None:
        if event.direction > 0 or not self.queueing.take_back():
            self.recalling.step(event.direction)

    @on(Prompt.FilesWanted)
    def _find_files(self, event: Prompt.FilesWanted) -> None:
        self.mentioning.find(event.letters)

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

    @on(Card.Answered)
    def _answered(self, event: Card.Answered) -> None:
        self.asking.answered(event.answer)

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

    def show_floor(self) -> None:
        """Say who gets the next prompt."""
        self.query_one(PromptBox).recipient = self.talk.floor
        self.stating.show()
