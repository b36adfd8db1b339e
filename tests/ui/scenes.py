"""The situations that the pictures show: one list for the snapshot tests and for `screenshots/`.

`python -m tests.ui.scenes` writes every scene as SVG into `screenshots/`.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar, cast

from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from milk_tui.agents.scripted import Reply
from milk_tui.cli.demo import demo_bench
from milk_tui.conversation.checkup import Check, LocalCheckup
from milk_tui.conversation.workbench import Workbench
from milk_tui.core.messages import Message, ToolCall, ToolResult, Turn
from milk_tui.storage.config import Settings
from milk_tui.ui import themes
from milk_tui.ui.app import MilkApp
from milk_tui.ui.screens.changes import ChangesScreen
from milk_tui.ui.screens.chat import ChatScreen
from milk_tui.ui.screens.filtering import FilterScreen
from milk_tui.ui.screens.help import HelpScreen
from milk_tui.ui.screens.ledger import LedgerScreen
from milk_tui.ui.screens.preview import PreviewScreen
from milk_tui.ui.widgets.card import Card
from milk_tui.ui.widgets.find_bar import FindBar
from milk_tui.ui.widgets.incoming_card import IncomingCard
from milk_tui.ui.widgets.line_editor import LineEditor
from milk_tui.ui.widgets.line_list import LineList
from milk_tui.ui.widgets.menu_card import MenuCard
from milk_tui.ui.widgets.question_card import QuestionCard
from milk_tui.ui.widgets.status_line import StatusLine
from tests.ui.claude_script import REPLY as LARGER_WORK
from tests.ui.shelves import with_shelves

C = TypeVar("C", bound=Card)
Play = Callable[[Pilot[None]], Awaitable[None]]
SIZES = ((80, 24), (140, 40))
SECONDS = 20.0
FIRST = "Why does test_checkout fail now and then?"
DARK, LIGHT = themes.DARK.name, themes.LIGHT.name


class ScriptClock:
    """Time as the script has it: it passes only while an agent pauses, and then at once."""

    def __init__(self) -> None:
        self.now = 0.0

    def read(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)


def scripted_bench(turns: Sequence[Turn] = (), claude: Sequence[Reply] = ()) -> Workbench:
    """The demo, without waiting."""
    clock = ScriptClock()
    return demo_bench(sleep=clock.sleep, clock=clock.read, turns=turns, claude=claude)


def larger_work() -> Workbench:
    """Claude plans, asks, keeps a list and sends others."""
    return scripted_bench(claude=[LARGER_WORK])


def long_bench() -> Workbench:
    """A session that has gone on for days: its history would never fit."""
    return scripted_bench([_long_turn(number) for number in range(1, 121)])


def _long_turn(number: int) -> Turn:
    path = f"shop/module_{number:03}.py"
    call = ToolCall(id=f"call-{number}", name="read_file", arguments=f'{{"path": "{path}"}}')
    lines = "\n".join(f"{row:>4}  def step_{row}(order): ..." for row in range(1, 101))
    messages = (
        Message(id=f"{number}.0", role="user", text=f"Does {path} commit before it replies?"),
        Message(id=f"{number}.1", role="agent", calls=(call,)),
        Message(id=f"{number}.2", role="tool", result=ToolResult(call_id=call.id, text=lines)),
        Message(id=f"{number}.3", role="agent", text=f"Yes: `{path}` commits first, and then replies."),
    )
    when = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
    return Turn(
        number=number,
        agent="local",
        messages=messages,
        status="finished",
        started_at=when,
        model="qwen3-coder-30b",
    )


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

    bench = scripted_bench()
    return Workbench(
        bench.settings,
        bench.conversation,
        bench.desk,
        bench.toolbox,
        check_local=no_local,
        check_claude=no_claude,
        keeps_settings=False,
    )


@dataclass(frozen=True)
class Scene:
    """One situation of the app, reached by pressing keys."""

    name: str
    play: Play
    bench: Callable[[], Workbench] = scripted_bench


class PicturedApp(MilkApp):
    """The app, whose pictures load nothing."""

    def export_screenshot(self, *, title: str | None = None, simplify: bool = False) -> str:
        return alone(super().export_screenshot(title=title, simplify=simplify))


def app_of(scene: Scene, theme: str = DARK) -> MilkApp:
    """The app on the scene's workbench."""
    app = PicturedApp(scene.bench())
    app.animation_level = "none"
    app.theme = theme
    return app


async def until(pilot: Pilot[None], condition: Callable[[], bool], what: str) -> None:
    """Let the app work until something is so."""
    try:
        async with asyncio.timeout(SECONDS):
            while not condition():
                await pilot.pause()
    except TimeoutError:
        raise AssertionError(f"It never came to pass that {what}.") from None


def chat(pilot: Pilot[None]) -> ChatScreen:
    """The chat, wherever the app is."""
    return next(screen for screen in pilot.app.screen_stack if isinstance(screen, ChatScreen))


async def settled(pilot: Pilot[None]) -> None:
    """Wait until the surroundings have been looked at."""
    await until(pilot, lambda: isinstance(pilot.app.screen, ChatScreen), "the chat is shown")
    await until(pilot, lambda: chat(pilot).setup.claude is not None, "Claude was looked at")
    await quiet(pilot)


async def quiet(pilot: Pilot[None]) -> None:
    """Wait until no turn runs and everything is drawn, and stop what counts."""
    await until(pilot, lambda: not is_busy(pilot), "the turn has ended")
    await still(pilot)


def is_busy(pilot: Pilot[None]) -> bool:
    """Whether a turn runs, or what it said is still being shown."""
    return chat(pilot).talk.session.is_busy or any(
        worker.group == "turn" and not worker.is_finished for worker in pilot.app.workers
    )


async def still(pilot: Pilot[None]) -> None:
    """Draw everything and stop what counts, so that two pictures of one scene are equal."""
    line = chat(pilot).query_one(StatusLine)
    line.calm = True
    line.status = replace(line.status, since=None)
    await until(pilot, lambda: not chat(pilot).gauging.is_due, "the gauge follows")
    for one in pilot.app.screen.query(Input):
        one.cursor_blink = False
    for _ in range(3):
        await pilot.pause(0.06)


async def write(pilot: Pilot[None], text: str) -> None:
    """Write and send, and wait until whoever answers has done so."""
    count = len(chat(pilot).talk.session.turns)
    chat(pilot).prompt.write(text)
    await pilot.press("enter")
    await until(pilot, lambda: len(chat(pilot).talk.session.turns) > count, "the turn has ended")
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
    await previewed(pilot)
    await still(pilot)


async def previewed(pilot: Pilot[None]) -> PreviewScreen:
    """Wait for the preview; it hears at once."""
    await until(pilot, lambda: isinstance(pilot.app.screen, PreviewScreen), "the preview is open")
    screen = cast(PreviewScreen, pilot.app.screen)
    screen.deaf_seconds = 0.0
    await pilot.pause()
    return screen


async def question(pilot: Pilot[None]) -> None:
    """Claude asks whether it may edit a file."""
    await asked(pilot)
    await pilot.press("enter")
    await questioned(pilot)
    await still(pilot)


async def questioned(pilot: Pilot[None]) -> QuestionCard:
    """Wait for a question; it hears at once."""
    return await opened(pilot, QuestionCard)


async def opened(pilot: Pilot[None], kind: type[C]) -> C:
    """Wait for a card; it hears at once."""
    card = chat(pilot).query_one(kind)
    await until(pilot, lambda: card.has_class("-open"), "the question is open")
    card.deaf_seconds = 0.0
    await pilot.pause()
    return card


async def choices(pilot: Pilot[None]) -> None:
    """Claude asks which of several ways to go."""
    await settled(pilot)
    chat(pilot).prompt.write("Keep the orders somewhere safer")
    await pilot.press("ctrl+g")
    await previewed(pilot)
    await pilot.press("enter")
    await opened(pilot, MenuCard)
    await pilot.press("tab")
    await still(pilot)


async def plan(pilot: Pilot[None]) -> None:
    """Claude has a plan."""
    await choices(pilot)
    await pilot.press("enter", "1", "2", "enter")
    await questioned(pilot)
    await pilot.press("tab")
    await still(pilot)


async def carried_out(pilot: Pilot[None]) -> None:
    """Claude has done what it planned."""
    await plan(pilot)
    await pilot.press("s")
    await until(pilot, lambda: len(chat(pilot).talk.session.turns) == 1, "Claude's turn has ended")
    await quiet(pilot)


async def queued(pilot: Pilot[None]) -> None:
    """The user writes on while Claude waits for an answer."""
    await question(pilot)
    for text in ("Then run the whole suite, twice.", "/local Write the changelog.", "And thank Claude."):
        chat(pilot).queueing.put(text)
    await still(pilot)


async def answered(pilot: Pilot[None]) -> None:
    """Claude has answered, and the receipt is there."""
    await question(pilot)
    await pilot.press("tab", "y")
    await until(pilot, lambda: len(chat(pilot).talk.session.turns) == 3, "Claude's turn has ended")
    await quiet(pilot)


async def came_back(pilot: Pilot[None]) -> None:
    """The floor is the local agent's again, and Claude's summary waits for a decision."""
    await answered(pilot)
    await pilot.press("f9")
    await until(pilot, lambda: bool(chat(pilot).query(IncomingCard)), "the summary is there")
    await still(pilot)


async def changes_shown(pilot: Pilot[None]) -> None:
    """What Claude changed in files."""
    await came_back(pilot)
    await pilot.press("tab", "f")
    await until(pilot, lambda: isinstance(pilot.app.screen, ChangesScreen), "the files are shown")
    screen = cast(ChangesScreen, pilot.app.screen)
    await until(pilot, lambda: screen.changes is not None, "the files were looked at")
    await still(pilot)


async def help_shown(pilot: Pilot[None]) -> None:
    await settled(pilot)
    await pilot.press("f1")
    await until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen), "help is open")
    await still(pilot)


async def typing(pilot: Pilot[None]) -> None:
    """An unsent prompt with a pasted log is a ghost in the gauge."""
    await conversation(pilot)
    prompt = chat(pilot).prompt
    prompt.write("And is it the same in this log? ")
    prompt.paste("\n".join(f"09:30:{second:02} order {1_000 + second} not found" for second in range(60)) * 2)
    await pilot.pause()
    await still(pilot)


async def days_later(pilot: Pilot[None]) -> None:
    """A long session is about to be handed over: a small part of its history."""
    await settled(pilot)
    await pilot.press("ctrl+g")
    await previewed(pilot)
    await still(pilot)


async def found(pilot: Pilot[None]) -> None:
    """A text is looked for in a long session."""
    await settled(pilot)
    await pilot.press("ctrl+f", *"commits first")
    await until(pilot, lambda: chat(pilot).query_one(FindBar).words.endswith(" of 120"), "all is counted")
    await pilot.press("up")
    await still(pilot)


async def shaped(pilot: Pilot[None]) -> None:
    """Lines of the local summary are pinned, edited and dropped, and one is chosen."""
    await settled(pilot)
    if chat(pilot).has_class("-narrow"):
        await pilot.press("f2")
    lines = chat(pilot).query_one("#local-summary LineList", LineList)
    lines.focus()
    await until(pilot, lambda: lines.has_focus, "the lines have the focus")
    await pilot.press("down", "down", "down", "p", "down", "d", "e")
    await until(pilot, lambda: isinstance(pilot.app.focused, LineEditor), "a line is edited")
    await pilot.press("backspace", *" (checked)", "enter")
    await until(pilot, lambda: lines.has_focus, "the line is kept")
    await still(pilot)


async def shaped_preview(pilot: Pilot[None]) -> None:
    """The same in the preview."""
    await shaped(pilot)
    await pilot.press("ctrl+g")
    await previewed(pilot)
    await pilot.press("tab", *["down"] * 5)
    await still(pilot)


async def ledger(pilot: Pilot[None]) -> None:
    """What did not fit and what was dropped."""
    await shaped(pilot)
    await pilot.press("l")
    await until(pilot, lambda: isinstance(pilot.app.screen, LedgerScreen), "the ledger is shown")
    await still(pilot)


async def sessions_listed(pilot: Pilot[None]) -> None:
    """All sessions, one of them open in another window."""
    await conversation(pilot)
    await pilot.press("ctrl+s")
    await rows_shown(pilot)


async def searched(pilot: Pilot[None]) -> None:
    """Messages of several sessions, the words marked."""
    await conversation(pilot)
    await write_command(pilot, "/search commit")
    await rows_shown(pilot)


async def write_command(pilot: Pilot[None], text: str) -> None:
    chat(pilot).prompt.write(text)
    await pilot.press("enter")


async def rows_shown(pilot: Pilot[None]) -> None:
    """Wait until a list has rows."""
    await until(pilot, lambda: isinstance(pilot.app.screen, FilterScreen), "the list is open")
    rows = pilot.app.screen.query_one(OptionList)
    await until(pilot, lambda: rows.option_count > 0, "there are rows")
    await still(pilot)


def shelved_bench() -> Workbench:
    """The demo with other sessions beside it."""
    return with_shelves(scripted_bench())


SCENES = (
    Scene("first-run", first_run),
    Scene("nothing-here", first_run, nothing_here),
    Scene("conversation", conversation),
    Scene("unsent-prompt", typing),
    Scene("preview", asked),
    Scene("long-session", days_later, long_bench),
    Scene("shaped", shaped, long_bench),
    Scene("shaped-preview", shaped_preview, long_bench),
    Scene("ledger", ledger, long_bench),
    Scene("question", question),
    Scene("queue", queued),
    Scene("receipt", answered),
    Scene("came-back", came_back),
    Scene("changes", changes_shown),
    Scene("choices", choices, larger_work),
    Scene("plan", plan, larger_work),
    Scene("larger-work", carried_out, larger_work),
    Scene("help", help_shown),
    Scene("find", found, long_bench),
    Scene("sessions", sessions_listed, shelved_bench),
    Scene("search", searched, shelved_bench),
)


async def picture(scene: Scene, size: tuple[int, int], theme: str) -> str:
    """The scene as SVG."""
    app = app_of(scene, theme)
    async with app.run_test(size=size) as pilot:
        await scene.play(pilot)
        return app.export_screenshot(title="milk-tui")


def alone(svg: str) -> str:
    """The picture without its references to fonts elsewhere: the reader's own monospaced font draws it.

    Spaces at the beginning of a text count, also for readers that take a standard by its letters.
    """
    svg = re.sub(r"\s*@font-face\s*\{[^}]*\}", "", svg)
    svg = svg.replace("Fira Code", "DejaVu Sans Mono, Menlo, Consolas")
    return svg.replace("<text ", '<text xml:space="preserve" ')


async def write_all(folder: Path) -> None:
    """Every scene in both sizes, dark; the wide ones also light."""
    folder.mkdir(exist_ok=True)
    for scene in SCENES:
        for theme, sizes in ((DARK, SIZES), (LIGHT, SIZES[1:])):
            for width, height in sizes:
                tone = theme.removeprefix("milk-")
                svg = await picture(scene, (width, height), theme)
                (folder / f"{scene.name}-{width}x{height}-{tone}.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(write_all(Path(__file__).parents[2] / "screenshots"))
