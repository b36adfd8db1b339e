"""What was said in a Claude Code session since a moment."""

from datetime import timedelta
from pathlib import Path

from milk_tui.storage.importing.claude_part import claude_part
from tests.storage.importing.claude_file import BEGAN, ClaudeFile, said

SINCE = BEGAN + timedelta(hours=1)
FORK = "99999999-2222-4333-8444-555555555555"


def gone_on(file: ClaudeFile | None = None) -> ClaudeFile:
    """A session with one old turn and one new one."""
    file = file or ClaudeFile()
    file.user("Old question")
    file.assistant("m1", said("Old answer."))
    file.at = SINCE
    file.user("New question")
    file.assistant("m2", said("New answer."))
    return file


def test_only_what_is_new_is_read(tmp_path: Path) -> None:
    part = claude_part(gone_on().write(tmp_path), SINCE, set())
    [turn] = part.turns
    assert (turn.prompt, turn.answer, turn.status) == ("New question", "New answer.", "finished")
    assert turn.started_at > SINCE


def test_the_copies_in_a_session_that_was_branched_off_are_not_read_again(tmp_path: Path) -> None:
    known: set[str] = set()
    file = gone_on()
    claude_part(file.write(tmp_path), SINCE, known)
    file.session = FORK
    file.user("On the branch")
    file.assistant("m3", said("Branched."))
    part = claude_part(file.write(tmp_path), SINCE, known)
    assert [turn.prompt for turn in part.turns] == ["On the branch"]


def test_a_summary_of_what_was_said_is_no_turn(tmp_path: Path) -> None:
    file = gone_on()
    file.user("This session is continued from an earlier one.", isCompactSummary=True)
    file.user("After it")
    file.assistant("m3", said("Still here."))
    part = claude_part(file.write(tmp_path), SINCE, set())
    assert [turn.prompt for turn in part.turns] == ["New question", "After it"]


def test_what_it_cost_is_what_the_total_has_grown_by(tmp_path: Path) -> None:
    file = ClaudeFile()
    file.raw({"type": "cost-state", "totalCostUSD": 0.5})
    file = gone_on(file)
    assert claude_part(file.write(tmp_path), SINCE, set()).cost_usd is None
    file.raw({"type": "cost-state", "totalCostUSD": 0.75})
    part = claude_part(file.write(tmp_path), SINCE, set())
    assert (part.cost_usd, part.total_usd) == (0.25, 0.75)
    file.raw({"type": "cost-state", "totalCostUSD": 0.125})
    assert claude_part(file.write(tmp_path), SINCE, set()).cost_usd == 0.125


def test_damaged_lines_lose_only_themselves(tmp_path: Path) -> None:
    file = gone_on()
    file.raw("{ half")
    file.raw("[]")
    assert len(claude_part(file.write(tmp_path), SINCE, set()).turns) == 1
