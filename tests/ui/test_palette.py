"""The palette finds themes and sessions beside the commands, once their letters are typed."""

from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import Input

from milk_tui.ui.app import MilkApp
from tests.conversation.lending import Lending
from tests.ui.playing import shown
from tests.ui.scenes import settled, until
from tests.ui.test_sessions_ui import is_open


async def search(pilot: Pilot[None], letters: str, found: str) -> None:
    await pilot.press("ctrl+p")
    await until(pilot, lambda: bool(pilot.app.screen.query(Input)), "the palette is open")
    pilot.app.screen.query_one(Input).value = letters
    await until(pilot, lambda: found in shown(pilot), "it is found")
    await pilot.press("enter", "enter")


async def test_a_theme_is_put_on_and_a_session_opened_by_their_names(tmp_path: Path) -> None:
    lent = Lending(tmp_path)
    lent.keep("shop", ("Why does the [checkout] fail?", "It is the order."))
    app = MilkApp(lent.begin("/tmp"))
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await search(pilot, "milk-light", "Theme milk-light")
        await until(pilot, lambda: pilot.app.theme == "milk-light", "it is put on")
        await search(pilot, "checkout", "Session Why does the [checkout] fail?")
        await until(pilot, is_open(pilot, "shop"), "the session is open")
    await lent.library.close()
