"""What was written and not sent outlives the program."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from milk_tui.storage.drafts import KEPT_DAYS, Drafts, StoredDraft


def draft(text: str = "half a thought", cwd: str = "/work") -> StoredDraft:
    return StoredDraft(cwd=cwd, text=text, pastes={1: "a paste"})


def gone_process() -> int:
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    return child.pid


def written_by(drafts: Drafts, session: str, process: int, **changes: str) -> None:
    drafts.keep(session, draft(**changes))
    path = drafts._path(session)
    stored = StoredDraft.model_validate_json(path.read_bytes())
    path.write_text(stored.model_copy(update={"process": process}).model_dump_json(), encoding="utf-8")


def test_a_draft_comes_back_with_its_pastes_and_nobody_else_may_read_it(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path)
    drafts.keep("s1", draft())
    found = drafts.of_session("s1")
    assert found is not None and (found.text, found.pastes) == ("half a thought", {1: "a paste"})
    assert drafts._path("s1").stat().st_mode & 0o077 == 0
    assert drafts.of_session("s2") is None


def test_an_empty_draft_is_none(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path)
    drafts.keep("s1", draft())
    drafts.keep("s1", draft(text=""))
    assert drafts.of_session("s1") is None


def test_a_new_session_takes_the_draft_of_one_that_never_was_once(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path)
    written_by(drafts, "never-kept", gone_process())
    found = drafts.left_behind("/work", lambda _id: False)
    assert found is not None and found.text == "half a thought"
    assert drafts.left_behind("/work", lambda _id: False) is None


@pytest.mark.parametrize("why", ["another directory", "its session is kept", "its program runs", "too old"])
def test_a_draft_that_belongs_to_somebody_is_left_alone(tmp_path: Path, why: str) -> None:
    drafts = Drafts(tmp_path)
    process = os.getppid() if why == "its program runs" else gone_process()
    written_by(drafts, "s1", process, cwd="/other" if why == "another directory" else "/work")
    if why == "too old":
        past = time.time() - (KEPT_DAYS + 1) * 86_400
        os.utime(drafts._path("s1"), (past, past))
    assert drafts.left_behind("/work", lambda _id: why == "its session is kept") is None


@pytest.mark.parametrize("damage", ["", "{", "[]", "\x00"])
def test_a_damaged_draft_is_none(tmp_path: Path, damage: str) -> None:
    drafts = Drafts(tmp_path)
    drafts.keep("s1", draft())
    drafts._path("s1").write_text(damage, encoding="utf-8")
    assert drafts.of_session("s1") is None and drafts.left_behind("/work", lambda _id: False) is None


def test_an_id_leads_nowhere_else(tmp_path: Path) -> None:
    Drafts(tmp_path).keep("../../evil", draft())
    assert [path.parent for path in tmp_path.rglob("*.json")] == [tmp_path / "drafts"]
