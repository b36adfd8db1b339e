"""The chat's own keys, and where all the others are: one table for the bindings and for the help."""

from collections.abc import Mapping, Sequence

from textual.app import App
from textual.binding import Binding, BindingType

from milk_tui.ui.panels.need_panel import NeedPanel
from milk_tui.ui.screens.changes import ChangesScreen
from milk_tui.ui.screens.grants import GrantsScreen
from milk_tui.ui.screens.ledger import LedgerScreen
from milk_tui.ui.screens.mcp import McpScreen
from milk_tui.ui.screens.model_picker import ModelPicker
from milk_tui.ui.screens.preview import PreviewScreen
from milk_tui.ui.screens.prompt_picker import PromptPicker
from milk_tui.ui.screens.session_picker import SessionPicker
from milk_tui.ui.screens.settings import SettingsScreen
from milk_tui.ui.screens.versions import VersionsScreen
from milk_tui.ui.widgets.checklist import Checklist
from milk_tui.ui.widgets.diff_view import DiffView
from milk_tui.ui.widgets.find_bar import FindInput
from milk_tui.ui.widgets.incoming_card import BrickEditor, IncomingCard
from milk_tui.ui.widgets.line_editor import LineEditor
from milk_tui.ui.widgets.line_list import LineList
from milk_tui.ui.widgets.menu_card import MenuCard
from milk_tui.ui.widgets.prompt import Prompt
from milk_tui.ui.widgets.question_card import QuestionCard
from milk_tui.ui.widgets.queue_chips import QueueChips
from milk_tui.ui.widgets.transcript import Transcript


def _key(
    keys: str, action: str, description: str, tooltip: str, id: str, *, show: bool = True, first: bool = False
) -> Binding:
    """A binding; one that comes first is asked before whatever has the focus."""
    return Binding(keys, action, description, show=show, priority=first, tooltip=tooltip, id=f"chat.{id}")


_READING = (
    ("alt+up", "previous_block", "Choose the block before"),
    ("alt+down", "next_block", "Choose the block after"),
    ("alt+pageup", "previous_prompt", "Go to your prompt before"),
    ("alt+pagedown", "next_prompt", "Go to your next prompt"),
)
"""Keys of the conversation that work wherever one is, what they do there, and in words."""

CHAT: list[BindingType] = [
    _key("ctrl+g,f8", "escalate", "Hand over", "Preview the hand-off to Claude", "escalate"),
    _key(
        "ctrl+o",
        "open_claude",
        "Claude Code",
        "Open Claude Code's own screen on the same session",
        "claude",
        show=False,
    ),
    _key("f9", "return_to_local", "To local", "Give the floor back to the local agent", "local"),
    _key("escape", "stop", "Stop", "Refuse an open question, or stop the turn and keep its answer", "stop"),
    _key("ctrl+f", "find", "Find", "Find a text in the conversation", "find", show=False, first=True),
    *(_key(keys, f"read('{action}')", words, words, action, show=False) for keys, action, words in _READING),
    _key("f2", "toggle_bricks", "Bricks", "Show or hide the bricks", "bricks"),
    _key("f4", "edit_outside", "Editor", "Write the prompt in your own editor", "editor", show=False),
    _key("ctrl+r", "recall", "Recall", "Find an earlier prompt, of any session", "recall", show=False),
    # First, for in a text area the key selects the line.
    _key(
        "f6",
        "choose_queued",
        "Queue",
        "Choose what is queued: edit, move, remove, send now",
        "queue",
        show=False,
        first=True,
    ),
    _key(
        "ctrl+s",
        "sessions",
        "Sessions",
        "All sessions: open, rename, fork, export, delete",
        "sessions",
        show=False,
    ),
    _key("f1", "help", "Help", "Keys and commands", "help"),
    _key(
        "ctrl+c", "copy_or_stop", "Copy", "Copy the selection, stop the turn; twice: quit", "copy", show=False
    ),
    _key("ctrl+d", "quit_if_empty", "Quit", "Quit while the prompt is empty", "quit", show=False, first=True),
    _key(
        "tab",
        "next",
        "Next",
        "Go to an open question, to what came back from Claude, or to the next pane",
        "next",
        show=False,
    ),
    _key(
        "shift+tab",
        "switch_or_previous",
        "Mode",
        "In the prompt: only plan, or work; elsewhere: the pane before",
        "mode",
        show=False,
    ),
]
"""What works in the chat, whatever has the focus."""

_ENTER = Binding("enter", "submit", "Send", tooltip="Send what is written", id="prompt.submit")
"""Read by the prompt itself, for it must tell a pressed key from a pasted one."""

PLACES: tuple[tuple[str, Sequence[BindingType]], ...] = (
    ("In the chat", CHAT),
    ("In the prompt", (_ENTER, *Prompt.BINDINGS)),
    ("In the conversation", Transcript.BINDINGS),
    ("While finding", FindInput.BINDINGS),
    ("On a line of a brick, beside the conversation and in the preview", LineList.BINDINGS),
    ("While editing a line", LineEditor.BINDINGS),
    ("In the drop ledger", LedgerScreen.BINDINGS),
    ("In the list of versions", VersionsScreen.BINDINGS),
    ("On the need", NeedPanel.KEYS),
    ("On a question", QuestionCard.BINDINGS),
    ("On a question with choices", MenuCard.BINDINGS),
    ("On the queue", QueueChips.BINDINGS),
    ("In the hand-off preview", PreviewScreen.BINDINGS),
    ("On what came back from Claude", (*IncomingCard.BINDINGS, *BrickEditor.BINDINGS)),
    ("In the changed files", (*ChangesScreen.BINDINGS, *DiffView.BINDINGS)),
    ("In the checklist", Checklist.BINDINGS),
    ("In the list of permissions", GrantsScreen.BINDINGS),
    ("In the list of earlier prompts", PromptPicker.BINDINGS),
    ("In the list of models", ModelPicker.BINDINGS),
    ("In the list of MCP servers", McpScreen.BINDINGS),
    ("In the list of settings", SettingsScreen.BINDINGS),
    ("In the list of sessions", SessionPicker.BINDINGS),
)
"""Where which keys work, for the help."""


def all_places(
    app: App[None], keymap: Mapping[str, str] | None = None
) -> list[tuple[str, Sequence[BindingType]]]:
    """Those, and what works everywhere: the app's own keys and the palette's; with the user's own keys, if given."""
    palette = Binding(app.COMMAND_PALETTE_BINDING, "command_palette", tooltip="Command palette")
    places = [("Everywhere", (*type(app).BINDINGS, palette)), *PLACES]
    return [(place, [_with(keymap or {}, binding) for binding in bindings]) for place, bindings in places]


def _with(keymap: Mapping[str, str], binding: BindingType) -> BindingType:
    keys = keymap.get(binding.id or "") if isinstance(binding, Binding) else None
    return binding.with_key(keys) if keys and isinstance(binding, Binding) else binding
