"""`milk-tui model pull`: fetches the built-in model's weights and shows how far it is."""

import sys

from milk_tui.agents.embedded.weights import Stage, fetch
from milk_tui.cli.wish import Wish

_WORDS: dict[Stage, str] = {"fetching": "Fetching the model", "checking": "Checking it"}


def run_pull(wish: Wish) -> None:
    """Fetch, check and move into place. Raises `ModelError` when that cannot be."""
    path = fetch(wish.settings().home, _Bar() if sys.stderr.isatty() else _silent)
    print(path)


class _Bar:
    """A progress bar on stderr, redrawn in place."""

    WIDTH = 30

    def __call__(self, stage: Stage, fraction: float | None) -> None:
        """Draw how much of a stage is done; dots where nobody knows."""
        full = round((fraction or 0.0) * self.WIDTH)
        bar = "·" * self.WIDTH if fraction is None else "█" * full + "░" * (self.WIDTH - full)
        percent = "" if fraction is None else f"{fraction:4.0%}"
        print(f"\r{_WORDS[stage]:<20}{bar} {percent:<4}", end="", file=sys.stderr, flush=True)
        if fraction == 1.0:
            print(file=sys.stderr)


def _silent(stage: Stage, fraction: float | None) -> None:
    """Nobody watches: a log is no place for a bar."""
