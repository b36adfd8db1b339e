"""Changing files: exactly what the question showed or nothing, and everything else about the file kept."""

import asyncio
import os
import stat
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milk_tui.core.permission import Answer
from tests.tools.tool_room import Room


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith(".milk-")]


async def test_the_question_shows_the_text_before_and_after(room: Room) -> None:
    path = room.directory / "a.py"
    path.write_text("a = 1\nb = 2\n")
    assert await room.done("edit_file", path="a.py", old="b = 2", new="b = 3\nc = 4")
    (question,) = room.questions
    assert (question.before, question.after) == ("a = 1\nb = 2\n", "a = 1\nb = 3\nc = 4\n")
    assert question.path == str(path)
    assert question.reason == ""
    assert path.read_text() == question.after
    assert question.scope and question.scope.subject == str(path)
    assert question.wider and question.wider.subject == str(room.directory)
    assert question.wider.covers(question.scope)


async def test_a_new_file_is_made_with_the_directories_it_needs(room: Room) -> None:
    await room.done("write_file", path="new/er/a.txt", text="hello\n")
    assert (room.directory / "new/er/a.txt").read_text() == "hello\n"
    assert room.questions[0].before is None


async def test_a_no_changes_nothing_and_tells_the_users_word(room: Room) -> None:
    room.answer = Answer(word="Use tabs.")
    assert await room.refused("write_file", path="a.txt", text="x") == "The user said no. Use tabs."
    assert list(room.directory.iterdir()) == []


@pytest.mark.parametrize(
    ("old", "words"),
    [
        ("missing", "`old` is not in a.txt. Read the file"),
        ("  two", "but for spaces"),
        ("1\tone", "Leave the line numbers out"),
        ("", "`old` is empty"),
        ("o", "2 times, at lines 1, 2"),
        ("aa", "2 times, at lines 3, 3"),
    ],
)
async def test_an_edit_that_is_not_clear_says_why(room: Room, old: str, words: str) -> None:
    (room.directory / "a.txt").write_text("one\ntwo\naaa\n")
    assert words in await room.refused("edit_file", path="a.txt", old=old, new="x")
    assert room.questions == []


@pytest.mark.parametrize("old", ["\n" * 200_000 + "x", "1" * 200_000, " " * 200_000 + "x", "1\t" * 100_000])
async def test_a_hint_takes_no_time(room: Room, old: str) -> None:
    (room.directory / "a.txt").write_text("y")
    began = time.monotonic()
    await room.refused("edit_file", path="a.txt", old=old, new="b")
    assert time.monotonic() - began < 3


async def test_a_text_that_repeats_itself_takes_no_time(room: Room) -> None:
    (room.directory / "a.txt").write_text("a" * 3_000_000)
    began = time.monotonic()
    text = await room.refused("edit_file", path="a.txt", old="a" * 100_000, new="b")
    assert "more than 10 times, at lines 1, 1," in text
    assert "not in a.txt" in await room.refused("edit_file", path="a.txt", old="a" * 100_000 + "b", new="b")
    assert time.monotonic() - began < 3


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\r\nb\r\nc\r\n", "b\nc", "x\ny\nz", b"a\r\nx\r\ny\r\nz\r\n"),
        (b"a\r\nb\r\n", "b", "x\ny", b"a\r\nx\r\ny\r\n"),
        (b"a\nb\r\nc\n", "c", "x\ny", b"a\nb\r\nx\ny\n"),
        (b"a\nb\r\nc\n", "b\n", "x\ny\n", b"a\nx\r\ny\r\nc\n"),
        (b"\xef\xbb\xbfa\n", "a", "b", b"\xef\xbb\xbfb\n"),
        ("zwölf\n".encode("utf-16"), "zwölf", "elf", "elf\n".encode("utf-16")),
        (b"caf\xe9 \x92\n", "caf", "Caf", b"Caf\xe9 \x92\n"),
        (b"end", "end", "end\n", b"end\n"),
    ],
)
async def test_line_ends_mark_and_encoding_stay(
    room: Room, before: bytes, old: str, new: str, after: bytes
) -> None:
    path = room.directory / "a.txt"
    path.write_bytes(before)
    await room.done("edit_file", path="a.txt", old=old, new=new)
    assert path.read_bytes() == after


async def test_a_rewritten_file_keeps_its_line_ends(room: Room) -> None:
    path = room.directory / "a.txt"
    path.write_bytes(b"a\r\nb\r\n")
    await room.done("write_file", path="a.txt", text="x\ny\r\nz\n")
    assert path.read_bytes() == b"x\r\ny\r\nz\r\n"


async def test_a_character_that_the_encoding_lacks_is_a_sentence(room: Room) -> None:
    (room.directory / "a.txt").write_bytes(b"caf\xe9")
    assert "latin-1 text, which has no “😀”" in await room.refused(
        "edit_file", path="a.txt", old="caf", new="😀"
    )


async def test_the_mode_stays_and_a_new_file_follows_the_umask(room: Room) -> None:
    path = room.directory / "run.sh"
    path.write_text("a")
    path.chmod(0o4751)
    await room.done("write_file", path="run.sh", text="b")
    await room.done("write_file", path="new.sh", text="b")
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o751
    assert stat.S_IMODE((room.directory / "new.sh").stat().st_mode) == 0o666 & ~umask


async def test_a_link_stays_a_link_and_its_target_is_asked_about(room: Room, tmp_path: Path) -> None:
    target = tmp_path / "target.txt"
    target.write_text("a")
    link = room.directory / "link"
    link.symlink_to(target)
    await room.done("write_file", path="link", text="b")
    assert link.is_symlink()
    assert target.read_text() == "b"
    (question,) = room.questions
    assert question.path == str(target)
    assert "outside the session's directory" in question.reason
    assert question.wider and question.wider.subject == str(tmp_path)


async def test_a_file_changed_since_it_was_read_is_not_changed(room: Room) -> None:
    path = room.directory / "a.txt"
    path.write_text("one\n")
    await room.done("read_file", path="a.txt")
    path.write_text("one\nmine\n")
    for call in ({"name": "edit_file", "old": "one", "new": "x"}, {"name": "write_file", "text": "x"}):
        assert "since you read it" in await room.refused(path="a.txt", **call)
    assert path.read_text() == "one\nmine\n"
    await room.done("read_file", path="a.txt")
    await room.done("edit_file", path="a.txt", old="one", new="two")
    await room.done("edit_file", path="a.txt", old="two", new="three")
    assert path.read_text() == "three\nmine\n"


@pytest.mark.parametrize("meanwhile", ["changed", "removed", "directory", "link", "read-only"])
async def test_a_file_that_changes_while_it_is_asked_about_is_not_changed(room: Room, meanwhile: str) -> None:
    path = room.directory / "a.txt"
    path.write_text("one\n")

    def change() -> None:
        if meanwhile == "read-only":
            path.chmod(0o444)
            return
        path.unlink()
        if meanwhile == "changed":
            path.write_text("mine\n")
        elif meanwhile == "directory":
            path.mkdir()
        elif meanwhile == "link":
            path.symlink_to("/etc/hostname")

    room.before_answer = change
    assert await room.refused("edit_file", path="a.txt", old="one", new="two")
    assert leftovers(room.directory) == []
    if meanwhile == "changed":
        assert path.read_text() == "mine\n"


async def test_a_file_that_appears_while_it_is_asked_about_is_not_replaced(room: Room) -> None:
    path = room.directory / "a.txt"

    def appear() -> None:
        path.write_text("mine")

    room.before_answer = appear
    assert "created by something else" in await room.refused("write_file", path="a.txt", text="x")
    assert path.read_text() == "mine"


@pytest.mark.parametrize("path", [".git/hooks/pre-commit", "sub/.GIT/config", ".env", ".ssh/authorized_keys"])
async def test_what_could_do_more_than_change_a_text_cannot_be_granted_ahead(room: Room, path: str) -> None:
    await room.done("write_file", path=path, text="x")
    (question,) = room.questions
    assert question.reason
    assert question.scope is None and question.wider is None


async def test_text_that_hides_something_is_pointed_out(room: Room) -> None:
    await room.done("write_file", path="a.py", text="access = '\u202enimda'\n")
    assert "control characters that are not shown" in room.questions[0].reason


async def test_what_cannot_be_written_is_a_sentence(room: Room) -> None:
    here = room.directory
    os.mkfifo(here / "pipe")
    (here / "binary").write_bytes(b"\0")
    (here / "same").write_text("x")
    (here / "locked").write_text("y")
    (here / "locked").chmod(0o444)
    room.before_answer = lambda: None
    for path, words in {
        ".": "directory",
        "pipe": "named pipe",
        "/dev/null": "device",
        "binary": "binary file",
        "same": "already holds exactly this text",
        "same/below": "is a file",
        "locked": "read-only",
        "x" * 256: "too long",
    }.items():
        assert words in await room.refused("write_file", path=path, text="x"), path
    assert "does not exist" in await room.refused("edit_file", path="missing", old="a", new="b")
    assert "half a character" in await room.refused("write_file", path="half", text="\ud83d")
    assert leftovers(here) == []


async def test_cancelling_while_the_user_is_asked_changes_nothing(room: Room) -> None:
    asked = asyncio.Event()

    async def wait() -> None:
        asked.set()
        await asyncio.Event().wait()

    room.before_answer = wait
    running = asyncio.create_task(room.call("write_file", path="a.txt", text="x"))
    await asked.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert list(room.directory.iterdir()) == []


async def test_cancelling_at_any_moment_leaves_the_old_text_or_the_new(room: Room) -> None:
    path = room.directory / "a.txt"
    old, new = "a" * 300_000, "b" * 300_000
    seen = set()
    for steps in range(0, 40, 3):
        path.write_text(old)
        running = asyncio.create_task(
            Room(room.directory, room.keep).call("write_file", path="a.txt", text=new)
        )
        for _ in range(steps):
            await asyncio.sleep(0.001)
        running.cancel()
        await asyncio.wait([running])
        seen.add(path.read_text() == old)
        assert path.read_text() in (old, new)
        assert leftovers(room.directory) == []
    assert True in seen


LINE_ENDS = st.sampled_from(["\n", "\r\n"])
TEXTS = st.lists(
    st.tuples(st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"])), LINE_ENDS)
)


@settings(max_examples=60, deadline=None)
@given(TEXTS, st.text("ab\n", min_size=1, max_size=4), TEXTS, st.text("xy\n", max_size=4))
async def test_an_edit_changes_the_one_place_and_no_other_byte(
    head: list[tuple[str, str]], old: str, tail: list[tuple[str, str]], new: str
) -> None:
    before, after = "".join(map("".join, head)), "".join(map("".join, tail))
    with tempfile.TemporaryDirectory() as folder:
        room = Room(Path(folder), Path(folder, "kept"))
        path = Path(folder, "a.txt")
        path.write_bytes(f"{before}{old}{after}".encode())
        result = await room.call("edit_file", path="a.txt", old=old, new=new)
        data = path.read_bytes().decode()
        if result.is_error:
            assert data == f"{before}{old}{after}"
        else:
            assert data.startswith(before) and data.endswith(after)
            middle = data[len(before) : len(data) - len(after)]
            assert middle.replace("\r\n", "\n") == new
