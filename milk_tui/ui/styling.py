"""Where the stylesheets are, in which order they apply, and the colours that are ours.

The sheets have two homes: inside the package when it was installed from a wheel, beside it in a checkout. Nothing
else knows that. What the sheets say is no business of this module.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from milk_tui.core.errors import MilkError

if TYPE_CHECKING:
    from textual.theme import Theme

FIRST = ("app.tcss", "chat.tcss", "prompt.tcss", "panels.tcss", "status.tcss")
"""What the first frame shows; each further sheet would make it later."""
LATER = ("transcript.tcss", "questions.tcss", "returning.tcss", "dialogs.tcss", "lists.tcss", "lines.tcss")
SHEETS = FIRST + LATER
"""In the order in which they apply."""

THEME_TOKENS = {
    "local": "text-success",
    "escalation": "text-warning",
    "brick-border": "foreground-disabled",
    "brick-title": "foreground-muted",
    "brick-stale": "text-warning",
    "brick-failed": "text-error",
    "part-identity": "foreground-muted",
    "part-brief": "text-warning",
    "part-need": "text-primary",
    "part-summary": "text-success",
    "part-claude": "text-accent",
    "part-instructions": "foreground-muted",
    "part-percepts": "text-secondary",
    "ghost": "foreground-disabled",
    "level-near": "text-warning",
    "level-full": "text-error",
}
"""Our colours, each by the theme's own that it takes unless a theme sets it under our name."""

_PACKAGE = Path(__file__).resolve().parents[1]


def stylesheets(names: tuple[str, ...] = SHEETS) -> tuple[Path, ...]:
    """These sheets, in order.

    Raises:
        MilkError: if neither home holds them.
    """
    homes = (_PACKAGE / "styles", _PACKAGE.parent / "styles")
    for home in homes:
        if (home / FIRST[0]).is_file():
            return tuple(home / name for name in names)
    places = " nor in ".join(str(home) for home in homes)
    raise MilkError(f"The stylesheets are neither in {places}.", "Install milk-tui again.")


def theme_tokens(theme: "Theme") -> dict[str, str]:
    """What `App.get_theme_variable_defaults` gives for a theme: our colours by its own."""
    colors = {**theme.to_color_system().generate(), **theme.variables}
    # The themes that take a terminal's own few colours lack this one.
    colors.setdefault("foreground-disabled", colors["foreground-muted"])
    ours = {name: colors[source] for name, source in THEME_TOKENS.items()}
    return {"foreground-disabled": colors["foreground-disabled"], **ours}
