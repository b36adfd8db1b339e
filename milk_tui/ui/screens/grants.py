"""What is allowed without a question: for this session, and in this directory for good."""

from collections.abc import Iterator
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from milk_tui.conversation.permissions import PermissionDesk
from milk_tui.core.permission import Scope
from milk_tui.core.text import sanitize
from milk_tui.ui.screens.listing import ListScreen


class GrantsScreen(ListScreen[None]):
    """Every grant with its exact scope; a key takes it back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "d,delete", "revoke", "Revoke", tooltip="Take the chosen permission back", id="grants.revoke"
        ),
    ]
    TITLE_TEXT = "What is allowed without a question"
    HINT = "d takes the chosen one back · Esc closes"
    EMPTY = (
        "Nothing is. When an agent asks, “this session” (s, w) and “always” (a) put a line here, "
        "with exactly what they allow. “Always” holds in this directory only."
    )

    def __init__(self, desk: PermissionDesk) -> None:
        super().__init__()
        self._desk = desk

    def on_mount(self) -> None:
        """Draw what there is."""
        self._draw()

    def action_revoke(self) -> None:
        """Take the chosen grant back; it is asked about again from now on."""
        grants = list(self._grants())
        if self.index is None or self.index >= len(grants):
            return
        self._desk.revoke(grants[self.index][1])
        if self._desk.problem:
            self.notify(self._desk.problem, severity="warning", markup=False)
        self._draw()

    def _grants(self) -> Iterator[tuple[str, Scope]]:
        yield from (("session", scope) for scope in self._desk.session_grants)
        yield from (("always", scope) for scope in self._desk.lasting_grants)

    def _draw(self) -> None:
        self.show_rows([Content(f"{when:<9}{sanitize(scope.words())}") for when, scope in self._grants()])
