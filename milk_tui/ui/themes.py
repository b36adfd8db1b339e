"""Our own two themes, dark and light, made to be read.

Every colour that words are written in has a contrast of 4.5 or more on every ground they are written on, and every
border and mark one of 3 or more; a test measures it.
"""

from textual.theme import Theme

DARK = Theme(
    name="milk-dark",
    dark=True,
    primary="#7fb2f0",
    secondary="#8fc7c0",
    accent="#c9a2f2",
    foreground="#e6e3da",
    background="#14161a",
    surface="#1b1e24",
    panel="#242830",
    success="#8fd18a",
    warning="#f0b866",
    error="#f28b82",
    variables={
        "foreground-muted": "#b0aea6",
        "foreground-disabled": "#7f828a",
        "text-muted": "#b0aea6",
        "text-disabled": "#7f828a",
        "border": "#7f828a",
    },
)
"""Warm white on near black."""

LIGHT = Theme(
    name="milk-light",
    dark=False,
    primary="#1f5fa8",
    secondary="#1d6b64",
    accent="#7a3fae",
    foreground="#22211d",
    background="#fbfaf6",
    surface="#f3f1ea",
    panel="#e9e6dc",
    success="#2b6a27",
    warning="#855300",
    error="#b0231b",
    variables={
        "foreground-muted": "#5a5850",
        "foreground-disabled": "#7b7970",
        "text-muted": "#5a5850",
        "text-disabled": "#7b7970",
        "text-primary": "#1f5fa8",
        "text-secondary": "#1d6b64",
        "text-accent": "#7a3fae",
        "text-success": "#2b6a27",
        "text-warning": "#855300",
        "text-error": "#b0231b",
        "border": "#7b7970",
    },
)
"""Near black on warm white."""

OWN = (DARK, LIGHT)
