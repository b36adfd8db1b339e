"""Taking an exchange back reaches everybody who would be told of it."""

import pytest

from milk_tui.agents.scripted import Pause, Say, ScriptedAgent
from milk_tui.core import events as ev
from milk_tui.core.errors import Failure, MilkError
from milk_tui.core.messages import Usage
from tests.conversation.talking import Memory, all_of, conversation

GONE = ev.AgentFailed(failure=Failure(kind="unknown_session", sentence="No such session."))
COST = ev.UsageReported(usage=Usage(cost_usd=0.25))


async def test_the_local_model_is_not_told_of_it_and_it_is_saved_at_once() -> None:
    local = ScriptedAgent([[Say("one")], [Say("two")], [Say("three")]])
    talk = conversation(local, store=(store := Memory()))
    for prompt in ("kept", "gone"):
        await all_of(talk.send(prompt))
    saves = store.saves
    (update,) = await talk.undo()
    assert update.bricks is not None and "gone" not in update.bricks.local_summary.text
    assert store.saves == saves + 1
    await all_of(talk.send("next"))
    # The request looks at the session's turns, of which the last is its own by now.
    assert [turn.prompt for turn in local.requests[-1].turns] == ["kept", "next"]


async def test_claude_starts_fresh_after_it_and_its_process_ends() -> None:
    claude = ScriptedAgent([[Say("Solved."), COST], [Say("Again.")]], session_id="c-1")
    talk = conversation([[Say("x")]], claude)
    await all_of(talk.send("question"))
    await all_of(talk.escalate("solve"))
    await talk.undo()
    assert talk.floor == "local" and claude.closed == 1
    await all_of(talk.escalate("solve it otherwise"))
    request = claude.requests[-1]
    assert request.handoff is not None and (request.handoff.situation, request.resume_id) == ("first", None)
    assert "question" in request.handoff.changing and "Solved" not in request.handoff.changing
    assert talk.wallet.session_cost == 0.25


async def test_asked_again_claude_goes_on_in_its_session() -> None:
    claude = ScriptedAgent([[Say("Solved.")], [Say("Solved better.")]], session_id="c-1")
    talk = conversation(claude=claude)
    await all_of(talk.escalate("solve"))
    await talk.undo(keeps_claude=True)
    await all_of(talk.send("solve"))
    assert claude.closed == 0 and claude.requests[-1].handoff is None
    assert [turn.answer for turn in talk.session.turns] == ["Solved better."]


async def test_both_turns_of_a_prompt_that_was_sent_twice_for_a_lost_session_go() -> None:
    claude = ScriptedAgent([[Say("One.")], [GONE], [Say("Two.")]], session_id="c-1")
    talk = conversation([[Say("x")]], claude)
    await all_of(talk.escalate("first"))
    await talk.return_to_local()
    await all_of(talk.escalate("second"))
    assert [turn.prompt for turn in talk.session.turns] == ["first", "second", "second"]
    assert len(await talk.undo()) == 2
    assert [turn.prompt for turn in talk.session.turns] == ["first"]


async def test_it_is_refused_while_a_turn_runs_and_where_there_is_nothing() -> None:
    talk = conversation([[Say("Half "), Pause(3600)]])
    with pytest.raises(MilkError, match="nothing to take back"):
        await talk.undo()
    async for update in talk.send("first"):
        if isinstance(update.event, ev.TextDelta):
            with pytest.raises(MilkError, match="still running"):
                await talk.undo()
            talk.stop()
    assert len(talk.session.turns) == 1
