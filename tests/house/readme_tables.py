"""The README's tables, made from the tables that the program works with.

    uv run python -m tests.house.readme_tables

writes them anew between their marks.
"""

from collections.abc import Iterable
from pathlib import Path

from textual.binding import Binding, BindingType

from milk_tui.conversation.commands import COMMANDS
from milk_tui.storage.config import KEYS, Settings
from milk_tui.ui.app import MilkApp
from milk_tui.ui.screens.help import key_name
from milk_tui.ui.screens.keys import PLACES

_OPEN = 4
"""Tables of keys that are shown at once: those of the chat, its prompt and its conversation."""

README = Path(__file__).parents[2] / "README.md"


def table(head: str, rows: Iterable[tuple[str, ...]]) -> str:
    """A table as Markdown, each row on a line."""
    lines = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n" for row in rows]
    return f"{head}\n{'| --- ' * (head.count('|') - 1)}|\n{''.join(lines)}"


def key_rows(bindings: Iterable[BindingType]) -> Iterable[tuple[str, str, str]]:
    for binding in bindings:
        if isinstance(binding, Binding):
            keys = ", ".join(key_name(key.strip()) for key in binding.key.split(","))
            yield keys, binding.tooltip or binding.description, f"`{binding.id}`" if binding.id else ""


def key_tables() -> str:
    """Every key with what it does and its id, by the places where they work; those of dialogs are folded away."""
    everywhere = table("| Everywhere | | Id |", key_rows(MilkApp.BINDINGS))
    tables = [everywhere, *(table(f"| {place} | | Id |", key_rows(keys)) for place, keys in PLACES)]
    first, others = "\n".join(tables[:_OPEN]), "\n".join(tables[_OPEN:])
    return f"{first}\n<details>\n<summary>In cards, lists and dialogs</summary>\n\n{others}\n</details>\n"


def command_table() -> str:
    """Every command with what may follow it, what it does, and its other names."""
    rows = (
        (
            f"`{command.name}`{f' {command.argument}' if command.argument else ''}",
            command.help,
            ", ".join(f"`{alias}`" for alias in command.aliases),
        )
        for command in COMMANDS
    )
    return table("| Command | | Also |", rows)


def settings_table() -> str:
    """Every setting with its default and what it is for."""
    return table("| Key | Default | |", map(_setting, KEYS))


def _setting(key: str) -> tuple[str, str, str]:
    field = Settings.model_fields[key]
    default = field.default
    if default is None or default in ((), {}):
        shown = ""
    else:
        shown = f"`{str(default).lower() if isinstance(default, bool) else default}`"
    return f"`{key}`", shown, field.description or ""


TABLES = {"keys": key_tables, "commands": command_table, "settings": settings_table}
"""What stands between the marks of this name."""


def marked(name: str) -> str:
    """A table between its marks."""
    return f"<!-- {name} -->\n{TABLES[name]()}<!-- end of {name} -->\n"


def rewritten(text: str) -> str:
    """The README with its tables as they are now."""
    for name in TABLES:
        before, _, rest = text.partition(f"<!-- {name} -->\n")
        text = before + marked(name) + rest.partition(f"<!-- end of {name} -->\n")[2]
    return text


if __name__ == "__main__":
    README.write_text(rewritten(README.read_text(encoding="utf-8")), encoding="utf-8")
