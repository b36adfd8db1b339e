"""The app on scripted agents, as tests play it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import Static

from milk_tui.agents.base import Agent
from milk_tui.agents.scripted import Reply, ScriptedAgent
from milk_tui.conversation.checkup import Check, LocalCheckup
from milk_tui.conversation.controller import Conversation
from milk_tui.conversation.file_watch import FileWatch, Texts, Unkept
from milk_tui.conversation.permissions import PermissionDesk
from milk_tui.conversation.toolbox import SessionToolbox
from milk_tui.conversation.update import Escalation
from milk_tui.conversation.wallet import Wallet
from milk_tui.conversation.workbench import Workbench
from milk_tui.core.events import TextDelta
from milk_tui.core.session import Session
from milk_tui.storage.config import Settings, load
from milk_tui.ui.app import MilkApp
from milk_tui.ui.screens.chat import ChatScreen
from milk_tui.ui.screens.preview import PreviewScreen
from milk_tui.ui.widgets.line_list import LineList
from milk_tui.ui.widgets.transcript import Transcript
from tests.conversation.talking import conversation
from tests.ui.scenes import chat, is_busy, settled, until

MODEL_THERE = LocalCheckup(
    check=Check(name="Local model", state="ok", text="small at http://127.0.0.1:1/v1"),
    window=Check(name="Window", state="ok", text="8,192 tokens"),
)
CLAUDE_THERE = Check(name="Claude Code", state="ok", text="2.1, your subscription")
NO_CLAUDE = Check(name="Claude Code", state="failed", text="Claude Code is not installed.")


class Gate:
    """An agent's pause that ends when the test says so."""

    def __init__(self) -> None:
        self._open = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        """A pause without length is none."""
        if seconds:
            await self._open.wait()

    def open(self) -> None:
        self._open.set()


class Stage:
    """A workbench of scripted agents, and the app on it."""

    def __init__(
        self,
        local: Sequence[Reply] = ((TextDelta(text="Local answer."),),),
        claude: Sequence[Reply] = ((TextDelta(text="Claude's answer."),),),
        *,
        session: Session | None = None,
        escalation: Escalation = "ask",
        wallet: Wallet | None = None,
        check: LocalCheckup = MODEL_THERE,
        claude_check: Check = CLAUDE_THERE,
        texts: Texts | None = None,
        home: Path | None = None,
    ) -> None:
        self.home = home
        self.gate = Gate()
        self.desk = PermissionDesk()
        self.check = check
        self.claude_check = claude_check
        self.local = ScriptedAgent(local, model="small", sleep=self.gate.sleep, permission=self.desk.ask)
        self.claude = ScriptedAgent(
            claude, model="opus", session_id="claude-1", sleep=self.gate.sleep, permission=self.desk.ask
        )
        self.talk: Conversation = conversation(
            self.local, self.claude, session=session, escalation=escalation, wallet=wallet
        )
        self.watch = FileWatch(self.talk.session, texts or Unkept())
        self.used: list[tuple[str, str]] = []
        self.fetched = 0
        self.bench: Workbench = _Bench(self)
        self.app = MilkApp(self.bench)

    async def put_in(self, agent: Agent) -> None:
        await self.talk.use_local(agent)


class _Bench(Workbench):
    """Nothing real on it: what would change the machine is written down."""

    def __init__(self, stage: Stage) -> None:
        settings = load(stage.home, environ={}) if stage.home else Settings(home=Path("/nowhere"))
        state = stage.talk.session.state
        super().__init__(
            settings,
            stage.talk,
            stage.desk,
            SessionToolbox(settings, state.cwd, state.id, stage.desk.ask),
            check_local=self._look,
            check_claude=self._look_at_claude,
            keeps_settings=stage.home is not None,
            watch=stage.watch,
        )
        self._stage = stage

    async def _look(self, _settings: Settings) -> LocalCheckup:
        return self._stage.check

    async def _look_at_claude(self, _settings: Settings) -> Check:
        return self._stage.claude_check

    async def use_server(self, url: str, model: str = "") -> str:
        self._stage.used.append((url, model))
        return ""

    async def use_embedded(self) -> str:
        self._stage.used.append(("", ""))
        return ""

    async def fetch_model(self, progress: Callable[..., None]) -> str:
        self._stage.fetched += 1
        await asyncio.to_thread(progress, "fetching", 0.5)
        await self._stage.gate.sleep(1.0)
        return ""


@asynccontextmanager
async def on_stage(stage: Stage, size: tuple[int, int] = (120, 36)) -> AsyncIterator[Pilot[None]]:
    """The app, when it has looked around."""
    stage.app.animation_level = "none"
    async with stage.app.run_test(size=size) as pilot:
        await settled(pilot)
        yield pilot


async def say(pilot: Pilot[None], text: str) -> None:
    """Write and send."""
    chat(pilot).prompt.write(text)
    await pilot.press("enter")
    await until(pilot, lambda: chat(pilot).prompt.full_text != text, "the text is taken")


async def done(pilot: Pilot[None], turns: int) -> ChatScreen:
    """Wait until there are so many turns and none is running."""
    screen = chat(pilot)
    await until(
        pilot,
        lambda: len(screen.talk.session.turns) >= turns and not is_busy(pilot),
        f"{turns} turns are over",
    )
    return screen


def told(pilot: Pilot[None]) -> str:
    """All that the transcript says."""
    blocks = chat(pilot).query_one(Transcript).blocks
    return "\n".join(f"{block.label} {block.source} {block.detail}" for block in blocks)


def notified(pilot: Pilot[None]) -> str:
    """All notices on screen."""
    return "\n".join(note.message for note in pilot.app._notifications)


def text_of(widget: Widget) -> str:
    """What a static text says."""
    assert isinstance(widget, Static)
    return str(widget.visual)


def parts_shown(preview: PreviewScreen) -> list[str]:
    """The texts of the parts in the preview, whole, as its rows have them."""
    parts: dict[str, list[str]] = {}
    for row in preview.query_one("#preview-lines", LineList).rows:
        if row.part is not None and row.style != "heading":
            parts.setdefault(row.part, []).append(row.text.plain)
    return ["\n".join(texts) for texts in parts.values()]


def shown(pilot: Pilot[None]) -> str:
    """Every character on the screen, row by row."""
    width = pilot.app.size.width
    strips = pilot.app.screen._compositor.render_strips(pilot.app.size)
    return "\n".join(strip.text[:width].rstrip() for strip in strips)
