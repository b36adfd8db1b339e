"""The chat as a whole: keys, floor, bricks and what must never be lost."""

from collections.abc import Iterator, Sequence

import pytest
from textual.binding import Binding, BindingType
from textual.command import CommandPalette
from textual.content import Content
from textual.widgets import Input

from milk_tui.agents.scripted import Pause, Say
from milk_tui.conversation.commands import COMMANDS
from milk_tui.core.bricks import Brick
from milk_tui.core.errors import Failure
from milk_tui.core.events import AgentFailed, Event, TextDelta, UsageReported
from milk_tui.core.messages import Usage
from milk_tui.core.session import Session
from milk_tui.ui.app import MilkApp
from milk_tui.ui.panels.brick_panel import BrickPanel
from milk_tui.ui.panels.gauge_panel import GaugePanel
from milk_tui.ui.panels.need_panel import NeedPanel
from milk_tui.ui.screens.address import AddressScreen
from milk_tui.ui.screens.chat import ChatScreen
from milk_tui.ui.screens.help import HelpScreen, key_name, key_rows
from milk_tui.ui.screens.keys import PLACES
from milk_tui.ui.screens.preview import PreviewScreen
from milk_tui.ui.widgets.status_line import StatusLine
from milk_tui.ui.widgets.transcript import Transcript
from tests.ui.playing import Stage, done, notified, on_stage, say, shown, told
from tests.ui.scenes import chat, is_busy, previewed, until

NEED = "<milk:need:{nonce}>Mend the till</milk:need:{nonce}>"
LOST = AgentFailed(failure=Failure(kind="lost", sentence="The stream ended early.", remedy="Send it again."))
SPENT = UsageReported(
    usage=Usage(
        input_tokens=100, output_tokens=50, context_tokens=150, window=1_000, cost_usd=0.25, seconds=2.0
    )
)
WAITS = (TextDelta(text="Half an answer"), Pause(1.0), TextDelta(text=" and the rest."))
HERE: tuple[type, ...] = (MilkApp, ChatScreen, PreviewScreen, HelpScreen, AddressScreen)


def bindings(of: Sequence[BindingType]) -> Iterator[Binding]:
    for each in of:
        assert isinstance(each, Binding)
        yield each


async def test_enter_sends_and_the_prompt_is_empty_for_the_next() -> None:
    async with on_stage(stage := Stage()) as pilot:
        await say(pilot, "Hello there")
        screen = await done(pilot, 1)
        assert [request.prompt for request in stage.local.requests] == ["Hello there"]
        assert "Local answer." in told(pilot)
        assert screen.prompt.full_text == ""


async def test_escape_stops_the_turn_and_keeps_the_partial_answer() -> None:
    async with on_stage(Stage([WAITS])) as pilot:
        await say(pilot, "Go on")
        await until(pilot, lambda: "Half an answer" in told(pilot), "the answer has begun")
        await pilot.press("escape")
        screen = await done(pilot, 1)
        turn = screen.talk.session.turns[0]
        assert (turn.status, turn.answer) == ("interrupted", "Half an answer")
        assert "Stopped." in told(pilot)
        assert "rest" not in told(pilot)


async def test_a_mistyped_command_is_not_sent_and_stays() -> None:
    async with on_stage(stage := Stage()) as pilot:
        chat(pilot).prompt.write("/escalat this")
        await pilot.press("enter")
        await until(pilot, lambda: "/escalat" in notified(pilot), "the reason is told")
        assert chat(pilot).prompt.full_text == "/escalat this"
        assert not stage.local.requests


async def test_a_turn_that_fails_without_an_answer_gives_the_prompt_back() -> None:
    async with on_stage(Stage([[LOST]])) as pilot:
        chat(pilot).prompt.write("A long question")
        await pilot.press("enter")
        screen = await done(pilot, 1)
        assert screen.prompt.full_text == "A long question"
        assert "The stream ended early. Send it again." in told(pilot)


async def test_a_turn_that_fails_after_a_part_of_the_answer_keeps_that_part() -> None:
    async with on_stage(Stage([[TextDelta(text="So far"), LOST]])) as pilot:
        await say(pilot, "A question")
        screen = await done(pilot, 1)
        assert "So far" in told(pilot)
        assert screen.prompt.full_text == ""


async def test_the_gauge_follows_every_keystroke_with_a_ghost_of_the_unsent_prompt() -> None:
    async with on_stage(Stage()) as pilot:
        gauge = pilot.app.screen.query_one(GaugePanel)
        for count, key in enumerate("seven", 1):
            await pilot.press(key)
            await until(
                pilot,
                lambda count=count: gauge.value is not None and gauge.value.prompt_chars == count,  # type: ignore[misc]
                "it follows",
            )


async def test_the_gauge_follows_the_history_while_the_answer_streams() -> None:
    async with on_stage(stage := Stage([WAITS])) as pilot:
        gauge = pilot.app.screen.query_one(GaugePanel)
        await say(pilot, "12345")
        expected = len("12345" + "Half an answer")
        await until(
            pilot, lambda: gauge.value is not None and gauge.value.history_chars == expected, "it follows"
        )
        stage.gate.open()
        await done(pilot, 1)


async def test_the_summary_changes_when_the_turn_ends_and_is_stale_while_it_runs() -> None:
    async with on_stage(stage := Stage([WAITS])) as pilot:
        panel = pilot.app.screen.query_one("#local-summary", BrickPanel)
        await say(pilot, "Count the sheep")
        await until(pilot, lambda: "Half an answer" in told(pilot), "the answer has begun")
        assert panel.value is not None and panel.value.is_stale
        assert "Count the sheep" not in panel.value.text
        stage.gate.open()
        await done(pilot, 1)
        assert "Count the sheep" in panel.value.text
        assert not panel.value.is_stale


async def test_the_need_changes_when_its_tag_arrives_and_not_only_at_the_turns_end() -> None:
    async with on_stage(stage := Stage([[Say(NEED), *WAITS]])) as pilot:
        panel = pilot.app.screen.query_one(NeedPanel)
        await say(pilot, "The till is broken")
        await until(
            pilot, lambda: panel.value is not None and panel.value.text == "Mend the till", "it shows"
        )
        assert is_busy(pilot)
        assert "milk:need" not in told(pilot)
        stage.gate.open()
        await done(pilot, 1)


async def test_the_users_word_on_the_need_wins_over_the_agents() -> None:
    async with on_stage(Stage([[Say(NEED)]])) as pilot:
        panel = pilot.app.screen.query_one(NeedPanel)
        panel.focus()
        await pilot.press("e")
        panel.query_one(Input).value = "Sell the shop"
        await pilot.press("enter")
        await until(pilot, lambda: chat(pilot).talk.session.state.need == "Sell the shop", "it is edited")
        await say(pilot, "The till is broken")
        await done(pilot, 1)
        assert panel.value is not None
        assert (panel.value.text, panel.value.by) == ("Sell the shop", "user")


async def test_the_need_can_be_said_with_a_command() -> None:
    async with on_stage(Stage()) as pilot:
        await say(pilot, "/need Sleep more")
        await until(pilot, lambda: chat(pilot).talk.session.state.need == "Sleep more", "it is said")


async def test_claudes_summary_is_there_after_its_first_turn_and_not_before() -> None:
    async with on_stage(Stage(claude=[[TextDelta(text="All is mended. " * 20)]])) as pilot:
        panel = pilot.app.screen.query_one("#claude-summary", BrickPanel)
        assert not panel.display
        await say(pilot, "/escalate! Mend it")
        await done(pilot, 1)
        assert panel.display
        assert panel.value is not None and "All is mended." in panel.value.text


async def test_the_status_line_says_floor_model_rate_window_and_claudes_cost() -> None:
    async with on_stage(Stage([[TextDelta(text="Hm."), SPENT]], [[TextDelta(text="Yes."), SPENT]])) as pilot:
        line = pilot.app.screen.query_one(StatusLine)
        await say(pilot, "Hello")
        await done(pilot, 1)
        status = line.status
        assert (status.floor, status.model, status.state) == ("local", "small", "idle")
        assert (status.tokens_per_second, status.context_tokens, status.window) == (25.0, 150, 1_000)
        assert status.cost_usd is None
        await say(pilot, "/escalate! Do it")
        await done(pilot, 2)
        assert (line.status.floor, line.status.model, line.status.cost_usd) == ("claude", "opus", 0.25)
        await say(pilot, "More")
        await done(pilot, 3)
        assert line.status.cost_usd == 0.5


@pytest.mark.parametrize("way", ["f9", "/local"])
async def test_the_floor_goes_back_by_key_and_by_command(way: str) -> None:
    async with on_stage(stage := Stage()) as pilot:
        await say(pilot, "/escalate! Do it")
        screen = await done(pilot, 1)
        assert screen.talk.floor == "claude"
        if way.startswith("/"):
            await say(pilot, way)
        else:
            await pilot.press(way)
        await until(pilot, lambda: screen.talk.floor == "local" and stage.claude.closed == 1, "it is back")
        assert screen.query_one(StatusLine).status.floor == "local"


async def test_local_with_a_text_gives_the_floor_back_and_sends_the_text() -> None:
    async with on_stage(stage := Stage()) as pilot:
        await say(pilot, "/escalate! Do it")
        await done(pilot, 1)
        await say(pilot, "/local And you?")
        await done(pilot, 2)
        assert stage.local.requests[-1].prompt == "And you?"
        assert stage.talk.floor == "local"


@pytest.mark.parametrize(
    "where", ["prompt", "panel", "transcript", "preview", "help", "address", "palette", "streaming"]
)
async def test_ctrl_q_quits_from_anywhere(where: str) -> None:
    stage = Stage([WAITS])
    async with on_stage(stage) as pilot:
        match where:
            case "panel":
                pilot.app.screen.query_one(NeedPanel).focus()
            case "transcript":
                pilot.app.screen.query_one(Transcript).focus()
            case "preview":
                await pilot.press("ctrl+g")
                await previewed(pilot)
            case "help":
                await pilot.press("f1")
            case "address":
                chat(pilot).setup.choose("url")
                await until(pilot, lambda: isinstance(pilot.app.screen, AddressScreen), "it is asked")
            case "palette":
                await pilot.press("ctrl+p")
            case "streaming":
                await say(pilot, "Go on")
                await until(pilot, lambda: "Half an answer" in told(pilot), "the answer has begun")
            case _:
                pass
        await pilot.press("ctrl+q")
        await until(pilot, lambda: pilot.app._exit, "the app ends")
    assert pilot.app.return_code == 0


async def test_quit_as_a_command_quits() -> None:
    async with on_stage(Stage()) as pilot:
        chat(pilot).prompt.write("/quit")
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app._exit, "the app ends")


async def test_f2_shows_the_bricks_instead_of_the_conversation_where_it_is_narrow() -> None:
    async with on_stage(Stage(), size=(80, 24)) as pilot:
        column, panes = pilot.app.screen.query_one("#bricks"), pilot.app.screen.query_one("#conversation")
        assert (column.display, panes.display) == (False, True)
        await pilot.press("f2")
        await until(pilot, lambda: (column.display, panes.display) == (True, False), "the bricks show")
        await pilot.press("f2")
        await until(pilot, lambda: (column.display, panes.display) == (False, True), "the chat shows")


async def test_the_palette_has_every_command_of_ours() -> None:
    async with on_stage(Stage()) as pilot:
        offered = list(pilot.app.get_system_commands(pilot.app.screen))
        assert {command.name for command in COMMANDS} <= {command.help for command in offered}
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(pilot.app.screen, CommandPalette), "the palette is open")


def test_every_command_has_an_action_of_the_chat() -> None:
    for command in COMMANDS:
        assert callable(getattr(ChatScreen, f"action_{command.action}"))


def test_every_key_of_every_screen_has_an_id_of_its_own_and_a_tooltip() -> None:
    own = [binding for place in HERE for binding in bindings(vars(place).get("BINDINGS", ()))]
    elsewhere = [binding for _, keys in PLACES for binding in bindings(keys)]
    own += [binding for binding in elsewhere if binding not in own]
    assert [binding.key for binding in own if not binding.id or not binding.tooltip] == []
    assert len({binding.id for binding in own}) == len(own)


async def test_the_help_has_every_key_and_every_command_and_can_be_read_to_its_end() -> None:
    async with on_stage(Stage(), size=(80, 24)) as pilot:
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen), "help is open")
        dialog = pilot.app.screen.query_one("#help")
        seen = shown(pilot)
        while dialog.scroll_offset.y < dialog.max_scroll_y:
            before = dialog.scroll_offset.y
            await pilot.press("pagedown")
            await until(pilot, lambda: dialog.scroll_offset.y > before, "it scrolls")  # noqa: B023
            seen += shown(pilot)
        for _, keys in PLACES:
            for names, _what in key_rows(keys):
                assert all(name in seen for name in names.split(", ")), names
        for command in COMMANDS:
            assert command.name in seen
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChatScreen), "help is closed")


@pytest.mark.parametrize(
    ("key", "name"),
    [("ctrl+g", "Ctrl+G"), ("f8", "F8"), ("y", "y"), ("pageup", "PageUp"), ("alt+up", "Alt+Up")],
)
def test_keys_are_named_as_on_keyboards(key: str, name: str) -> None:
    assert key_name(key) == name


async def test_a_panel_that_cannot_be_drawn_leaves_the_conversation_alive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def draw(panel: BrickPanel, value: Brick) -> Content:
        raise ValueError("[/tmp/x] no such brick")

    monkeypatch.setattr(BrickPanel, "draw", draw)
    async with on_stage(Stage()) as pilot:
        await say(pilot, "Hello")
        await done(pilot, 1)
        assert "Local answer." in told(pilot)
        assert "[/tmp/x] no such brick" in shown(pilot)


async def test_a_worker_that_raises_is_told_once_and_the_conversation_goes_on() -> None:
    async def broken() -> None:
        raise ValueError("[/tmp/x] broken")

    async with on_stage(Stage()) as pilot:
        for _ in range(2):
            chat(pilot).run_worker(broken(), exit_on_error=False)
        await until(pilot, lambda: "[/tmp/x] broken" in notified(pilot), "it is told")
        await say(pilot, "Hello")
        await done(pilot, 1)
        assert "Local answer." in told(pilot)
        assert notified(pilot).count("[/tmp/x] broken") == 1


async def test_a_mistake_in_showing_an_event_does_not_stop_the_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    async with on_stage(Stage([[Say("One two three.")]])) as pilot:
        screen = chat(pilot)
        tell = screen.story.tell

        def broken(event: Event) -> None:
            if isinstance(event, TextDelta) and event.text == "two ":
                raise ValueError("cannot draw two")
            tell(event)

        monkeypatch.setattr(screen.story, "tell", broken)
        await say(pilot, "Count")
        await done(pilot, 1)
        assert screen.talk.session.turns[0].answer == "One two three."
        assert screen.query_one(StatusLine).status.state == "idle"
        assert "cannot draw two" in notified(pilot)


async def test_up_brings_an_earlier_prompt_and_down_what_was_being_written() -> None:
    async with on_stage(Stage()) as pilot:
        await say(pilot, "One")
        await done(pilot, 1)
        await pilot.press(*"new", "up")
        await until(pilot, lambda: chat(pilot).prompt.full_text == "One", "the earlier prompt is back")
        await pilot.press("down")
        await until(pilot, lambda: chat(pilot).prompt.full_text == "new", "the new one is back")


async def test_a_reopened_session_shows_its_turns() -> None:
    async with on_stage(Stage()) as pilot:
        await say(pilot, "Remember me")
        screen = await done(pilot, 1)
        turns, state = screen.talk.session.turns, screen.talk.session.state
    async with on_stage(Stage(session=Session(state, turns))) as pilot:
        assert "Remember me" in told(pilot) and "Local answer." in told(pilot)
        assert not chat(pilot).has_class("-fresh")


async def test_a_question_of_claudes_waits_and_the_floor_is_one_key_away() -> None:
    asks = [[TextDelta(text="Shall I run the tests?")], [TextDelta(text="Done. Anything else?")]]
    async with on_stage(Stage(claude=asks)) as pilot:
        await say(pilot, "/escalate! Mend it")
        screen = await done(pilot, 1)
        assert "waits for your answer" in shown(pilot)
        assert "to Claude, until F9 gives the floor back" in shown(pilot)
        await say(pilot, "yes")
        await done(pilot, 2)
        assert "waits for your answer" not in shown(pilot) and screen.talk.floor == "claude"
        await pilot.press("f9")
        await until(pilot, lambda: "to the local agent" in shown(pilot), "the floor is back")


async def test_a_reopened_session_still_waits_for_the_answer() -> None:
    first = Stage(claude=[[TextDelta(text="Shall I run the tests?")]])
    async with on_stage(first) as pilot:
        await say(pilot, "/escalate! Mend it")
        await done(pilot, 1)
    was = first.talk.session
    async with on_stage(Stage(session=Session(was.state, was.turns))) as pilot:
        assert "waits for your answer" in shown(pilot)
