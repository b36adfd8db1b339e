"""The keys of the hand-off preview. Some are asked before the prompt, which would take them for its own."""

from textual.binding import Binding, BindingType

PREVIEW: list[BindingType] = [
    Binding("escape", "back", "Back", tooltip="Send nothing, keep what is written", id="preview.back"),
    Binding(
        "pageup",
        "scroll(-1)",
        "Up",
        show=False,
        tooltip="Read back",
        id="preview.up",
        priority=True,
    ),
    Binding(
        "pagedown",
        "scroll(1)",
        "Down",
        show=False,
        tooltip="Read on",
        id="preview.down",
        priority=True,
    ),
    Binding(
        "ctrl+r,f7",
        "flip",
        "Resume or fresh",
        tooltip="Start a fresh Claude session, or resume the one there is",
        id="preview.flip",
        priority=True,
    ),
    Binding(
        "f3", "mask", "Mask", tooltip="Mask what looks like a secret, or show it again", id="preview.mask"
    ),
    Binding(
        "f6",
        "compare",
        "Compare",
        tooltip="What is different from the last hand-off, or all of it again",
        id="preview.compare",
        priority=True,
    ),
    Binding("tab", "app.focus_next", "Parts", tooltip="To the parts, and back", id="preview.parts"),
]

SHAPING_HINT = "d drop  p pin  e edit  Space off  ↵ source  l ledger  v versions  u undo"
"""What works while the lines have the focus, on the one line there is for it."""
