"""Claude Code's questions with choices, as menus, and the answers as it takes them and gives them back.

It knows the arguments of one tool, and nothing of the SDK.
"""

from collections.abc import Mapping
from typing import Any

from milk_tui.core.menu import Choice, Menu, answers_in_words

CHOOSE = "AskUserQuestion"
"""The tool that asks."""


def menus_of(arguments: Mapping[str, Any]) -> tuple[Menu, ...]:
    """The questions to choose from; none where they are not as Claude Code writes them."""
    try:
        return tuple(
            Menu(
                question=each["question"],
                header=each.get("header") or "",
                choices=tuple(Choice.model_validate(option) for option in each["options"]),
                takes_several=bool(each.get("multiSelect")),
            )
            for each in arguments["questions"]
        )
    except (LookupError, TypeError, AttributeError, ValueError):
        return ()


def with_answers(
    arguments: dict[str, Any], menus: tuple[Menu, ...], chosen: tuple[str, ...]
) -> dict[str, Any]:
    """The call's arguments with the answers in them, which is how Claude Code takes them."""
    answers = {menu.question: said for menu, said in zip(menus, chosen, strict=False) if said}
    return {**arguments, "answers": answers}


def answers_of(result: Mapping[str, Any]) -> str:
    """What was answered, from the tool's own result; empty where that is not as expected."""
    answers = result.get("answers")
    if not isinstance(answers, Mapping):
        return ""
    menus = menus_of(result)
    return answers_in_words(menus, [str(answers.get(menu.question, "")) for menu in menus])
