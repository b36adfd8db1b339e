"""A question of an agent's with answers to choose from, and what the user has answered, in words.

Values only. A free answer is always possible, and so is none.
"""

from collections.abc import Sequence

from milk_tui.core.messages import Value


class Choice(Value):
    """One answer that can be chosen."""

    label: str
    description: str = ""
    """What it means or what would come of it."""
    preview: str = ""
    """What it would look like, such as a few lines of code."""


class Menu(Value):
    """One question with its choices."""

    question: str
    """The whole question; the answer goes back under it."""
    header: str = ""
    """The question in a word or two."""
    choices: tuple[Choice, ...] = ()
    takes_several: bool = False


def answers_in_words(menus: Sequence[Menu], chosen: Sequence[str]) -> str:
    """What was answered to which question; the questions that were not answered are left out."""
    said = (
        f"{menu.header or menu.question}: {answer}"
        for menu, answer in zip(menus, chosen, strict=False)
        if answer
    )
    return " · ".join(said)
