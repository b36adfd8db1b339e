"""The models that could answer: to be filtered by typing, and chosen with Enter."""

from collections.abc import Awaitable, Callable, Iterator
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, OptionList, Static

from milk_tui.agents.server.facts import ModelFacts, shown_name
from milk_tui.conversation.choosing import Choices, ModelChoice
from milk_tui.core.text import sanitize
from milk_tui.ui.figures import short
from milk_tui.ui.screens.listing import ListScreen

_LOOKING = "Asking the servers what they have…"
_EMBEDDED = "SmolLM2-135M: small, for trying things out"


class ModelPicker(ListScreen[ModelChoice]):
    """Gives the chosen model, or nothing. The present one is marked; the arrows choose while one types."""

    AUTO_FOCUS = "#model-filter"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move('cursor_up')", "Up", show=False, tooltip="The model before", id="models.up"),
        Binding(
            "down", "move('cursor_down')", "Down", show=False, tooltip="The next model", id="models.down"
        ),
        Binding("pageup", "move('page_up')", "Page up", show=False, tooltip="A page up", id="models.page_up"),
        Binding(
            "pagedown",
            "move('page_down')",
            "Page down",
            show=False,
            tooltip="A page down",
            id="models.page_down",
        ),
    ]
    TITLE_TEXT = "Model of the local agent"
    HINT = "Type to filter · Enter chooses, the conversation stays · Esc changes nothing"

    def __init__(self, look: Callable[[], Awaitable[Choices]]) -> None:
        super().__init__()
        self._look = look
        self._found: Choices | None = None
        self._rows: list[ModelChoice] = []

    def compose_head(self) -> ComposeResult:
        """The filter, and why some servers cannot be used."""
        yield Input(placeholder="filter", id="model-filter")
        yield Static(id="model-problems", classes="dialog-hint", markup=False)

    def on_mount(self) -> None:
        """Ask the servers."""
        self.show_rows([], _LOOKING)
        self.run_worker(self._ask(), exit_on_error=False)

    def action_move(self, step: str) -> None:
        """Choose another row."""
        getattr(self.query_one(OptionList), f"action_{step}")()

    @on(Input.Changed)
    def _filter(self) -> None:
        self._draw()

    @on(Input.Submitted)
    def _take(self) -> None:
        if self.index is not None and self.index < len(self._rows):
            self.dismiss(self._rows[self.index])

    @on(OptionList.OptionSelected)
    def _take_clicked(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._rows[event.option_index])

    async def _ask(self) -> None:
        self._found = found = await self._look()
        problems = self.query_one("#model-problems", Static)
        problems.update("\n".join(map(sanitize, found.problems)))
        problems.display = bool(found.problems)
        self._draw()
        present = next((place for place, row in enumerate(self._rows) if row.is_present), None)
        if present is not None:
            self.query_one(OptionList).highlighted = present

    def _draw(self) -> None:
        if self._found is None:
            return
        words = self.query_one("#model-filter", Input).value.lower().split()
        rows = [(choice, row(choice)) for choice in self._found.choices]
        fitting = [(choice, text) for choice, text in rows if all(word in text.lower() for word in words)]
        self._rows = [choice for choice, _ in fitting]
        self.show_rows([Content(text) for _, text in fitting], "No model fits what is written.")


def row(choice: ModelChoice) -> str:
    """A choice as one or two lines."""
    mark = "●" if choice.is_present else " "
    if choice.kind == "address":
        return f"{mark} another address…"
    if choice.kind == "embedded":
        fetched = "" if choice.is_here else " · not here yet, 98 MB are fetched"
        return f"{mark} the built-in model\n    {_EMBEDDED}{fetched}"
    name = sanitize(shown_name(choice.facts.name)) or "a model"
    place = choice.url.removeprefix("http://").removesuffix("/v1")
    leaves = " · leaves this machine" if choice.leaves else ""
    return f"{mark} {name}\n    {' · '.join([*_facts(choice.facts), f'at {place}'])}{leaves}"


def _facts(facts: ModelFacts) -> Iterator[str]:
    """What the server says of the model; nothing stands for what it does not say."""
    if facts.parameters:
        yield facts.parameters
    if facts.quantization:
        yield facts.quantization
    if facts.size:
        yield f"{facts.size / 1e9:.1f} GB"
    if facts.window:
        yield f"reads {short(facts.window)} tokens"
    if facts.supports_tools is not None:
        yield "tools" if facts.supports_tools else "no tools of its own"
