"""Claude Code's own screen as a part of the conversation: what it is told, and what is brought back from it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from milk_tui.agents.claude.agent import ClaudeCode
from milk_tui.agents.scripted import Reply, Say, ScriptedAgent
from milk_tui.conversation.controller import Conversation
from milk_tui.conversation.update import Update
from milk_tui.conversation.wallet import Wallet
from milk_tui.core import events as ev
from milk_tui.core.errors import MilkError
from milk_tui.core.messages import Message, Receipt, Turn
from milk_tui.core.permission import deny
from milk_tui.core.session import Session
from tests.agents.own_screen_stub import Heard, Made, heard_by_stub, own_screen_stub
from tests.conversation.talking import NONCE, NOW, Memory, all_of, conversation, new_session

OTHER = "11111111-2222-4333-8444-555555555555"


class Room:
    """A conversation whose Claude Code is a program that makes the turns it is told to."""

    def __init__(self, root: Path, session: Session | None = None, wallet: Wallet | None = None) -> None:
        self.root = root
        self.cwd = root / "work"
        self.cwd.mkdir()
        self.store = Memory()
        self.claude = ClaudeCode(deny, lock_dir=root / "locks", cli_path=own_screen_stub(root))
        self.talk = Conversation(
            session or new_session(cwd=str(self.cwd)),
            local=ScriptedAgent([[Say("A local answer.")]]),
            claude=self.claude,
            own=ScriptedAgent([[Say("It has run.")]]),
            store=self.store,
            wallet=wallet,
            now=lambda: NOW,
        )

    async def visit(
        self, *made: Made, prompt: str = "", status: int = 0, has_hooks: bool = True
    ) -> list[Update]:
        """One visit in which these turns are made."""
        own_screen_stub(self.root, made, status=status, has_hooks=has_hooks)
        return await all_of(self.talk.visiting.visit(prompt, nullcontext))

    @property
    def heard(self) -> Heard:
        """What the program was told the last time."""
        return heard_by_stub(self.root)


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Room:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    return Room(tmp_path)


def notices(updates: Sequence[Update]) -> list[str]:
    return [update.event.text for update in updates if isinstance(update.event, ev.Noticed)]


async def test_a_first_visit_hands_over_like_an_escalation_and_its_turns_are_claudes(room: Room) -> None:
    await all_of(room.talk.send("Something local"))
    handoff = room.talk.forecast("Do it").handoff
    await room.visit(
        Made("Do it", f"Done. <milk:need:{NONCE}>have it done\x1b[2J</milk:need:{NONCE}>"),
        Made("More", "Done more."),
        prompt="Do it",
    )
    assert room.heard.system == f"{handoff.standing}\n\n{handoff.changing}"
    assert room.heard.arguments[-2:] == ("--", "Do it") and room.heard.cwd == str(room.cwd)
    _, first, second = room.talk.session.turns
    assert (first.agent, first.prompt, first.answer, first.status) == (
        "claude",
        "Do it",
        "Done. ",
        "finished",
    )
    assert first.receipt and first.receipt.chars == handoff.chars and first.receipt.situation == "first"
    assert second.receipt and second.receipt.in_own_screen and not second.receipt.chars
    state = room.talk.session.state
    assert state.need == "have it done" and state.claude_session_id == room.heard.session
    assert state.floor == "claude" and state.handed_over and room.talk.session.local_summary.text == ""
    assert room.store.saves and not room.talk.is_busy


async def test_a_resumed_session_is_told_only_what_is_new_and_once(room: Room) -> None:
    await all_of(room.talk.send("Old question"))
    await room.visit(Made("Begin", "Begun."))
    claudes = room.heard.session
    await room.talk.return_to_local()
    await all_of(room.talk.send("New question"))
    handoff = room.talk.forecast().handoff
    await room.visit(Made("Go on", "Gone on."), Made("And on", "And on."))
    assert room.heard.session == claudes and "--resume" in room.heard.arguments
    assert room.heard.told == ((claudes, handoff.changing),)
    assert "New question" in handoff.changing and "Old question" not in handoff.changing
    assert room.heard.system == handoff.standing
    receipt = room.talk.session.turns[-2].receipt
    assert receipt and receipt.situation == "resume" and receipt.chars == handoff.chars
    await room.visit(Made("Once more", "Once more."))
    assert len(room.heard.told) == 0


async def test_turns_without_a_hand_off_make_nothing_more_known(room: Room) -> None:
    for number in range(3):
        await all_of(room.talk.send(f"Question {number}"))
    turns = [
        Turn(
            number=4 + place,
            agent="claude",
            messages=(Message(id=f"{4 + place}.0", role="user", text="go"),),
            status="finished",
            started_at=NOW,
            receipt=Receipt(
                situation="first",
                chars=0 if place else 900,
                history_chars=0,
                summary_until=None if place else 1,
                in_own_screen=True,
            ),
        )
        for place in range(2)
    ]
    for turn in turns:
        room.talk.session.tally.add(turn)
    assert room.talk.session.tally.local_since == 2


async def test_a_session_begun_in_there_is_told_everything_and_followed(room: Room) -> None:
    await all_of(room.talk.send("Old question"))
    await room.visit(Made("Begin", "Begun."))
    await room.talk.return_to_local()
    await all_of(room.talk.send("New question"))
    await room.visit(Made("Go on", "Gone on."), Made("Anew", "Begun anew.", session=OTHER))
    (_, news), (session, whole) = room.heard.told
    assert session == OTHER and "Old question" not in news
    assert "Old question" in whole and "New question" in whole
    assert room.talk.session.state.claude_session_id == OTHER
    assert room.talk.session.route().words == "resumes Claude's session"


async def test_what_the_local_agent_asks_for_goes_along(room: Room) -> None:
    room.talk.agents["local"] = ScriptedAgent([[ev.EscalationRequested(reason="it needs two hands")]])
    await all_of(room.talk.send("Lift it"))
    await room.visit(Made("Lift it", "Lifted."))
    assert "it needs two hands" in room.heard.system and room.talk.session.state.brief == ""
    await room.talk.return_to_local()
    await all_of(room.talk.send("Lift it again"))
    await room.visit(Made("Lift it", "Lifted."))
    [(_, told)] = room.heard.told
    assert told.endswith("(The local model asks for you: it needs two hands)")


async def test_what_the_user_has_run_during_the_stay_is_told_as_well(room: Room) -> None:
    await room.visit(Made("Begin", "Begun."))
    await all_of(room.talk.send("!make"))
    await room.visit(Made("Go on", "API Error: 500", is_error=True), Made("Again", "Gone on."))
    [(_, told)] = room.heard.told
    assert "make" in told
    assert [turn.receipt.chars > 0 for turn in room.talk.session.turns[-2:] if turn.receipt] == [True, True]
    assert room.talk.session.tally.local_since == 0 and room.talk.floor == "claude"


async def test_a_long_context_goes_in_by_several_hooks_and_arrives_whole(room: Room) -> None:
    await room.visit(Made("Begin", "Begun."))
    await room.talk.return_to_local()
    for number in range(7):
        await all_of(room.talk.send(f"Question {number}: {'word ' * 700}"))
    handoff = room.talk.forecast().handoff
    assert len(handoff.changing) > 10_000
    await room.visit(Made("Go on", "Gone on."))
    assert len(room.heard.told) > 1 and "".join(text for _, text in room.heard.told) == handoff.changing


async def test_without_hooks_turns_are_found_and_nothing_counts_as_told(room: Room) -> None:
    await room.visit(Made("Begin", "Begun."), has_hooks=False)
    assert room.talk.session.turns[-1].answer == "Begun." and room.talk.session.state.handed_over
    await room.talk.return_to_local()
    await all_of(room.talk.send("New question"))
    updates = await room.visit(Made("Go on", "Gone on."), has_hooks=False)
    assert room.talk.session.turns[-1].answer == "Gone on."
    assert any("ran no hooks" in notice for notice in notices(updates))
    assert "New question" in room.talk.session.handoff().changing
    assert room.talk.session.situation == "first"


async def test_a_visit_without_a_turn_changes_nothing(room: Room) -> None:
    await all_of(room.talk.send("Something local"))
    before = room.talk.session.state
    assert notices(await room.visit()) == [
        "Claude Code was closed without a turn; the floor stays where it was."
    ]
    assert room.talk.session.state == before and len(room.talk.session.turns) == 1


async def test_what_ends_badly_is_told_and_what_was_said_is_kept(room: Room) -> None:
    [notice] = notices(await room.visit(status=3))
    assert "ended with exit status 3 before it was open; nothing was handed over." in notice
    assert not room.talk.session.turns and not room.talk.session.state.handed_over
    [notice] = notices(await room.visit(Made("Begin", "Begun."), status=3))
    assert "exit status 3; what was said there is kept." in notice
    assert room.talk.session.turns[-1].answer == "Begun." and room.talk.floor == "claude"


async def test_what_cannot_be_run_or_was_moved_is_told(room: Room) -> None:
    Path(own_screen_stub(room.root)).chmod(0o600)
    [notice] = notices(await all_of(room.talk.visiting.visit("Do it", nullcontext)))
    assert "claude-stub cannot be run in" in notice and "Nothing was handed over." in notice
    room.cwd.rmdir()
    [notice] = notices(await room.visit(Made("Begin", "Begun.")))
    assert "cannot be run" in notice and room.talk.session.turns == []


async def test_a_first_turn_that_failed_hands_nothing_over(room: Room) -> None:
    await all_of(room.talk.send("Something local"))
    await room.visit(Made("Do it", "API Error: 500", is_error=True))
    [_, turn] = room.talk.session.turns
    assert turn.status == "failed" and turn.failure and "500" in turn.failure.sentence
    assert room.talk.floor == "local" and "Something local" in room.talk.session.local_summary.text


async def test_a_fresh_start_replaces_the_old_session_only_once_it_has_answered(room: Room) -> None:
    await room.visit(Made("Begin", "Begun."))
    old = room.heard.session
    await room.talk.return_to_local()
    room.talk.session.fresh_after = 1
    await all_of(room.talk.send("Local work"))
    assert room.talk.session.route().is_fresh
    await room.visit(Made("Do it", "API Error: 500", is_error=True))
    assert room.talk.session.state.claude_session_id == old
    await room.visit(Made("Do it", "API Error: 500", is_error=True), Made("Again", "Done."))
    assert room.talk.session.state.claude_session_id == room.heard.session != old


async def test_what_claude_code_measured_is_shared_out_and_counted_once(room: Room) -> None:
    await room.visit(Made("One", "1", tokens=1_000), Made("Two", "2", tokens=3_000, total=0.4))
    costs = [turn.usage.cost_usd for turn in room.talk.session.turns]
    assert costs == [pytest.approx(0.1), pytest.approx(0.3)]
    await room.visit(Made("Three", "3", total=0.5))
    assert room.talk.session.turns[-1].usage.cost_usd == pytest.approx(0.1)
    assert room.talk.wallet.session_cost == pytest.approx(0.5)


async def test_without_a_measure_published_prices_say_it_or_nobody_does(room: Room) -> None:
    await room.visit(Made("One", "1", tokens=1_000_000), Made("Two", "2", model="somebodys-own"))
    assert [turn.usage.cost_usd for turn in room.talk.session.turns] == [pytest.approx(3.0), None]


async def test_an_empty_wallet_opens_nothing(tmp_path: Path) -> None:
    room = Room(tmp_path, wallet=Wallet(0.0))
    with pytest.raises(MilkError, match="stops here"):
        await room.visit()
    assert not (tmp_path / "heard.json").exists()


async def test_only_the_user_may_read_what_it_is_given_and_nothing_of_it_stays(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    await room.visit(Made("Begin", "Begun."))
    assert set(room.heard.modes) == {"600"} and room.heard.seen_outer == ""
    settings = Path(room.heard.arguments[room.heard.arguments.index("--settings") + 1])
    assert not settings.parent.exists()


async def test_a_session_that_another_window_has_open_is_not_opened(room: Room) -> None:
    await room.visit(Made("Begin", "Begun."))
    other = ClaudeCode(deny, lock_dir=room.root / "locks")
    assert other._hold(room.heard.session) is None
    (room.root / "heard.json").unlink()
    with pytest.raises(MilkError, match="in use by another milk-tui"):
        await room.visit(Made("Again", "Again."))
    assert not (room.root / "heard.json").exists() and not room.talk.is_busy
    await other.close()


async def test_a_terminal_that_cannot_be_lent_leaves_everything_as_it_was(room: Room) -> None:
    @contextmanager
    def refuse() -> Iterator[None]:
        raise MilkError("This terminal cannot be lent to another program.")
        yield

    with pytest.raises(MilkError, match="cannot be lent"):
        await all_of(room.talk.visiting.visit("Go", refuse))
    assert not room.talk.is_busy and room.talk.session.turns == []


async def test_an_agent_without_a_screen_says_so() -> None:
    claude: list[Reply] = [[Say("x")]]
    with pytest.raises(MilkError, match="no screen of its own"):
        await all_of(conversation(claude=claude).visiting.visit("Go", nullcontext))


async def test_while_it_is_open_no_turn_begins(room: Room) -> None:
    was_busy: list[bool] = []

    @contextmanager
    def lend() -> Iterator[None]:
        was_busy.append(room.talk.is_busy)
        yield

    await all_of(room.talk.visiting.visit("Go", lend))
    assert was_busy == [True] and not room.talk.is_busy
