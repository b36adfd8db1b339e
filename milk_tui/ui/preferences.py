"""How the user wants the program to look and to listen: theme, motion and keys, as the settings say."""

from textual.app import App

from milk_tui.storage.config import Settings
from milk_tui.ui.keymap import Places, granted


def prefer(app: App[None], settings: Settings, places: Places) -> tuple[dict[str, str], list[str]]:
    """Let the settings hold; returns the keys that are other than usual, and what cannot be granted, in sentences."""
    refused: list[str] = []
    if settings.theme in app.available_themes:
        app.theme = settings.theme
    elif settings.theme:
        refused.append(f"There is no theme {settings.theme}; /theme lists those there are.")
    if settings.reduced_motion:
        app.animation_level = "none"
    keymap, refused_keys = granted(settings.keys, places)
    app.set_keymap(keymap)
    return keymap, [*refused, *refused_keys]
