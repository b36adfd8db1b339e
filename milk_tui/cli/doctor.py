"""`milk-tui doctor`: the checks as text, with an exit status."""

import asyncio
import json

from milk_tui.cli.wish import Wish
from milk_tui.conversation.checkup import Check, check_claude, check_local, check_settings, check_terminal
from milk_tui.storage.config import Settings

_MARK = {"ok": "ok", "warning": "!", "failed": "x"}


def run_doctor(wish: Wish, *, as_json: bool) -> int:
    """Print the checks; 1 if one of them keeps the main job from working."""
    checks = asyncio.run(_checks(wish.settings()))
    if as_json:
        print(json.dumps([check.model_dump() for check in checks], indent=2, ensure_ascii=False))
    else:
        for check in checks:
            print(f"{_MARK[check.state]:>2}  {check.name:<14}  {check.text}")
            if check.remedy:
                print(f"{'':20}{check.remedy}")
    return 1 if any(check.state == "failed" for check in checks) else 0


async def _checks(settings: Settings) -> list[Check]:
    local, claude = await asyncio.gather(check_local(settings), check_claude(settings))
    offers = [
        Check(
            name="Found",
            state="ok",
            text=f"{facts.url} ({facts.model or facts.kind})",
            remedy=f"Use it with --url {facts.url}, or save it as `url` in {settings.home / 'tui.json'}.",
        )
        for facts in local.offered
    ]
    return [local.check, local.window, *offers, claude, check_settings(settings), check_terminal()]
