"""The house's walls: which room may know which, and what must not be loaded before it is needed."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.running import REPO, fresh_python

HEAVY = (
    "textual",
    "rich",
    "claude_agent_sdk",
    "httpx2",
    "markdown_it",
    "pygments",
    "pydantic_settings",
    "xllamacpp",
)


def loaded_by(code: str, *modules: str) -> list[str]:
    """Which of these modules a new interpreter has loaded after running this code."""
    shown = fresh_python(f"{code}\nimport sys\nprint(*(m for m in {modules!r} if m in sys.modules))")
    return shown.splitlines()[-1].split()


def test_the_import_contracts_hold() -> None:
    program = shutil.which("lint-imports", path=str(Path(sys.executable).parent))
    assert program, "import-linter is not installed"
    done = subprocess.run([program, "--no-cache"], cwd=REPO, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("flag", ["--version", "--help"])
def test_help_and_version_load_nothing_heavy(flag: str) -> None:
    code = (
        "import sys; from milk_tui.cli import main\n"
        f"sys.argv = ['milk-tui', '{flag}']\n"
        "try: main()\n"
        "except SystemExit: pass\n"
    )
    assert loaded_by(code, *HEAVY, "pydantic", "asyncio", "sqlite3") == []


def test_the_core_loads_nothing_that_does_io() -> None:
    code = f"import {', '.join(modules_of('core'))}"
    assert loaded_by(code, *HEAVY, "sqlite3", "subprocess", "asyncio.runners", "httpx") == []


def test_the_conversation_loads_no_screen_and_nothing_heavy() -> None:
    code = f"import {', '.join(modules_of('conversation'))}"
    assert loaded_by(code, *HEAVY) == []


FIRST_FRAME = """
import asyncio
from milk_tui.cli import main, screen
from milk_tui.core.errors import MilkError
from milk_tui.ui.app import MilkApp

async def opening():
    print(*(name for name in {unwanted!r} if name in __import__("sys").modules))
    raise MilkError("That was all.")

MilkApp(opening=opening).run(headless=True)
"""
"""Opening begins when the first frame has been drawn."""


def test_the_first_frame_waits_for_nothing_it_does_not_show() -> None:
    unwanted = [
        *(name for name in HEAVY if name not in ("textual", "rich")),
        *("pydantic", "sqlite3", "mcp", "httpx", "wcwidth", "html", "hashlib"),
        *("milk_tui.core.session", "milk_tui.conversation.workbench", "milk_tui.ui.screens.chat"),
    ]
    assert fresh_python(FIRST_FRAME.format(unwanted=unwanted)).split() == []


def modules_of(room: str) -> list[str]:
    folder = REPO / "milk_tui" / room
    return sorted(f"milk_tui.{room}.{path.stem}" for path in folder.glob("*.py") if path.stem != "__init__")
