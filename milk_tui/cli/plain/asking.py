"""An agent's question, as numbered lines. Nothing but a number that was typed for it means yes."""

from time import monotonic

from milk_tui.cli.plain.lines import Lines
from milk_tui.cli.plain.telling import WHO, tell
from milk_tui.core.permission import Answer, Decision, Question

DEAF_SECONDS = 0.5
"""How long a question that was just put ignores lines: they were typed for something else."""


async def ask(lines: Lines, question: Question) -> Answer:
    """Put a question and wait for its answer; an empty line, the end of the input and anything unclear mean no."""
    for line in _facts(question):
        tell(line)
    ways = list(_ways(question))
    for number, (_, words) in enumerate(ways, 1):
        tell(f"{number}: {words}")
    lines.forget()
    asked_at = monotonic()
    while True:
        typed = await lines.ask("Number, or Enter for no:")
        if typed is None or monotonic() - asked_at >= DEAF_SECONDS:
            break
    number = int(typed) if typed and typed.strip().isdecimal() else 0
    if not 0 < number <= len(ways):
        return Answer(word=(typed or "").strip())
    decision, _ = ways[number - 1]
    return Answer(decision=decision)


def _facts(question: Question) -> list[str]:
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
    ways: list[tuple[Decision, str]] = [("once", "yes, once")]
    scope = question.scope.words() if question.scope else question.session_scope
    if scope:
        ways.append(("session", f"yes, for this session: {scope}"))
    if question.scope:
        ways.append(("always", f"yes, always in this directory: {scope}"))
    return [*ways, ("no", "no; any other line is no with that word to the model")]
