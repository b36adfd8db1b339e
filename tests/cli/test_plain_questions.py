"""An agent's questions as numbered lines: what is said, and what a typed line means."""

import pytest

from milk_tui.cli.plain import asking
from milk_tui.cli.plain.lines import Lines
from milk_tui.core.menu import Choice, Menu
from milk_tui.core.permission import Answer, Question

ONE = Menu(question="Which?", choices=(Choice(label="A", description="The first."), Choice(label="B")))
SEVERAL = Menu(question="Which parts?", choices=(Choice(label="X"), Choice(label="Y")), takes_several=True)
BOTH = Question(tool="AskUserQuestion", arguments="{}", menus=(ONE, SEVERAL))


class Typist(Lines):
    """Types these lines, one for each time it is asked."""

    def __init__(self, *typed: str | None) -> None:
        self._typed = list(typed)

    async def ask(self, prompt: str) -> str | None:
        return self._typed.pop(0)

    def forget(self) -> None:
        """Nothing was typed ahead."""


@pytest.fixture(autouse=True)
def hears_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "DEAF_SECONDS", 0.0)


@pytest.mark.parametrize(
    ("typed", "chosen"),
    [
        (("2", "1, 2"), ("B", "X, Y")),
        (("", "2"), ("", "Y")),
        (("C\x1b[31m please", "3"), ("C please", "3")),
        (("1", None), ("A", "")),
        (("", ""), ()),
    ],
)
async def test_numbers_choose_and_anything_else_is_an_answer_of_its_own(
    typed: tuple[str | None, ...], chosen: tuple[str, ...]
) -> None:
    assert await asking.ask(Typist(*typed), BOTH) == Answer(
        decision="once" if chosen else "no", chosen=chosen
    )


async def test_the_choices_are_read_out_with_their_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    await asking.ask(Typist("", ""), BOTH)
    said = capsys.readouterr().out.splitlines()
    assert said == [
        "Claude asks: Which?",
        "1: A. The first.",
        "2: B.",
        "Claude asks: Which parts?",
        "1: X.",
        "2: Y.",
    ]


async def test_a_plan_is_read_out_and_approved_by_its_number(capsys: pytest.CaptureFixture[str]) -> None:
    plan = Question(tool="ExitPlanMode", arguments="{}", plan="# Plan\n1. Do it", session_scope="every edit")
    assert await asking.ask(Typist("2"), plan) == Answer(decision="session")
    assert (
        "# Plan\n1. Do it\n1: yes, carry it out\n2: yes, for this session: every edit"
        in capsys.readouterr().out
    )
    assert await asking.ask(Typist("Tests first"), plan) == Answer(word="Tests first")
