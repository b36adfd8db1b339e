"""The first run: what was looked at, and that nothing is chosen, fetched or lost without the user's word."""

import asyncio

import pytest
from textual.widgets import Input

from milk_tui.agents.server.facts import ServerFacts
from milk_tui.conversation.checkup import Check, LocalCheckup
from milk_tui.core.session import Session
from milk_tui.ui.screens.address import AddressScreen
from milk_tui.ui.widgets.checklist import Checklist
from milk_tui.ui.widgets.transcript import Transcript
from tests.ui.playing import MODEL_THERE, NO_CLAUDE, Stage, done, notified, on_stage, say, shown, told
from tests.ui.scenes import chat, until

NOBODY = LocalCheckup(
    check=Check(
        name="Local model", state="failed", text="nothing answered on 127.0.0.1", remedy="Start one."
    ),
    window=Check(name="Window", state="warning", text="unknown, 8,192 tokens assumed"),
)
FOREIGN = "[/tmp/x] [type=e, v={'a[0]'}]"


def server(url: str, model: str) -> ServerFacts:
    return ServerFacts(url=url, state="ok", model=model)


def offered(*servers: ServerFacts) -> LocalCheckup:
    return NOBODY.model_copy(update={"offered": servers})


async def test_the_list_says_what_was_looked_at_and_what_to_do() -> None:
    async with on_stage(Stage(check=NOBODY, claude_check=NO_CLAUDE), size=(140, 40)) as pilot:
        rows = shown(pilot)
        for words in (
            "✗  Local model   nothing answered on 127.0.0.1",
            "Start one.",
            "!  Window        unknown, 8,192 tokens assumed",
            "✗  Claude Code   Claude Code is not installed.",
            "[p]",
            "[u]",
            "[l]",
            "Nothing goes to Claude unless you hand over yourself",
        ):
            assert words in rows, words


async def test_with_auto_the_list_does_not_promise_that_nothing_is_handed_over() -> None:
    async with on_stage(Stage(escalation="auto"), size=(140, 40)) as pilot:
        assert "Nothing goes to Claude" not in shown(pilot)
        assert "agent_escalation is auto" in shown(pilot)


async def test_enter_with_nobody_to_answer_keeps_the_text_and_goes_to_the_list() -> None:
    async with on_stage(stage := Stage(check=NOBODY)) as pilot:
        chat(pilot).prompt.write("Hello")
        await pilot.press("enter")
        checklist = pilot.app.screen.query_one(Checklist)
        await until(pilot, lambda: checklist.has_focus, "the list has the focus")
        assert chat(pilot).prompt.full_text == "Hello"
        assert not stage.local.requests and not stage.claude.requests
        await pilot.press("escape")
        await until(pilot, lambda: chat(pilot).prompt.has_focus, "the prompt has the focus")


async def test_a_server_that_is_found_is_never_chosen_silently() -> None:
    async with on_stage(stage := Stage(check=offered(server("http://127.0.0.1:1/v1", "one")))) as pilot:
        chat(pilot).prompt.write("Hello")
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.screen.query_one(Checklist).has_focus, "the list is asked")
        assert not stage.used and not stage.local.requests


async def test_the_number_of_a_server_chooses_that_server() -> None:
    check = offered(server("http://127.0.0.1:1/v1", "one"), server("http://127.0.0.1:2/v1", "two"))
    async with on_stage(stage := Stage(check=check)) as pilot:
        assert "use two at http://127.0.0.1:2/v1" in shown(pilot)
        pilot.app.screen.query_one(Checklist).focus()
        await pilot.press("2")
        await until(pilot, lambda: stage.used == [("http://127.0.0.1:2/v1", "two")], "the second is used")
        await until(pilot, lambda: chat(pilot).prompt.has_focus, "the prompt has the focus")


async def test_keys_typed_into_the_prompt_choose_nothing() -> None:
    async with on_stage(stage := Stage(check=offered(server("http://127.0.0.1:1/v1", "one")))) as pilot:
        await pilot.press("1", "p", "u")
        await pilot.pause()
        assert chat(pilot).prompt.full_text == "1pu"
        assert not stage.used and not stage.fetched


async def test_p_fetches_the_built_in_model_once_however_often_it_is_pressed() -> None:
    async with on_stage(stage := Stage(check=NOBODY)) as pilot:
        pilot.app.screen.query_one(Checklist).focus()
        await pilot.press("p", "p")
        await until(pilot, lambda: "fetching the built-in model 50%" in shown(pilot), "it says how far it is")
        await pilot.press("p")
        stage.check = MODEL_THERE
        stage.gate.open()
        await until(pilot, lambda: "small at http://127.0.0.1:1/v1" in shown(pilot), "the list is true again")
        assert stage.fetched == 1


async def test_u_asks_for_an_address_and_uses_it() -> None:
    async with on_stage(stage := Stage(check=NOBODY)) as pilot:
        pilot.app.screen.query_one(Checklist).focus()
        await pilot.press("u")
        await until(pilot, lambda: isinstance(pilot.app.screen, AddressScreen), "it is asked")
        pilot.app.screen.query_one(Input).value = " 127.0.0.1:11434 "
        await pilot.press("enter")
        await until(pilot, lambda: stage.used == [("127.0.0.1:11434", "")], "it is used")


async def test_escape_in_the_address_changes_nothing() -> None:
    async with on_stage(stage := Stage(check=NOBODY)) as pilot:
        pilot.app.screen.query_one(Checklist).focus()
        await pilot.press("u")
        await until(pilot, lambda: isinstance(pilot.app.screen, AddressScreen), "it is asked")
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is chat(pilot), "the chat is back")
        assert not stage.used


async def test_l_looks_again() -> None:
    async with on_stage(stage := Stage(check=NOBODY)) as pilot:
        stage.check = MODEL_THERE
        pilot.app.screen.query_one(Checklist).focus()
        await pilot.press("l")
        await until(pilot, lambda: "✓  Local model" in shown(pilot), "it is found")


async def test_once_somebody_answers_the_kept_text_is_sent() -> None:
    async with on_stage(stage := Stage(check=NOBODY)) as pilot:
        chat(pilot).prompt.write("Hello")
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.screen.query_one(Checklist).has_focus, "the list is asked")
        stage.check = MODEL_THERE
        await pilot.press("l", "escape")
        await until(pilot, lambda: chat(pilot).setup.can_answer, "somebody is there")
        await pilot.press("enter")
        await done(pilot, 1)
        assert [request.prompt for request in stage.local.requests] == ["Hello"]


async def test_foreign_texts_are_shown_as_they_are() -> None:
    check = LocalCheckup(
        check=Check(name="Local model", state="failed", text=FOREIGN, remedy=f"try {FOREIGN}"),
        window=Check(name="Window", state="ok", text=f"w {FOREIGN}"),
        offered=(server("http://127.0.0.1:1/v1", FOREIGN),),
    )
    async with on_stage(Stage(check=check)) as pilot:
        rows = shown(pilot)
        for words in (FOREIGN, f"try {FOREIGN}", f"w {FOREIGN}", f"use {FOREIGN} at"):
            assert words in rows, words


@pytest.mark.parametrize("size", [(60, 20), (80, 24)])
async def test_long_texts_go_on_under_themselves(size: tuple[int, int]) -> None:
    words = "a sentence that is much too long for one row of a small terminal, so it goes on " * 2
    check = NOBODY.model_copy(update={"check": Check(name="Local model", state="failed", text=words.strip())})
    async with on_stage(Stage(check=check), size=size) as pilot:
        rows = shown(pilot).splitlines()
        first = next(number for number, row in enumerate(rows) if "Local model" in row)
        column = rows[first].index("a sentence")
        assert rows[first + 1][:column].strip() == ""
        assert rows[first + 1][column] != " "


async def test_the_keys_are_in_view_when_they_work_even_on_the_smallest_terminal() -> None:
    async with on_stage(Stage(check=NOBODY, claude_check=NO_CLAUDE), size=(60, 20)) as pilot:
        chat(pilot).prompt.write("Hello")
        await pilot.press("enter")
        await until(
            pilot, lambda: all(key in shown(pilot) for key in ("[p]", "[u]", "[l]")), "the keys are in view"
        )


async def test_doctor_says_everything_in_the_transcript_once_there_is_one() -> None:
    async with on_stage(Stage(claude_check=NO_CLAUDE)) as pilot:
        await say(pilot, "Hello")
        await done(pilot, 1)
        await say(pilot, "/doctor")
        await until(pilot, lambda: "Claude Code: Claude Code is not installed." in told(pilot), "it is said")
        assert "Local model: small at" in told(pilot)
        assert "Window: 8,192 tokens" in told(pilot)


async def test_the_list_over_a_reopened_session_gives_way_to_it_again() -> None:
    async with on_stage(Stage()) as pilot:
        await say(pilot, "Hello")
        talk = (await done(pilot, 1)).talk
    session = Session(talk.session.state, talk.session.turns)
    async with on_stage(Stage(session=session, check=NOBODY)) as pilot:
        transcript = pilot.app.screen.query_one(Transcript)
        assert transcript.display
        assert "nothing answered on 127.0.0.1" in told(pilot)
        chat(pilot).prompt.write("And now?")
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.screen.query_one(Checklist).has_focus, "the list is asked")
        assert not transcript.display
        await pilot.press("escape")
        await until(pilot, lambda: transcript.display, "the conversation is back")
        assert chat(pilot).prompt.full_text == "And now?"


async def test_a_look_that_fails_is_told_and_the_chat_works(monkeypatch: pytest.MonkeyPatch) -> None:
    async with on_stage(stage := Stage()) as pilot:

        async def broken() -> LocalCheckup:
            await asyncio.sleep(0)
            raise OSError("[/tmp/x] no network")

        monkeypatch.setattr(chat(pilot).bench, "check_local", broken)
        chat(pilot).setup.begin()
        await until(pilot, lambda: "[/tmp/x] no network" in notified(pilot), "it is told")
        await say(pilot, "Hello")
        await done(pilot, 1)
        assert stage.local.requests
