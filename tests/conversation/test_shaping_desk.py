"""What the user does to the bricks: refused with a sentence, else saved, shown and handed over as it was shaped."""

from collections.abc import Callable

import pytest

from milk_tui.agents.scripted import Say, ScriptedAgent
from milk_tui.conversation.controller import Conversation
from milk_tui.core import events as ev
from milk_tui.core.bricks import BrickLine
from milk_tui.core.errors import Failure, MilkError
from tests.conversation.talking import NOW, Memory, all_of, conversation

LONG = "Claude did a long piece of work. " * 10


def line(talk: Conversation, words: str) -> BrickLine:
    return next(line for line in talk.bricks().local_summary.lines if words in line.text)


async def test_a_change_is_saved_and_yielded_with_the_bricks_as_they_are_now() -> None:
    store = Memory()
    talk = conversation([[Say("It is 8041.")]], store=store)
    await all_of(talk.send("which port?"))
    saves = store.saves
    update = talk.shaping.shape("local_summary", [line(talk, "8041")], "drop")
    assert update.bricks is not None and "8041" not in update.bricks.local_summary.text
    assert update.bricks.gauge == talk.gauge() and store.saves == saves + 1
    update = talk.shaping.undo()
    assert update.bricks is not None and "8041" in update.bricks.local_summary.text
    version = talk.session.versions.of("local_summary")[-1]
    assert (version.why, version.at) == ("you took the last change back", NOW)


async def test_what_claude_gets_is_what_was_shaped_and_forecast() -> None:
    claude = ScriptedAgent([[Say(LONG)]], session_id="c-1")
    talk = conversation([[Say("It is 8041.")], [Say("Nothing else.")]], claude)
    await all_of(talk.send("which port does the till use?"))
    await all_of(talk.send("anything else?"))
    talk.shaping.shape("local_summary", [line(talk, "8041")], "edit", "It is \x1b[31m8042.")
    talk.shaping.shape("local_summary", [line(talk, "anything")], "drop")
    talk.shaping.switch("current_need", False)
    shown = talk.forecast()
    await all_of(talk.escalate("solve"))
    handoff = claude.requests[0].handoff
    assert handoff == shown.handoff and handoff is not None
    assert "It is 8042." in handoff.changing and "anything else?" not in handoff.changing
    assert [part.name for part in handoff.off] == ["current_need"]
    assert {part.name for part in talk.session.state.handed} == {"local_summary"}


async def test_a_hand_off_that_failed_tells_nothing_and_thaws_nothing() -> None:
    refused = ev.AgentFailed(failure=Failure(kind="refused", sentence="401 from Claude."))
    talk = conversation([[Say("It is 8041.")]], [[refused], [Say(LONG)]])
    await all_of(talk.send("which port?"))
    talk.shaping.freeze("local_summary", True)
    before = talk.session.state.shaping
    await all_of(talk.escalate("solve"))
    assert talk.session.state.shaping == before and talk.session.state.handed == ()
    await all_of(talk.escalate("solve"))
    assert talk.session.state.shaping.kept == () and talk.session.state.handed_turn == 3


async def test_what_cannot_be_done_is_refused_with_a_sentence_and_changes_nothing() -> None:
    talk = conversation([[Say("x" * 1_900)]])
    refusals = []
    attempts: tuple[Callable[[], object], ...] = (
        talk.shaping.undo,
        lambda: talk.shaping.freeze("local_summary", True),
        lambda: talk.shaping.switch("identity", False),
        lambda: talk.shaping.shape(
            "local_summary", [BrickLine(text="[3 earlier exchanges left out]")], "pin"
        ),
    )
    for attempt in attempts:
        with pytest.raises(MilkError) as refused:
            attempt()
        refusals.append(str(refused.value).split(":")[0])
    assert refusals[0].startswith("There is nothing to take back")
    assert refusals[1].startswith("There is nothing in it yet")
    assert refusals[2] == "This part is always sent"
    assert refusals[3].startswith("This line only says what is missing.")
    for number in range(8):
        await all_of(talk.send(f"question {number}"))
    pinned = 0
    with pytest.raises(MilkError, match="pinned lines of this brick may take"):
        for each in [line for line in talk.bricks().local_summary.lines if "xxx" in line.text]:
            talk.shaping.shape("local_summary", [each], "pin")
            pinned += 1
    assert pinned == sum(line.is_pinned for line in talk.bricks().local_summary.lines) == 4


async def test_the_need_is_kept_edited_and_left_out_like_a_line() -> None:
    talk = conversation([[Say("<milk:need:{nonce}>repair it</milk:need:{nonce}>Yes.")]])
    await all_of(talk.send("please repair the till"))
    (need,) = talk.bricks().need.lines
    talk.shaping.shape("current_need", [need], "pin")
    assert talk.bricks().need.by == "user"
    talk.shaping.shape("current_need", [need], "unpin")
    await all_of(talk.send("and the door"))
    assert talk.bricks().need.by == "local"
    talk.shaping.shape("current_need", [need], "edit", "do both")
    assert (talk.bricks().need.text, talk.bricks().need.by) == ("do both", "user")
    talk.shaping.shape("current_need", [need], "drop")
    assert talk.bricks().need.is_off and "do both" not in talk.session.handoff().changing


async def test_taking_an_item_back_from_the_ledger_puts_it_into_the_hand_off() -> None:
    talk = conversation([[Say("It is 8041.")], [Say("y" * 1_900)]])
    await all_of(talk.send("which port?"))
    for number in range(8):
        await all_of(talk.send(f"question {number}"))
    item = talk.session.ledger()[-1]
    assert "8041" not in talk.session.handoff().changing and item.words == "User: which port?"
    talk.shaping.take_back(item)
    assert "8041" in talk.session.handoff().changing
