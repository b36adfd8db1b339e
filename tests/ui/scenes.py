"""The situations that the pictures show: one list for the snapshot tests and for `screenshots/`.

`python -m tests.ui.scenes` writes every scene as SVG into `screenshots/`.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from textual.pilot import Pilot

from milk_tui.cli.demo import demo_bench
from milk_tui.conversation.checkup import Check, LocalCheckup
from milk_tui.conversation.workbench import Workbench
from milk_tui.storage.config import Settings
from milk_tui.ui.app import MilkApp
from milk_tui.ui.screens.chat import ChatScreen
from milk_tui.ui.widgets.question_card import QuestionCard
from milk_tui.ui.widgets.status_line import StatusLine

Play = Callable[[Pilot[None]], Awaitable[None]]
SIZES = ((80, 24), (140, 40))
SECONDS = 20.0
FIRST = "Why does test_checkout fail now and then?"


@dataclass(frozen=True)
class Scene:
    """One situation of the app, reached by pressing keys."""

    name: str
    play: Play
    bench: Callable[[], Workbench] = lambda: demo_bench(word=0)


def app_of(scene: Scene, theme: str = "textual-dark") -> MilkApp:
    """The app on the scene's workbench."""
    app = MilkApp(scene.bench())
    app.theme = theme
    return app


async def until(pilot: Pilot[None], condition: Callable[[], bool], what: str) -> None:
    """Let the app work until something is so."""
    async with asyncio.timeout(SECONDS):
        while not condition():
            await pilot.pause()
    assert condition(), what


def chat(pilot: Pilot[None]) -> ChatScreen:
    """The chat, wherever the app is."""
    return cast(ChatScreen, next(s for s in pilot.app.screen_stack if isinstance(s, ChatScreen)))


async def settled(pilot: Pilot[None]) -> None:
    """Wait until the surroundings have been looked at."""
    await until(pilot, lambda: isinstance(pilot.app.screen, ChatScreen), "the chat is shown")
    await until(pilot, lambda: chat(pilot).setup.claude is not None, "Claude was looked at")
    await quiet(pilot)


async def quiet(pilot: Pilot[None]) -> None:
    """Wait until no turn runs and everything is drawn, and stop what blinks or counts."""
    await until(pilot, lambda: not chat(pilot).talk.session.is_busy, "the turn has ended")
    await still(pilot)


async def still(pilot: Pilot[None]) -> None:
    """Draw everything and stop what blinks or counts, so that two pictures of one scene are equal."""
    screen = chat(pilot)
    screen.prompt.cursor_blink = False
    line = screen.query_one(StatusLine)
    line.calm = True
    line.status = line.status.model_copy(update={"since": None})
    for _ in range(5):
        await pilot.pause(0.06)


async def write(pilot: Pilot[None], text: str) -> None:
    """Write and send."""
    chat(pilot).prompt.write(text)
    await pilot.press("enter")
    await until(
        pilot, lambda: chat(pilot).talk.session.is_busy or not chat(pilot).prompt.full_text, "accepted"
    )
    await quiet(pilot)


async def first_run(pilot: Pilot[None]) -> None:
    await settled(pilot)


async def conversation(pilot: Pilot[None]) -> None:
    await settled(pilot)
    await write(pilot, FIRST)


async def asked(pilot: Pilot[None]) -> None:
    """The local agent has asked for Claude, and the preview is open."""
    await conversation(pilot)
    chat(pilot).prompt.write("Fix it, please.")
    await pilot.press("enter")
    await until(pilot, lambda: len(pilot.app.screen_stack) > 2, "the preview is open")
    await still(pilot)


async def question(pilot: Pilot[None]) -> None:
    """Claude asks whether it may edit a file."""
    await asked(pilot)
    await pilot.press("enter")
    await until(pilot, lambda: chat(pilot).query_one(QuestionCard).has_class("-open"), "the question is open")
    await still(pilot)


async def answered(pilot: Pilot[None]) -> None:
    """Claude has answered, and the receipt is there."""
    await question(pilot)
    await pilot.press("tab")
    await asyncio.sleep(0.6)  # the card is deaf for half a second, so that typing cannot answer it
    await pilot.press("y")
    await quiet(pilot)


async def help_shown(pilot: Pilot[None]) -> None:
    await settled(pilot)
    await pilot.press("f1")
    await still(pilot)


async def typing(pilot: Pilot[None]) -> None:
    """An unsent prompt is a ghost in the gauge."""
    await conversation(pilot)
    chat(pilot).prompt.write("And what about refunds? " * 12)
    await still(pilot)


def nothing_here() -> Workbench:
    """A machine with no server, no model and no Claude."""

    async def no_local(_settings: Settings) -> LocalCheckup:
        return LocalCheckup(
            check=Check(
                name="Local model",
                state="failed",
                text="nothing answered on 127.0.0.1 ports 8080, 11434, 1234, 8000",
                remedy="Start a model server, or run `milk-tui model pull`.",
            ),
            window=Check(name="Window", state="warning", text="unknown, 8,192 tokens assumed"),
        )

    async def no_claude(_settings: Settings) -> Check:
        return Check(
            name="Claude Code",
            state="failed",
            text="Claude Code is not logged in: run `claude` once and log in.",
            remedy="Only handing over needs it; everything else works.",
        )

    bench = demo_bench(word=0)
    return Workbench(
        bench.settings,
        bench.conversation,
        bench.desk,
        check_local=no_local,
        check_claude=no_claude,
        keeps_settings=False,
    )


SCENES = (
    Scene("first-run", first_run),
    Scene("nothing-here", first_run, nothing_here),
    Scene("conversation", conversation),
    Scene("unsent-prompt", typing),
    Scene("preview", asked),
    Scene("question", question),
    Scene("receipt", answered),
    Scene("help", help_shown),
)


async def picture(scene: Scene, size: tuple[int, int], theme: str) -> str:
    """The scene as SVG."""
    app = app_of(scene, theme)
    async with app.run_test(size=size) as pilot:
        await scene.play(pilot)
        return app.export_screenshot(title="milk-tui")


async def write_all(folder: Path) -> None:
    """Every scene in both sizes, dark; the wide ones also light."""
    folder.mkdir(exist_ok=True)
    for scene in SCENES:
        for theme, sizes in (("textual-dark", SIZES), ("textual-light", SIZES[1:])):
            for width, height in sizes:
                tone = theme.removeprefix("textual-")
                svg = await picture(scene, (width, height), theme)
                (folder / f"{scene.name}-{width}x{height}-{tone}.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(write_all(Path(__file__).parents[2] / "screenshots"))
