"""An agent's question, as numbered lines. Nothing but a number that was typed for it means yes."""

from time import monotonic

from milk_tui.cli.plain.lines import Lines
from milk_tui.cli.plain.telling import WHO, tell
from milk_tui.core.menu import Menu
from milk_tui.core.permission import Answer, Decision, Question
from milk_tui.core.text import sanitize

DEAF_SECONDS = 0.5
"""How long a question that was just put ignores lines: they were typed for something else."""


async def ask(lines: Lines, question: Question) -> Answer:
    """Put a question and wait for its answer; an empty line, the end of the input and anything unclear mean no."""
    if question.menus:
        return await _choose(lines, question)
    for line in _facts(question):
        tell(line)
    ways = list(_ways(question))
    for number, (_, words) in enumerate(ways, 1):
        tell(f"{number}: {words}")
    typed = await _typed(lines, "Number, or Enter for no:")
    number = int(typed) if typed and typed.strip().isdecimal() else 0
    if not 0 < number <= len(ways):
        return Answer(word=(typed or "").strip())
    decision, _ = ways[number - 1]
    return Answer(decision=decision)


async def _choose(lines: Lines, question: Question) -> Answer:
    """Let the user choose, one menu after the other; nothing chosen in any of them is a no."""
    chosen: list[str] = []
    for menu in question.menus:
        tell(f"{WHO[question.agent]} asks: {menu.question}")
        for number, choice in enumerate(menu.choices, 1):
            tell(f"{number}: {choice.label}. {choice.description}".rstrip(". ") + ".")
        several = "Numbers, apart by commas" if menu.takes_several else "Number"
        chosen.append(_meant(menu, await _typed(lines, f"{several}, or your own words, or Enter for none:")))
    is_answered = any(chosen)
    return Answer(decision="once" if is_answered else "no", chosen=tuple(chosen) if is_answered else ())


def _meant(menu: Menu, typed: str | None) -> str:
    """The answer that a line means: the choices with these numbers, else the words themselves."""
    words = sanitize(typed or "").strip()
    numbers = [part.strip() for part in words.split(",")] if menu.takes_several else [words]
    if all(part.isdecimal() and 0 < int(part) <= len(menu.choices) for part in numbers):
        return ", ".join(menu.choices[int(part) - 1].label for part in numbers)
    return words


async def _typed(lines: Lines, prompt: str) -> str | None:
    """The next line that was typed for this; `None` at the end of the input."""
    lines.forget()
    asked_at = monotonic()
    while True:
        typed = await lines.ask(prompt)
        if typed is None or monotonic() - asked_at >= DEAF_SECONDS:
            return typed


def _facts(question: Question) -> list[str]:
    if question.plan is not None:
        return [f"{WHO[question.agent]} has a plan:", question.plan or "It is not written down."]
    lines = [f"{WHO[question.agent]} wants to use {question.tool}."]
    if question.reason:
        lines.append(f"Reason: {question.reason}")
    if question.path:
        lines.append(f"Path: {question.path}")
    if question.command:
        lines.append(f"Command: {question.command}")
    elif question.after is not None:
        lines += [*_change(question.before, question.after)]
    else:
        lines.append(question.arguments)
    return lines


def _change(before: str | None, after: str) -> list[str]:
    """The change as lines that begin with what happens to them."""
    from difflib import unified_diff

    old = (before or "").splitlines()
    changed = list(unified_diff(old, after.splitlines(), lineterm="", n=0))[2:]
    words = {"-": "removed: ", "+": "added: "}
    return [
        f"{words[line[0]]}{line[1:]}" if line[:1] in words else f"at {line.strip('@ ')}" for line in changed
    ] or ["Nothing changes."]


def _ways(question: Question) -> list[tuple[Decision, str]]:
    yes = "yes, once" if question.plan is None else "yes, carry it out"
    ways: list[tuple[Decision, str]] = [("once", yes)]
    scope = question.scope.words() if question.scope else question.session_scope
    if scope:
        ways.append(("session", f"yes, for this session: {scope}"))
    if question.scope:
        ways.append(("always", f"yes, always in this directory: {scope}"))
    return [*ways, ("no", "no; any other line is no with that word to the model")]
