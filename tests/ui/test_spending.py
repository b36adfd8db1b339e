"""Money on the screen, and hand-offs that go elsewhere or nowhere."""

from pathlib import Path

import pytest

from milk_tui.agents.scripted import Pause, Reply
from milk_tui.conversation.wallet import Wallet
from milk_tui.core.events import CostEstimated, TextDelta, UsageReported
from milk_tui.core.messages import Usage
from milk_tui.core.session import Session
from milk_tui.storage.usage import Spent, UsageReport
from milk_tui.ui.screens.usage import UsageScreen
from milk_tui.ui.widgets.status_line import StatusLine
from tests.conversation.talking import new_session
from tests.ui.playing import Stage, done, notified, on_stage, say, shown, text_of, told
from tests.ui.scenes import chat, is_busy, previewed, until
from tests.ui.test_preview import turn

SPENDS: Reply = [
    TextDelta(text="Half."),
    CostEstimated(cost_usd=0.6),
    Pause(1.0),
    UsageReported(usage=Usage(output_tokens=1, cost_usd=0.55)),
]


def with_wallet(*claude: Reply) -> Stage:
    return Stage(claude=claude, wallet=Wallet(0.5))


async def test_the_status_line_burns_down_while_claude_works_and_asks_at_zero() -> None:
    stage = with_wallet(SPENDS, [TextDelta(text="The rest.")])
    async with on_stage(stage) as pilot:
        line = chat(pilot).query_one(StatusLine)
        await say(pilot, "/escalate! Do it")
        await until(pilot, lambda: "about $0.60 of $0.50" in line.status.burn, "the estimate is shown")
        assert "about $0.60 of $0.50" in shown(pilot)
        stage.gate.open()
        await done(pilot, 1)
        assert line.status.burn == "$0.55 of $0.50"
        chat(pilot).prompt.write("Go on")
        await pilot.press("enter")
        await until(pilot, lambda: "Claude has spent $0.55 of $0.50" in told(pilot), "it is refused")
        assert len(stage.claude.requests) == 1 and chat(pilot).prompt.full_text == "Go on"
        chat(pilot).prompt.clear()
        await say(pilot, "/spend")
        assert "Claude may go on: $0.55 of $1.05" in told(pilot) and line.status.burn == "$0.55 of $1.05"
        await say(pilot, "Go on")
        await done(pilot, 2)
        assert stage.claude.requests[1].allowance_usd == pytest.approx(0.5)


@pytest.mark.parametrize("amount", ["much", "-1", "nan", "inf", "0"])
async def test_what_is_no_amount_is_refused(amount: str) -> None:
    stage = with_wallet([TextDelta(text="x")])
    async with on_stage(stage) as pilot:
        await say(pilot, f"/spend {amount}")
        assert f"{amount} is no amount of money" in told(pilot) + notified(pilot)
        assert stage.talk.wallet.left == 0.5


async def test_the_preview_says_what_it_costs_to_send_if_that_is_known() -> None:
    stage = Stage()
    stage.talk._claude_model = "claude-opus-5-5"
    async with on_stage(stage) as pilot:
        chat(pilot).prompt.write("x" * 20_000)
        await pilot.press("ctrl+g")
        preview = await previewed(pilot)
        assert "about $0.02" in text_of(preview.query_one("#preview-line"))
        assert "to send (input only)" in shown(pilot)


async def test_usage_shows_tokens_and_money_in_three_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    spent = Spent(name="x", turns=3, input_tokens=12_345, output_tokens=67, cost_usd=0.5, uncounted=1)
    report = UsageReport(
        total=spent,
        days=(spent.model_copy(update={"name": "2026-03-04"}),),
        sessions=(spent.model_copy(update={"name": "[/x] A matter", "id": "abcdef0123"}),),
        models=(Spent(name="small", turns=1),),
    )
    stage = Stage()

    async def usage() -> UsageReport:
        return report

    async with on_stage(stage) as pilot:
        monkeypatch.setattr(chat(pilot).bench, "usage", usage)
        await say(pilot, "/usage")
        await until(pilot, lambda: isinstance(pilot.app.screen, UsageScreen), "the figures are shown")
        await pilot.pause()
        text = shown(pilot)
        for words in ("2026-03-04", "abcdef01  [/x] A matter", "12,345", "$0.50 + 1 unknown", "–"):
            assert words in text
        await pilot.press("escape")
        assert not isinstance(pilot.app.screen, UsageScreen)


def session_in(folder: Path) -> Session:
    session = new_session(cwd=str(folder), need="Ask ann@firm.com", need_by="user")
    return Session(session.state, [turn(1, "Why is it slow?", "I do not know.")])


async def test_the_hand_off_can_be_taken_elsewhere_and_says_what_is_in_it(tmp_path: Path) -> None:
    async with on_stage(stage := Stage(session=session_in(tmp_path))) as pilot:
        await say(pilot, "/handoff")
        handoff = stage.talk.session.handoff()
        copied = pilot.app.clipboard
        assert copied.startswith(handoff.standing + handoff.changing) and "Why is it slow?" in copied
        assert "1 thing looks like a secret" in told(pilot)
        await say(pilot, "/handoff for them.md")
        saved = tmp_path / "for them.md"
        assert saved.read_text(encoding="utf-8") == copied and str(saved) in told(pilot)
        saved.write_text("mine")
        await say(pilot, "/handoff for them.md")
        assert saved.read_text() == "mine" and "`/handoff! for them.md` replaces it" in told(pilot)
        await say(pilot, "/handoff! for them.md")
        assert saved.read_text(encoding="utf-8") == copied
        assert not stage.claude.requests and not stage.local.requests


async def test_a_dry_escalation_asks_the_local_model_and_keeps_and_sends_nothing() -> None:
    stage = Stage([[TextDelta(text="Which file do you mean?")]])
    async with on_stage(stage) as pilot:
        await say(pilot, "/escalate --dry Mend it")
        await until(pilot, lambda: "Which file do you mean?" in told(pilot), "the model has spoken")
        await until(pilot, lambda: not is_busy(pilot) and not stage.talk.is_busy, "it is over")
        assert "Rehearsal, kept nowhere and sent to nobody" in told(pilot)
        assert "tokens, price unknown" in told(pilot)
        assert stage.local.requests[0].is_bare and "Mend it" in stage.local.requests[0].prompt
        assert stage.talk.session.turns == [] and not stage.claude.requests
        assert chat(pilot).query_one(StatusLine).status.state == "idle"


async def test_a_rehearsal_is_stopped_by_the_key_that_stops_a_turn() -> None:
    stage = Stage([[TextDelta(text="Which"), Pause(1.0), TextDelta(text=" file?")]])
    async with on_stage(stage) as pilot:
        await say(pilot, "/escalate --dry Mend it")
        await until(pilot, lambda: stage.talk.is_busy, "it runs")
        await pilot.press("escape")
        await until(pilot, lambda: not stage.talk.is_busy, "it is over")
        await until(pilot, lambda: "kept nowhere" in told(pilot), "what there was is shown")
        assert "file?" not in told(pilot)
