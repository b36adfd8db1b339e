import asyncio
from pathlib import Path

import pytest

from milk_tui.agents.base import TurnRequest
from milk_tui.agents.scripted import Pause, Say, ScriptedAgent, Use
from milk_tui.conversation.controller import Conversation
from milk_tui.conversation.update import Update
from milk_tui.core import events as ev
from milk_tui.core.errors import Failure, MilkError, StoreError
from milk_tui.core.messages import ToolCall
from tests.conversation.talking import NONCE, NOW, Memory, all_of, conversation, new_session

REFUSED = ev.AgentFailed(failure=Failure(kind="refused", sentence="401 from Claude."))
GONE = ev.AgentFailed(failure=Failure(kind="unknown_session", sentence="No such session."))
LONG = "Claude did a long piece of work. " * 10


def kinds(updates: list[Update]) -> list[str]:
    return [update.event.type for update in updates]


async def test_a_prompt_goes_to_the_local_agent_and_its_answer_into_the_session() -> None:
    talk = conversation([[Say("Hello there.")]])
    updates = await all_of(talk.send("hi"))
    assert kinds(updates)[0] == "turn_started" and kinds(updates)[-1] == "turn_ended"
    turn = talk.session.turns[0]
    assert (turn.prompt, turn.answer, turn.status, turn.agent) == ("hi", "Hello there.", "finished", "local")


async def test_tags_never_reach_the_transcript_and_change_the_bricks() -> None:
    talk = conversation([[Say("On it. <milk:need:{nonce}>fix the login</milk:need:{nonce}>Done.")]])
    updates = await all_of(talk.send("hi"))
    assert "milk:need" not in talk.session.turns[0].answer
    changed = next(u for u in updates if u.event.type == "need_changed")
    assert changed.bricks is not None and changed.bricks.need.text == "fix the login"


async def test_escape_sequences_of_an_agent_are_gone_before_anybody_sees_them() -> None:
    call = ToolCall(id="1", name="x\x1b[2J", arguments='{"a": "\\u001b]0;t\\u0007b"}')
    talk = conversation([[Say("a\x1b[31mb\x1b"), Say("[0mc"), Use(call, "r\x07\x9b2Js")]])
    await all_of(talk.send("h\x1b[2Ji"))
    turn = talk.session.turns[0]
    assert turn.prompt == "hi" and turn.answer == "abc"
    assert turn.calls[0].name == "x" and turn.calls[0].parsed() == {"a": "b"}
    assert "\x1b" not in turn.model_dump_json() and "\\u001b" not in turn.model_dump_json()


async def test_stopping_keeps_the_prompt_and_the_partial_answer() -> None:
    talk = conversation([[Say("Half of "), Pause(3600), Say("it")], [Say("again")]])
    seen: list[str] = []
    async for update in talk.send("go"):
        seen.append(update.event.type)
        if talk.session.history_chars > 8:
            talk.stop()
    turn = talk.session.turns[0]
    assert (turn.status, turn.prompt, turn.answer) == ("interrupted", "go", "Half of ")
    assert seen[-2:] == ["turn_interrupted", "turn_ended"]
    await all_of(talk.send("next"))
    assert talk.session.turns[1].answer == "again"


async def test_closing_the_stream_early_records_the_turn_and_closes_the_agent() -> None:
    talk = conversation([[Say("one two three"), Pause(3600)]])
    stream = talk.send("go")
    async for update in stream:
        if update.event.type == "text_delta":
            break
    await stream.aclose()
    assert talk.session.turns[0].status == "interrupted" and not talk.session.is_busy


async def test_an_agent_that_raises_ends_in_a_sentence_and_not_in_a_traceback() -> None:
    class Broken:
        async def run(self, request: TurnRequest):  # type: ignore[no-untyped-def]
            yield ev.TextDelta(text="so far")
            raise ZeroDivisionError("oops")

        async def close(self) -> None: ...

    talk = conversation(Broken())
    await all_of(talk.send("go"))
    turn = talk.session.turns[0]
    assert turn.status == "failed" and turn.failure is not None and "oops" in turn.failure.sentence
    assert turn.answer == "so far"


async def test_a_first_escalation_hands_over_the_bricks_and_not_the_history() -> None:
    claude = ScriptedAgent([[Say("Solved.")]], session_id="c-1")
    talk = conversation([[Say("I tried the cache.")]], claude)
    await all_of(talk.send("why is it slow"))
    shown = talk.bricks().local_summary.text
    await all_of(talk.escalate("please solve it"))
    request = claude.requests[0]
    assert request.handoff is not None and request.handoff.situation == "first"
    assert shown in request.handoff.changing and request.resume_id is None
    assert talk.floor == "claude" and talk.session.state.claude_session_id == "c-1"
    receipt = talk.session.turns[-1].receipt
    assert receipt is not None and receipt.chars == request.handoff.chars


async def test_a_follow_up_carries_no_hand_off() -> None:
    claude = ScriptedAgent([[Say("One.")], [Say("Two.")]], session_id="c-1")
    talk = conversation([[Say("x")]], claude)
    await all_of(talk.escalate("first"))
    await all_of(talk.send("and then?"))
    assert claude.requests[1].handoff is None and claude.requests[1].prompt == "and then?"


async def test_after_a_return_the_local_agent_is_told_what_claude_did_once() -> None:
    local = ScriptedAgent([[Say("ok")]])
    talk = conversation(local, [[Say(LONG)]])
    await all_of(talk.escalate("solve"))
    await talk.return_to_local()
    await all_of(talk.send("thanks"))
    await all_of(talk.send("more"))
    assert "long piece of work" in local.requests[0].preface and NONCE in local.requests[0].preface
    assert local.requests[1].preface == ""


async def test_a_later_escalation_resumes_with_what_is_new() -> None:
    claude = ScriptedAgent([[Say(LONG)]], session_id="c-1")
    talk = conversation([[Say("before")], [Say("after")]], claude)
    await all_of(talk.send("old question"))
    await all_of(talk.escalate("solve"))
    await talk.return_to_local()
    await all_of(talk.send("new question"))
    await all_of(talk.escalate("again"))
    request = claude.requests[1]
    assert (
        request.handoff is not None and request.handoff.situation == "resume" and request.resume_id == "c-1"
    )
    assert "new question" in request.handoff.changing and "old question" not in request.handoff.changing
    assert request.handoff.standing == claude.requests[0].handoff.standing  # type: ignore[union-attr]


async def test_a_failed_hand_off_is_sent_again_and_gives_the_floor_back() -> None:
    claude = ScriptedAgent([[REFUSED], [Say("fine")]])
    talk = conversation([[Say("tried")]], claude)
    await all_of(talk.send("question"))
    before = talk.bricks().local_summary.text
    await all_of(talk.escalate("solve"))
    assert talk.floor == "local" and talk.bricks().local_summary.text == before
    await all_of(talk.escalate("solve"))
    first, second = (request.handoff for request in claude.requests)
    assert first is not None and second is not None and first.changing == second.changing


async def test_an_interrupted_hand_off_is_sent_again_with_the_next_prompt() -> None:
    claude = ScriptedAgent([[Say("wait"), Pause(3600)], [Say("fine")]], session_id="c-9")
    talk = conversation([[Say("tried")]], claude)
    await all_of(talk.send("question"))
    async for update in talk.escalate("solve"):
        if update.event.type == "text_delta":
            talk.stop()
    await all_of(talk.send("go on"))
    assert claude.requests[1].handoff is not None and "tried" in claude.requests[1].handoff.changing
    assert claude.requests[1].resume_id == "c-9"


async def test_an_unknown_claude_session_is_replaced_once_with_the_full_hand_off() -> None:
    claude = ScriptedAgent([[Say(LONG)], [GONE], [Say("new")]], session_id=None)
    talk = conversation([[Say("tried")]], claude)
    talk.session.apply(ev.TurnStarted(agent="claude", prompt="p", at=NOW))
    talk.session.apply(ev.AgentReady(session_id="dead"))
    talk.session.apply(ev.TurnEnded(at=NOW))
    claude.requests.append(TurnRequest(prompt="p", cwd="/", nonce=NONCE))
    updates = await all_of(talk.escalate("solve"))
    assert [r.handoff.situation for r in claude.requests[1:] if r.handoff] == ["resume", "first"]
    assert any("gone" in u.event.text for u in updates if u.event.type == "noticed")
    assert talk.session.turns[-1].answer == "new"


async def test_the_local_agents_request_waits_for_the_user() -> None:
    claude = ScriptedAgent([[Say("x")]])
    talk = conversation([[ev.EscalationRequested(reason="too hard")]], claude)
    updates = await all_of(talk.send("design it"))
    assert "escalation_requested" in kinds(updates) and not claude.requests
    preview = talk.forecast(reason="too hard")
    assert preview.handoff.situation == "agent" and preview.prompt == "design it"
    assert any(part.name == "escalation_brief" for part in preview.handoff.parts)


async def test_with_auto_the_request_is_followed_and_with_off_it_is_only_told() -> None:
    for setting, asked in (("auto", 1), ("off", 0)):
        claude = ScriptedAgent([[Say("x")]])
        talk = conversation([[ev.EscalationRequested(reason="too hard")]], claude, escalation=setting)  # type: ignore[arg-type]
        updates = await all_of(talk.send("design it"))
        assert len(claude.requests) == asked
        if not asked:
            assert any("too hard" in u.event.text for u in updates if u.event.type == "noticed")
            assert "escalation_requested" not in kinds(updates)


async def test_on_a_resume_the_reason_goes_into_the_prompt() -> None:
    claude = ScriptedAgent([[Say(LONG)]], session_id="c-1")
    talk = conversation([[Say("x")]], claude)
    await all_of(talk.escalate("first"))
    await talk.return_to_local()
    await all_of(talk.escalate("second", reason="needs a plan"))
    assert claude.requests[1].prompt.startswith("second") and "needs a plan" in claude.requests[1].prompt
    assert "needs a plan" not in claude.requests[1].handoff.changing  # type: ignore[union-attr]


async def test_the_preview_is_what_is_sent() -> None:
    claude = ScriptedAgent([[Say("x")]])
    talk = conversation([[Say("tried")]], claude)
    await all_of(talk.send("question"))
    preview = talk.forecast("do it")
    await all_of(talk.escalate(preview.prompt))
    assert claude.requests[0].handoff == preview.handoff and claude.requests[0].prompt == "do it"


async def test_a_second_turn_at_once_is_refused_in_a_sentence() -> None:
    talk = conversation([[Say("a"), Pause(3600)]])
    stream = talk.send("one")
    await anext(stream)
    with pytest.raises(MilkError, match="still running"):
        await anext(talk.send("two"))
    await stream.aclose()


async def test_a_store_that_fails_is_told_of_once_and_the_conversation_goes_on() -> None:
    store = Memory()
    store.error = StoreError("The disk is full.", "Free some room.")
    talk = conversation([[Say("a b c d e f")]], store=store)
    updates = await all_of(talk.send("one"))
    assert [u.event.text for u in updates if u.event.type == "noticed"] == [
        "The disk is full. Free some room."
    ]
    assert talk.session.turns[0].answer == "a b c d e f"


async def test_streamed_text_is_saved_although_nothing_more_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("milk_tui.conversation.saving.SAVE_EVERY", 0.02)
    store = Memory()
    talk = conversation([[Say("text"), Pause(3600)]], store=store)
    stream = talk.send("one")
    async for update in stream:
        if update.event.type == "text_delta":
            break
    before = store.saves
    async with asyncio.timeout(5):
        while store.saves == before:
            await asyncio.sleep(0.01)
    await stream.aclose()


async def test_the_users_need_wins_until_given_back() -> None:
    tag = "<milk:need:{nonce}>agent says</milk:need:{nonce}>"
    talk = conversation([[Say(tag)]])
    talk.edit_need("user says")
    await all_of(talk.send("one"))
    assert talk.bricks().need.text == "user says"
    talk.edit_need("")
    await all_of(talk.send("two"))
    assert talk.bricks().need.text == "agent says"


async def test_a_turn_that_is_stopped_before_its_agent_has_begun_ends() -> None:
    talk = conversation([[Pause(3600)]])
    seen: list[str] = []
    async with asyncio.timeout(5):
        async for update in talk.send("go"):
            seen.append(update.event.type)
            if update.event.type == "turn_started":
                asyncio.get_running_loop().call_soon(talk.stop)
    assert seen[-2:] == ["turn_interrupted", "turn_ended"]


async def back_with_local(claude: ScriptedAgent) -> Conversation:
    """Claude has worked once, and the local agent has the floor again."""
    talk = conversation([[Say("before")], [Say("after")]], claude)
    await all_of(talk.send("old question"))
    await all_of(talk.escalate("solve"))
    await talk.return_to_local()
    await all_of(talk.send("new question"))
    return talk


async def test_a_fresh_start_is_the_users_choice_and_is_told_everything() -> None:
    claude = ScriptedAgent([[Say(LONG)]], session_id="c-1")
    talk = await back_with_local(claude)
    forecast = talk.forecast("again", fresh=True)
    await all_of(talk.escalate("again", fresh=True))
    request = claude.requests[1]
    assert request.handoff == forecast.handoff and request.resume_id is None
    for text in ("old question", "new question", "long piece of work"):
        assert text in request.handoff.changing


async def test_a_fresh_start_that_fails_gives_the_floor_back_and_the_old_session_is_resumed_next() -> None:
    claude = ScriptedAgent([[Say(LONG)], [REFUSED], [Say("fine")]], session_id="c-1")
    talk = await back_with_local(claude)
    await all_of(talk.escalate("again", fresh=True))
    assert talk.floor == "local"
    await all_of(talk.escalate("again"))
    request = claude.requests[2]
    assert request.resume_id == "c-1" and request.handoff is not None
    assert "new question" in request.handoff.changing and "old question" not in request.handoff.changing


async def test_the_choice_of_a_fresh_start_holds_for_the_next_prompt_when_it_was_stopped() -> None:
    claude = ScriptedAgent([[Say(LONG)], [Pause(3600)], [Say("fine")]], session_id="c-1")
    talk = await back_with_local(claude)
    async for update in talk.escalate("again", fresh=True):
        if update.event.type == "agent_ready":
            talk.stop()
    await all_of(talk.send("go on"))
    assert [request.resume_id for request in claude.requests] == [None, None, None]
    assert claude.requests[2].handoff is not None and "old question" in claude.requests[2].handoff.changing


async def test_a_lost_session_that_cannot_be_replaced_gives_the_floor_back() -> None:
    claude = ScriptedAgent([[Say(LONG)], [GONE], [REFUSED]], session_id="c-1")
    talk = await back_with_local(claude)
    await all_of(talk.escalate("again"))
    assert len(claude.requests) == 3 and talk.floor == "local"


async def test_claude_works_in_the_sessions_directory_wherever_the_program_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    home.mkdir()
    elsewhere.mkdir()
    claude = ScriptedAgent([[Say(LONG)]], session_id="c-1")
    talk = conversation([[Say("x")]], claude, session=new_session(cwd=str(home)))
    monkeypatch.chdir(elsewhere)
    await all_of(talk.escalate("solve"))
    await talk.return_to_local()
    await all_of(talk.escalate("again"))
    assert [request.cwd for request in claude.requests] == [str(home)] * 2
