"""Masking on the way to Claude, a rehearsal at home, and a hand-off to anybody else."""

import stat
from pathlib import Path

import pytest

from milk_tui.agents.scripted import Pause, Say, ScriptedAgent
from milk_tui.conversation.elsewhere import saved
from milk_tui.conversation.rehearsal import payload
from milk_tui.core import events as ev
from milk_tui.core.errors import Failure, MilkError
from milk_tui.core.secrets import found
from tests.conversation.talking import all_of, conversation

KEY = "sk-ant-api03-" + "aB3-" * 12
ASKS = f"Call it with {KEY} as ann@firm.com"


async def test_a_masked_hand_off_is_received_as_it_was_forecast_and_the_receipt_says_so() -> None:
    claude = ScriptedAgent([[Say("Done. " * 50)]], session_id="c-1")
    talk = conversation([[Say(f"I used {KEY}.")]], claude)
    await all_of(talk.send(ASKS))
    shown = talk.forecast(reason=f"needs {KEY}", is_masked=True)
    await all_of(talk.escalate(ASKS, f"needs {KEY}", is_masked=True))
    request = claude.requests[0]
    assert request.handoff == shown.handoff and request.prompt == shown.prompt
    assert found(payload(shown)) == [] and "[masked: api key]" in shown.handoff.changing
    receipt = talk.session.turns[-1].receipt
    assert receipt is not None and receipt.is_masked and KEY not in talk.session.turns[-1].prompt
    await talk.return_to_local()
    await all_of(talk.escalate(ASKS, f"needs {KEY}"))
    assert claude.requests[1].prompt.count(KEY) == 2, "it held for that hand-off only"
    assert not talk.session.turns[-1].receipt.is_masked  # type: ignore[union-attr]


async def test_on_a_resume_the_reason_in_the_prompt_is_masked_as_well() -> None:
    claude = ScriptedAgent([[Say("Done. " * 50)]], session_id="c-1")
    talk = conversation([[Say("x")]], claude)
    await all_of(talk.escalate("first"))
    await talk.return_to_local()
    await all_of(talk.escalate(ASKS, f"needs {KEY}", is_masked=True))
    assert (
        found(claude.requests[1].prompt) == [] and claude.requests[1].prompt.count("[masked: api key]") == 2
    )


async def test_a_masked_hand_off_that_was_stopped_or_begun_anew_is_masked_when_it_is_sent_again() -> None:
    gone = ev.AgentFailed(failure=Failure(kind="unknown_session", sentence="No such session."))
    claude = ScriptedAgent([[Say("a"), Pause(3600)], [gone], [Say("fine")]], session_id="c-1")
    talk = conversation([[Say(f"I used {KEY}.")]], claude)
    await all_of(talk.send(ASKS))
    async for update in talk.escalate(ASKS, is_masked=True):
        if update.event.type == "text_delta":
            talk.stop()
    await all_of(talk.send(f"again with {KEY}"))
    assert len(claude.requests) == 3
    for request in claude.requests:
        assert request.handoff is not None and found(request.handoff.changing + request.prompt) == []


async def test_a_rehearsal_asks_the_local_agent_bare_and_leaves_no_trace() -> None:
    local = ScriptedAgent([[Say("tried")], [Say("Which <milk:need:{nonce}>x</milk:need:{nonce}>file?")]])
    claude = ScriptedAgent([[Say("x")]])
    talk = conversation(local, claude)
    await all_of(talk.send("question"))
    before = (talk.session.state, list(talk.session.turns), talk.bricks(), talk.session.history_chars)
    said = "".join([e.text async for e in talk.rehearse("do it") if isinstance(e, ev.TextDelta)])
    assert said == "Which file?" and not claude.requests
    assert (talk.session.state, list(talk.session.turns), talk.bricks(), talk.session.history_chars) == before
    request = local.requests[1]
    assert request.is_bare and not request.turns and not request.preface
    assert "question" in request.prompt and "do it" in request.prompt
    assert not talk.is_busy
    await all_of(talk.send("next"))
    assert len(local.requests[2].turns) == 2 and len(talk.session.turns) == 2


async def test_a_rehearsal_can_be_stopped_and_nothing_else_runs_meanwhile() -> None:
    local = ScriptedAgent([[Say("Which"), Pause(3600)]])
    talk = conversation(local)
    async for event in talk.rehearse("do it"):
        if isinstance(event, ev.TextDelta):
            assert talk.is_busy
            with pytest.raises(MilkError, match="still running"):
                await all_of(talk.send("x"))
            talk.stop()
    assert not talk.is_busy and talk.session.turns == []


def test_a_hand_off_is_saved_for_its_owner_alone_and_over_nothing(tmp_path: Path) -> None:
    path = saved("one ünï", "for them.md", str(tmp_path))
    assert path == tmp_path / "for them.md" and path.read_text(encoding="utf-8") == "one ünï"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(MilkError, match="already"):
        saved("two", "for them.md", str(tmp_path))
    assert path.read_text(encoding="utf-8") == "one ünï"
    saved("two", "for them.md", str(tmp_path), may_replace=True)
    assert path.read_text(encoding="utf-8") == "two" and stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("name", ["no/such/folder/x.md", "nul\0byte", "~nobody-of-that-name/x"])
def test_a_file_that_cannot_be_written_is_a_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(MilkError, match="cannot be saved"):
        saved("x", name, str(tmp_path))
