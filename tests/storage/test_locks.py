import os
import subprocess
import sys
from pathlib import Path

import pytest

from milk_tui.core.errors import StoreError
from milk_tui.storage.locks import SessionLock

HOLDER = (
    "import sys, pathlib\n"
    "from milk_tui.storage.locks import SessionLock\n"
    "lock = SessionLock(pathlib.Path(sys.argv[1]), 's1')\n"
    "lock.take()\n"
    "print('taken', flush=True)\n"
    "sys.stdin.read()\n"
)


def test_a_session_open_elsewhere_is_refused_by_process_and_free_after_a_kill(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None and child.stdin is not None
    with child.stdin, child.stdout:
        assert child.stdout.readline() == "taken\n"
        lock = SessionLock(tmp_path, "s1")
        for _ in range(2):
            with pytest.raises(StoreError, match=f"process {child.pid}"):
                lock.take()
        assert not lock.is_taken
        SessionLock(tmp_path, "s2").take()
        child.kill()
        child.wait(timeout=30)
    lock.take()
    assert lock.is_taken and lock.owner == os.getpid()
    lock.close()


def test_a_lock_given_back_is_free_at_once(tmp_path: Path) -> None:
    with SessionLock(tmp_path, "s1") as first:
        first.take()
        with pytest.raises(StoreError, match="another window"):
            SessionLock(tmp_path, "s1").take()
    assert first.owner is None
    with SessionLock(tmp_path, "s1"):
        pass


def test_an_id_never_leads_out_of_the_folder(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with SessionLock(home, "../../evil"):
        assert [path.name for path in tmp_path.iterdir()] == ["home"]


def test_nothing_is_created_before_a_lock_is_taken(tmp_path: Path) -> None:
    SessionLock(tmp_path / "home", "s1").close()
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_locked_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "locks").touch()
    with pytest.raises(StoreError, match="cannot be locked"):
        SessionLock(tmp_path, "s1").take()
