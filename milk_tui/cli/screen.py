"""The command without a subcommand: the chat on the screen, from its first frame to the end of the program."""

import asyncio
import gc
import os
import signal
import sys
import threading
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

from milk_tui.cli.wish import Wish

if TYPE_CHECKING:
    from milk_tui.cli.assembly import Joined
    from milk_tui.conversation.workbench import Workbench
    from milk_tui.ui.app import MilkApp

_CHAT = "milk_tui.ui.screens.chat"
"""The module of the screen that takes the first frame's place; loading it would stop the loop for a while."""

END_SECONDS = 4.0
"""How long the program may take to end when it is told to by a signal."""


def run_screen(wish: Wish) -> int:
    """Open the chat; the exit status is the app's."""
    _must_be_a_terminal()
    _tune()
    from milk_tui.storage import glance
    from milk_tui.ui.app import MilkApp

    async def run() -> int:
        opening = _Opening(wish)
        try:
            return await _shown(MilkApp(opening=opening.bench, theme=glance.theme(wish.home)))
        finally:
            await opening.close()

    return asyncio.run(run())


def run_demo() -> int:
    """Show the program with scripted agents: nothing is needed, nothing is kept."""
    _must_be_a_terminal()
    _tune()
    from milk_tui.ui.app import MilkApp

    async def bench() -> "Workbench":
        return await asyncio.to_thread(_demo)

    async def run() -> int:
        return await _shown(MilkApp(opening=bench))

    return asyncio.run(run())


class _Opening:
    """Opens the session that is wished for, beside the loop, once somebody asks for it."""

    def __init__(self, wish: Wish) -> None:
        self._wish = wish
        self._task: asyncio.Task[Joined] | None = None

    async def bench(self) -> "Workbench":
        """Open it. Raises `MilkError`."""
        self._task = asyncio.create_task(asyncio.to_thread(_joined, self._wish))
        return (await asyncio.shield(self._task)).bench

    async def close(self) -> None:
        """Close what was opened, or is being opened. Raises the `MilkError` that it could not be opened for."""
        if self._task is not None:
            await (await self._task).close()


def _joined(wish: Wish) -> "Joined":
    from milk_tui.cli.assembly import joined

    import_module(_CHAT)
    return joined(wish)


def _demo() -> "Workbench":
    from milk_tui.cli.demo import demo_bench

    import_module(_CHAT)
    return demo_bench()


async def _shown(app: "MilkApp") -> int:
    """Run the app until it ends by itself or by a signal; the exit status, for a signal as a shell has it."""
    loop = asyncio.get_running_loop()
    for name in ("SIGTERM", "SIGHUP", "SIGINT"):
        with suppress(AttributeError, NotImplementedError):  # not every system has them
            number = getattr(signal, name)
            loop.add_signal_handler(number, _leave, app, number)
    await app.run_async()
    return app.return_code or 0


def _leave(app: "MilkApp", number: signal.Signals) -> None:
    """End the app in good order: what was said is saved, and the terminal is given back.

    Ctrl+C while somebody else has the terminal is meant for them.
    """
    if number == signal.SIGINT and app.is_lent:
        return
    if not os.isatty(0):
        _forget_terminal()
    # Whatever stands in the way of good order, a program that is told to end ends.
    last = threading.Timer(END_SECONDS, os._exit, (128 + number,))
    last.daemon = True
    last.start()
    app.exit(return_code=128 + number)


def _forget_terminal() -> None:
    """The window is closed: what is still written to it must neither fail nor wait."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)


def _must_be_a_terminal() -> None:
    if os.environ.get("TEXTUAL_DRIVER"):
        return  # the other end is a browser
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        from milk_tui.core.errors import MilkError

        raise MilkError("The chat needs a terminal.", 'Use `milk-tui ask "…"` in scripts.')


def _tune() -> None:
    """Keys echo faster while an answer streams with these; both must be set before Textual is imported.

    Collecting garbage waits until the app has drawn its first frame and has moved what it loaded out of the way.
    """
    os.environ.setdefault("TEXTUAL_FPS", "120")
    gc.disable()
