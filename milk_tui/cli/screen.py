"""The command without a subcommand: the chat on the screen."""

import asyncio
import gc
import os
import sys

from milk_tui.cli.wish import Wish


def run_screen(wish: Wish) -> int:
    """Open the chat; the exit status is the app's."""
    _must_be_a_terminal()
    _tune()
    from milk_tui.cli.assembly import joined
    from milk_tui.ui.app import MilkApp

    parts = joined(wish)

    async def run() -> int:
        app = MilkApp(parts.bench)
        try:
            await app.run_async()
        finally:
            await parts.close()
        return app.return_code or 0

    return asyncio.run(run())


def run_demo() -> int:
    """Show the program with scripted agents: nothing is needed, nothing is kept."""
    _must_be_a_terminal()
    _tune()
    from milk_tui.cli.demo import demo_bench
    from milk_tui.ui.app import MilkApp

    app = MilkApp(demo_bench())
    app.run()
    return app.return_code or 0


def _must_be_a_terminal() -> None:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        from milk_tui.core.errors import MilkError

        raise MilkError("The chat needs a terminal.", 'Use `milk-tui ask "…"` in scripts.')


def _tune() -> None:
    """Keys echo faster while an answer streams with these; both must be set before Textual is imported.

    Collecting garbage waits until the app has drawn its first frame and has moved what it loaded out of the way.
    """
    os.environ.setdefault("TEXTUAL_FPS", "120")
    gc.disable()
