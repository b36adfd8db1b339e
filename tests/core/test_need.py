import pytest

from milk_tui.core import events as ev
from milk_tui.core.budget import NEED_LIMIT
from milk_tui.core.need import NEEDS_KEPT, PastNeed, guessed, is_another, remembered
from milk_tui.core.session import Session
from tests.core.building import Play, session, turn


@pytest.mark.parametrize(
    "prompt",
    [
        "yes",
        "Yes, do it",
        "no, the other file",
        "go on",
        "ok",
        "Thanks!",
        "thank you, great",
        "and the tests?",
        "And Windows?",
        "what about macOS?",
        "why?",
        "are you sure?",
        "1",
        "👍",
        "",
        "ja",
        "weiter bitte",
        "danke",
        "oui",
        "merci",
        "sí, por favor",
        "да",
        "спасибо",
        "继续",
        "谢谢",
        "はい",
        "```\nx = 1\n```",
        "> quoted only",
    ],
)
def test_a_follow_up_is_no_need(prompt: str) -> None:
    assert guessed(prompt) == ""


@pytest.mark.parametrize(
    ("prompt", "need"),
    [
        ("Fix the login. It fails since Monday.", "Fix the login."),
        ("Thanks! Now write the README.", "Now write the README."),
        ("Use a cache, e.g. a dict. Then measure.", "Use a cache, e.g. a dict."),
        ("Is a.py sound? Look at every line of it.", "Is a.py sound?"),
        ("fix this:\nTraceback (most recent call last)", "fix this:"),
        ("```\ncode\n```\nExplain this code to me", "Explain this code to me"),
        ("- mend the till\n- paint it", "mend the till"),
        (
            "and please also rewrite the whole parser module",
            "and please also rewrite the whole parser module",
        ),
        ("Bitte repariere den Login.", "Bitte repariere den Login."),
        ("Пожалуйста, исправь вход", "Пожалуйста, исправь вход"),
        ("修复登录的问题。然后测试", "修复登录的问题。"),
        ("No tests are run by CI", "No tests are run by CI"),
    ],
)
def test_the_first_sentence_that_asks_for_something_is_the_need(prompt: str, need: str) -> None:
    assert guessed(prompt) == need


def test_a_guess_costs_the_same_for_a_pasted_megabyte() -> None:
    assert len(guessed("word " * 200_000)) <= NEED_LIMIT


def test_a_need_is_guessed_when_nobody_says_it_and_is_marked_as_guessed() -> None:
    play = Play()
    play.local("Fix the login form, please.", "ok")
    assert (play.session.need.text, play.session.need.by) == ("Fix the login form, please.", "inferred")
    changing = play.session.handoff().changing
    assert "guessed from the user's words\n" in changing and "Fix the login form" in changing


def test_a_follow_up_leaves_the_guess_and_another_request_replaces_it() -> None:
    play = Play()
    play.local("Fix the login form.", "ok")
    play.local("go on", "ok")
    assert (play.session.need.text, play.session.state.need_turn) == ("Fix the login form.", 1)
    play.local("Write the README now.", "ok")
    assert (play.session.need.text, play.session.state.need_turn) == ("Write the README now.", 3)


@pytest.mark.parametrize("event", [ev.NeedChanged(text="said"), ev.NeedEdited(text="said")])
def test_a_tag_or_an_edit_wins_over_every_guess(event: ev.Event) -> None:
    play = Play()
    play.local("Fix the login form.", "ok")
    play.local("Look at the tests.", event)
    play.local("Write the README now.", "ok")
    assert play.session.need.text == "said" and play.session.need.by in ("local", "user")


def test_a_session_that_has_no_need_on_file_guesses_it_from_earlier_prompts() -> None:
    play = Play(session(turn(1, "Fix the login form.", "ok"), turn(2, "thanks", "ok")))
    play.local("go on", "ok")
    assert (play.session.need.text, play.session.state.need_turn) == ("Fix the login form.", 1)


def test_a_guess_does_not_rename_the_session() -> None:
    play = Play()
    play.local("Fix the login form.", "ok")
    play.local("Write the README now.", "ok")
    assert play.session.title == "Fix the login form."


def test_needs_are_remembered_with_the_turn_in_which_they_began() -> None:
    play = Play()
    play.local("Fix the login form.", ev.NeedChanged(text="fix the login"))
    play.local("Write the README now.", ev.NeedChanged(text="write the README"))
    play.local("go on", ev.NeedChanged(text="write the README"))
    play.apply(ev.NeedEdited(text="write all the docs"))
    assert play.session.state.needs == (
        PastNeed(text="fix the login", by="local", turn=1),
        PastNeed(text="write the README", by="local", turn=2),
        PastNeed(text="write all the docs", by="user", turn=3),
    )
    assert [past.text for past in play.session.need.earlier] == ["write the README", "fix the login"]
    assert Session(play.session.state, play.session.turns).need == play.session.need


def test_only_so_many_needs_are_remembered() -> None:
    needs: tuple[PastNeed, ...] = ()
    for number in range(100):
        needs = remembered(needs, PastNeed(text=f"need {number}", by="user", turn=number))
    assert len(needs) == NEEDS_KEPT and needs[-1].text == "need 99"


def test_other_words_for_one_need_are_not_another() -> None:
    assert not is_another("Fix the login form", "fix the login")
    assert is_another("Fix the login form", "write the README")
