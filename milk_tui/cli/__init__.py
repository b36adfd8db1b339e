"""The command `milk-tui`: the only room where the parts are joined, from settings to screen."""

from milk_tui.cli.main import main

__all__ = ["main"]
