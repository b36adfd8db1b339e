"""Sessions of the Go program's, of every age."""

from datetime import timedelta
from pathlib import Path

import pytest

from milk_tui.core.messages import Turn
from milk_tui.storage.importing import source
from milk_tui.storage.importing.found import Found
from milk_tui.storage.importing.go_session import go_session
from milk_tui.storage.importing.source import SourceError
from tests.storage.importing.go_files import CLAUDE, GO_SESSION, Json, between, entry, newest, oldest, write


def read(fields: object, root: Path) -> tuple[Found, list[Turn]]:
    found = go_session(write(root, fields))
    return found, list(found.turns)


def test_the_oldest_files_keep_agents_floor_times_and_claudes_session(tmp_path: Path) -> None:
    found, turns = read(oldest(), tmp_path)
    assert [(turn.number, turn.agent, turn.prompt, turn.answer, turn.status) for turn in turns] == [
        (1, "local", "why does login answer 500?", "auth.py:88 reads from None.", "finished"),
        (2, "claude", "redo the session layer", "Which of the two?", "finished"),
    ]
    state = found.state
    assert (state.id, state.cwd, state.floor, state.claude_session_id) == (
        GO_SESSION,
        "/home/ana/shop",
        "claude",
        CLAUDE,
    )
    assert (state.created_at.microsecond, state.created_at.utcoffset()) == (418_820, timedelta(hours=2))
    assert turns[0].started_at.isoformat() == "2026-05-20T09:12:40.100000+02:00"
    assert turns[1].ended_at == found.used_at
    assert (state.need, state.need_turn, state.handed_over) == ("", None, False)


def test_files_of_the_two_days_between_keep_need_brief_and_both_agents(tmp_path: Path) -> None:
    found, turns = read(between(), tmp_path)
    assert [turn.agent for turn in turns] == ["local", "claude"]
    state = found.state
    assert (state.need, state.need_by, state.need_turn) == ("signed tokens for sessions", "local", None)
    assert (state.brief, state.floor) == ("too large for me", "claude")
    assert state.local_summary == "User: why does login answer 500?"


def test_the_newest_files_keep_calls_results_thinking_and_names(tmp_path: Path) -> None:
    found, (turn,) = read(newest(), tmp_path)
    asked, looked, first, second, told = turn.messages
    assert (asked.text, looked.text, looked.thinking) == (
        "why does login answer 500?",
        "I look.",
        "the trace says so",
    )
    assert [(c.name, c.arguments) for c in looked.calls] == [
        ("read_file", '{"path": "auth.py"}'),
        ("bash", "{}"),
    ]
    results = [message.result for message in (first, second)]
    assert [(r.call_id, r.text) for r in results if r] == [
        (looked.calls[0].id, "88: user.id"),
        (looked.calls[1].id, "500"),
    ]
    assert told.text == "It is None.", "the tag of its own agent is no text"
    assert (turn.model, turn.status, found.state.title, found.state.floor) == (
        "qwen",
        "finished",
        "auth",
        "local",
    )
    assert (found.state.need, found.state.need_turn) == ("replace cookies with signed tokens", 1)
    assert found.state.claude_summary.startswith("User: redo it")


def test_tokens_are_those_of_the_session_and_stand_on_each_agents_last_turn(tmp_path: Path) -> None:
    fields = newest()
    fields["history"] += [entry("user", "escalation", "redo"), entry("assistant", "escalation", "Done.")]
    _, (local, claude) = read(fields, tmp_path)
    assert (local.usage.input_tokens, local.usage.output_tokens) == (5_120, 233)
    assert (claude.usage.input_tokens, claude.usage.cached_tokens, claude.usage.output_tokens) == (
        412 + 18_110 + 2_044 + 10,
        18_110,
        923,
    )


@pytest.mark.parametrize(
    ("state", "floor"),
    [
        ("ROUTING", "local"),
        ("LOCAL", "local"),
        ("CLAUDE", "claude"),
        ("CLAUDE_WAITING", "claude"),
        ("ESCALATION", "claude"),
        ("ESCALATION_WAITING", "claude"),
    ],
)
def test_every_state_it_ever_had_is_known(tmp_path: Path, state: str, floor: str) -> None:
    found, _ = read({**oldest(), "state": state}, tmp_path)
    assert (found.state.floor, found.notes) == (floor, [])


def test_what_is_unknown_is_told(tmp_path: Path) -> None:
    fields = {**oldest(), "state": "DREAMING", "claude_session_id": "aider-17"}
    found, _ = read(fields, tmp_path)
    assert (found.state.floor, found.state.claude_session_id) == ("local", None)
    assert len(found.notes) == 2 and "DREAMING" in found.notes[0] and "not Claude Code's" in found.notes[1]


@pytest.mark.parametrize("history", [None, [], {}, "x", [None, 3], [{"role": "tool_result", "content": "x"}]])
def test_a_history_without_turns_has_none(tmp_path: Path, history: object) -> None:
    _, turns = read({**oldest(), "history": history, "tokens": None}, tmp_path)
    assert turns == []


def test_entries_without_an_agent_go_by_who_answered(tmp_path: Path) -> None:
    history = [
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "1"},
        {"role": "user", "content": "two"},
        {"role": "assistant", "agent": "claude", "content": "2"},
        {"role": "assistant", "agent": "local", "content": "3"},
        {"role": "user", "content": "three"},
    ]
    _, turns = read({**oldest(), "history": history}, tmp_path)
    assert [(turn.agent, turn.answer, turn.status) for turn in turns] == [
        ("local", "1", "finished"),
        ("claude", "2", "finished"),
        ("local", "3", "finished"),
        ("local", "", "interrupted"),
    ]
    assert turns[0].started_at == turns[3].started_at, "without times of its own a turn has the session's"


def test_entries_that_cannot_be_placed_are_counted(tmp_path: Path) -> None:
    fields = oldest()
    fields["history"] += [None, entry("narrator", "local", "x"), entry("tool_result", "local", "x")]
    found, turns = read(fields, tmp_path)
    assert len(turns) == 2
    assert found.left_out == {
        "damaged entries": 1,
        "entries of an unknown role": 1,
        "results without a call": 1,
    }


def test_every_text_is_made_safe_and_bounded(tmp_path: Path) -> None:
    evil = "a\x1b[31m\u202eb"
    fields: Json = {key: evil for key in ("name", "cwd", "current_need", "escalation_brief")}
    fields |= {"state": "LOCAL", "history": [entry("user", "local", evil)], "last_claude_summary": evil}
    found, (turn,) = read(fields, tmp_path)
    state = found.state
    assert {state.title, state.cwd, state.need, state.brief, state.claude_summary, turn.prompt} == {"ab"}
    long = {**oldest(), "current_need": "word " * 500, "last_claude_summary": "word " * 50_000}
    found, _ = read(long, tmp_path)
    assert len(found.state.need) <= 400 and len(found.state.claude_summary) <= 12_000


@pytest.mark.parametrize("odd", [None, 7, -1, "x", [], {}, [7], {"x": 7}])
def test_odd_values_in_any_field_lose_only_themselves(tmp_path: Path, odd: object) -> None:
    for key in newest():
        if key != "history":
            _, (turn,) = read({**newest(), key: odd}, tmp_path)
            assert turn.prompt == "why does login answer 500?"
    for key in ("agent", "agent_name", "content", "thinking", "tool_calls", "timestamp"):
        history = [{**each, key: odd} for each in newest()["history"]]
        _, turns = read({**newest(), "history": history}, tmp_path)
        assert len(turns) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is damaged"),
        ('{"id": "x", "history": [', "is damaged"),
        ("[]", "is damaged"),
        ("[" * 100_000, "is damaged"),
        ("{}", "is no session of the Go program"),
        ('{"history": []}', "is no session of the Go program"),
    ],
)
def test_a_file_that_holds_no_session_is_refused_with_a_sentence(
    tmp_path: Path, text: str, words: str
) -> None:
    with pytest.raises(SourceError, match=words):
        go_session(write(tmp_path, text))


def test_a_file_beyond_the_limit_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "WHOLE_LIMIT", 2**20)
    with pytest.raises(SourceError, match="larger than 1 MB"):
        go_session(write(tmp_path, {**oldest(), "name": "x" * 2**20}))
