"""Reading files and directories: what is free, what asks, and what is a sentence and never a wait."""

import os
import socket
from pathlib import Path

import pytest

from tests.tools.tool_room import Room


async def test_lines_are_shown_with_their_numbers(room: Room) -> None:
    (room.directory / "a.txt").write_text("one\ntwo\nthree\n")
    assert await room.done("read_file", path="a.txt") == "1\tone\n2\ttwo\n3\tthree"
    assert room.questions == []


async def test_a_part_of_a_file_says_how_to_go_on(room: Room) -> None:
    (room.directory / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 101)))
    text = await room.done("read_file", path="a.txt", start=10, lines=2)
    assert text == "10\tline 10\n11\tline 11\n[lines 12 to 100 are not shown; go on with start=12]"


async def test_a_long_file_is_shown_as_far_as_whole_lines_fit(room: Room) -> None:
    (room.directory / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 20_001)))
    text = await room.done("read_file", path="a.txt")
    assert len(text) <= room.limit_chars
    last = text.splitlines()[-2].split("\t")[0]
    assert text.endswith(f"go on with start={int(last) + 1}]")
    assert not room.keep.exists()


async def test_one_line_of_three_megabytes_is_shortened(room: Room) -> None:
    (room.directory / "a.txt").write_text("😀" * 800_000)
    text = await room.done("read_file", path="a.txt")
    assert len(text) <= room.limit_chars
    assert "characters left out" in text


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"", "[a.txt is empty]"),
        (b"\n", "1\t"),
        (b"no newline", "1\tno newline"),
        (b"\xef\xbb\xbfmark", "1\tmark"),
        ("zwölf".encode("utf-16"), "1\tzwölf"),
        (b"caf\xe9", "1\tcafé\n[not UTF-8; shown as if it were Latin-1]"),
        (b"a\r\nb\r\n", "1\ta\n2\tb\n[lines end with CRLF, and will when the file is changed]"),
        (b"\x1b]52;c;ZXZpbA==\x07x\x1b[2Jy", "1\txy\n[control characters are not shown]"),
    ],
)
async def test_a_text_is_read_as_what_it_is(room: Room, data: bytes, shown: str) -> None:
    (room.directory / "a.txt").write_bytes(data)
    assert await room.done("read_file", path="a.txt") == shown


@pytest.mark.parametrize(
    "data", [b"\x00\x01", b"text\x00", b"\xff\xfe\x00", b"\xff\xfe\x00\x00a", b"\x89PNG\x02"]
)
async def test_a_binary_file_is_a_sentence(room: Room, data: bytes) -> None:
    (room.directory / "a.bin").write_bytes(data)
    assert "a.bin is" in await room.refused("read_file", path="a.bin")


async def test_what_is_no_file_is_a_sentence_and_never_a_wait(room: Room) -> None:
    here = room.directory
    os.mkfifo(here / "pipe")
    (here / "circle").symlink_to("circle")
    (here / "file").touch()
    for number in range(3_000):
        (here / f"chain{number}").symlink_to(f"chain{number + 1}")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(here / "socket"))
    try:
        for path, words in {
            "pipe": "named pipe",
            "socket": "socket",
            "circle": "circle",
            "chain0": "",
            ".": "directory",
            "missing": "does not exist",
            "file/below": "is a file",
            "/dev/zero": "device",
            "x" * 300: "too long",
            "x/" * 3_000: "has 1 to 4,096 characters",
            "d/" * 1_500 + "f": "too deep",
            "": "has 1 to 4,096 characters",
            "a\0b": "no NUL",
            "a\x1b[2Jb": "control characters",
            "txt.\u202eexe": "control characters",
            "a\nb": "control characters",
            "\ud83d": "half a character",
        }.items():
            assert words in await room.refused("read_file", path=path), path
    finally:
        listener.close()
    assert room.questions == []


async def test_a_file_that_keeps_its_reader_waiting_does_not_keep_us(room: Room) -> None:
    if not Path("/proc/kmsg").exists():
        pytest.skip("needs the kernel's log")
    assert await room.refused("read_file", path="/proc/kmsg")


async def test_a_huge_file_is_refused_unread(room: Room) -> None:
    with (room.directory / "huge").open("wb") as file:
        file.truncate(10**12)
    assert "larger than 10 MB" in await room.refused("read_file", path="huge")


async def test_a_file_that_vanished_while_it_was_asked_about_is_a_sentence(
    room: Room, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("x")
    room.before_answer = outside.unlink
    assert "does not exist" in await room.refused("read_file", path=str(outside))


async def test_a_line_that_is_not_there_is_a_sentence(room: Room) -> None:
    (room.directory / "a.txt").write_text("one\n")
    assert "has 1 lines" in await room.refused("read_file", path="a.txt", start=5)


async def test_permission_denied_is_a_sentence(room: Room) -> None:
    if os.geteuid() == 0:
        pytest.skip("nothing is denied to root")
    (room.directory / "a.txt").touch(mode=0)
    assert "permission denied" in await room.refused("read_file", path="a.txt")


async def test_reading_outside_asks_and_says_why(room: Room, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("x")
    (room.directory / "inside.txt").symlink_to(outside)
    await room.done("read_file", path="inside.txt")
    await room.done("read_file", path="../outside.txt")
    first, second = room.questions
    assert first.path == second.path == str(outside)
    assert "outside the session's directory" in first.reason
    assert "“inside.txt” leads there" in first.reason
    assert first.scope == second.scope
    assert first.scope and first.scope.kind == "file" and first.scope.subject == str(outside)
    assert first.wider and first.wider.kind == "folder" and first.wider.subject == str(tmp_path)
    assert first.agent == "local"
    assert '"path": "inside.txt"' in first.arguments


async def test_a_link_that_is_turned_round_while_it_is_asked_about_is_refused(
    room: Room, tmp_path: Path
) -> None:
    (tmp_path / "harmless").write_text("harmless")
    (tmp_path / "precious").write_text("precious")
    link = room.directory / "link"
    link.symlink_to(tmp_path / "harmless")

    def turn() -> None:
        link.unlink()
        link.symlink_to(tmp_path / "precious")

    room.before_answer = turn
    assert "somewhere else" in await room.refused("read_file", path="link")


async def test_a_link_to_a_path_that_cannot_be_shown_is_refused(room: Room, tmp_path: Path) -> None:
    odd = tmp_path / "txt.\u202eexe"
    odd.touch()
    (room.directory / "link").symlink_to(odd)
    assert "leads to a path with control characters" in await room.refused("read_file", path="link")


@pytest.mark.parametrize("name", [".env", ".env.local", "server.KEY", "id_rsa", ".ssh/config", "sub/.netrc"])
async def test_a_file_that_may_hold_secrets_asks_every_time(room: Room, name: str) -> None:
    path = room.directory / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("x")
    await room.done("read_file", path=name)
    assert [(q.reason, q.scope, q.wider) for q in room.questions] == [("It may hold secrets.", None, None)]


async def test_nothing_is_free_where_the_directory_holds_the_home(
    room: Room, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(room.directory))
    (room.directory / "a.txt").write_text("x")
    at_home = Room(room.directory, room.keep)
    await at_home.done("read_file", path="~/a.txt")
    assert "your whole home directory" in at_home.questions[0].reason


async def test_what_was_kept_of_a_long_result_may_be_read_freely(room: Room) -> None:
    room.keep.mkdir()
    (room.keep / "kept.txt").write_text("x")
    await room.done("read_file", path=str(room.keep / "kept.txt"))
    assert room.questions == []


async def test_a_listing_says_what_each_entry_is(room: Room) -> None:
    (room.directory / "sub").mkdir()
    (room.directory / "a.txt").write_text("x" * 1_234)
    (room.directory / "out").symlink_to("/etc/passwd")
    os.mkfifo(room.directory / "pipe")
    assert (await room.done("list_dir")).splitlines() == [
        "[.: 4 entries]",
        "sub/",
        "a.txt  1,234",
        "out -> /etc/passwd",
        "pipe  no ordinary file",
    ]


async def test_names_that_are_no_text_or_would_draw_are_shown_safely(room: Room) -> None:
    for name in (b"half\xff", b"two\nlines", b"\x1b[2Jclear", "日本語 é 👩‍👩‍👧".encode()):
        Path(os.fsdecode(bytes(room.directory) + b"/" + name)).touch()
    text = await room.done("list_dir")
    assert len(text.splitlines()) == 5
    assert "\x1b" not in text
    assert "日本語 é 👩‍👩‍👧  0" in text
    assert await room.done("read_file", path="日本語 é 👩‍👩‍👧")


async def test_fifty_thousand_names_are_bounded(room: Room) -> None:
    many = room.directory / "many"
    many.mkdir()
    for number in range(50_000):
        os.close(os.open(many / f"{number:06}", os.O_CREAT | os.O_WRONLY))
    text = await room.done("list_dir", path="many")
    assert len(text) <= room.limit_chars
    assert "[many: 50,000 entries]" in text
    assert "049999" in text
    (kept,) = room.keep.iterdir()
    assert len(kept.read_text().splitlines()) == 50_001


@pytest.mark.parametrize(("path", "words"), [("file", "not a directory"), ("missing", "does not exist")])
async def test_listing_what_is_no_directory_is_a_sentence(room: Room, path: str, words: str) -> None:
    (room.directory / "file").touch()
    assert words in await room.refused("list_dir", path=path)
