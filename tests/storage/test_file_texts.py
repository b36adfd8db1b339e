"""Files are kept as they were: privately, in bounds, and the first time counts."""

import os
import time
from pathlib import Path

import pytest

from milk_tui.core.file_text import FileText
from milk_tui.storage import file_texts
from milk_tui.storage.file_texts import LARGEST, FileTexts


@pytest.fixture
def texts(tmp_path: Path) -> FileTexts:
    return FileTexts(tmp_path / "home", "s1")


def kept(texts: FileTexts, path: Path) -> FileText:
    texts.keep(1, str(path))
    found = texts.before(1, str(path))
    assert found is not None
    return found


def test_what_was_there_first_in_a_turn_is_what_was_before(texts: FileTexts, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one\r\n", encoding="utf-8", newline="")
    assert kept(texts, path).text == "one\r\n"
    path.write_text("two", encoding="utf-8")
    assert kept(texts, path).text == "one\r\n"
    texts.keep(2, str(path))
    assert texts.before(2, str(path)) == texts.now(str(path)) == FileTexts(tmp_path, "x").now(str(path))


def test_another_program_finds_what_was_kept(texts: FileTexts, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("ü", encoding="utf-8")
    texts.keep(1, str(path))
    assert FileTexts(tmp_path / "home", "s1").before(1, str(path)) == texts.now(str(path))
    assert FileTexts(tmp_path / "home", "s2").before(1, str(path)) is None


def test_only_the_owner_can_read_what_is_kept(texts: FileTexts, tmp_path: Path) -> None:
    texts.keep(1, str(tmp_path / "a.txt"))
    (file,) = (tmp_path / "home" / "before" / "s1").iterdir()
    assert file.stat().st_mode & 0o077 == 0 and file.parent.stat().st_mode & 0o077 == 0


def test_what_is_no_small_text_is_said_and_not_kept(texts: FileTexts, tmp_path: Path) -> None:
    large, binary, pipe = tmp_path / "large", tmp_path / "binary", tmp_path / "pipe"
    large.write_text("x" * (LARGEST + 1), encoding="utf-8")
    binary.write_bytes(b"\x00\x01")
    os.mkfifo(pipe)
    kinds = [kept(texts, path).kind for path in (large, binary, pipe, tmp_path / "none", binary / "in")]
    assert kinds == ["large", "binary", "binary", "absent", "absent"]
    assert sum(file.stat().st_size for file in (tmp_path / "home").rglob("*.json")) < 1_000


def test_a_full_folder_keeps_no_more(
    texts: FileTexts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("x" * 100, encoding="utf-8")
    monkeypatch.setattr(file_texts, "FOLDER_LIMIT", 250)
    for turn in range(1, 6):
        texts.keep(turn, str(path))
    assert [texts.before(turn, str(path)) is not None for turn in range(1, 6)] == [
        True,
        True,
        False,
        False,
        False,
    ]


def test_a_folder_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "before").write_text("a file", encoding="utf-8")
    texts = FileTexts(tmp_path, "s1")
    texts.keep(1, str(tmp_path / "before"))
    assert texts.before(1, str(tmp_path / "before")) is None


def test_a_damaged_copy_is_none(texts: FileTexts, tmp_path: Path) -> None:
    texts.keep(1, "/nowhere")
    (file,) = (tmp_path / "home").rglob("*.json")
    file.write_text('{"kind": "te', encoding="utf-8")
    assert texts.before(1, "/nowhere") is None


def test_old_copies_go(texts: FileTexts, tmp_path: Path) -> None:
    texts.keep(1, "/nowhere")
    texts.clean()
    (file,) = (tmp_path / "home").rglob("*.json")
    month_ago = time.time() - 31 * 86_400
    os.utime(file, (month_ago, month_ago))
    texts.clean()
    assert texts.before(1, "/nowhere") is None
