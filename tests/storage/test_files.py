import os
import time
from pathlib import Path

from milk_tui.storage.files import remove_old


def test_only_files_of_that_age_go_and_with_them_the_folders_they_leave_empty(tmp_path: Path) -> None:
    old, young = tmp_path / "a" / "old.txt", tmp_path / "b" / "young.txt"
    for path in (old, young):
        path.parent.mkdir()
        path.write_text("x", encoding="utf-8")
    month_ago = time.time() - 31 * 86_400
    os.utime(old, (month_ago, month_ago))
    remove_old(tmp_path, 30)
    assert not old.parent.exists() and young.exists() and tmp_path.exists()


def test_a_link_goes_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    target, folder = tmp_path / "kept.txt", tmp_path / "results"
    target.write_text("x", encoding="utf-8")
    folder.mkdir()
    (folder / "link").symlink_to(target)
    os.utime(folder / "link", (0, 0), follow_symlinks=False)
    remove_old(folder, 30)
    assert target.exists() and not (folder / "link").is_symlink()


def test_a_folder_that_is_not_there_is_no_trouble(tmp_path: Path) -> None:
    remove_old(tmp_path / "missing", 30)
