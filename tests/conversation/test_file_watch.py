"""What is shown of changed files is true: from before the first change to now, or as it was asked for and said so."""

from pathlib import Path

import pytest

from milk_tui.conversation.file_watch import FileWatch
from milk_tui.core import events as ev
from milk_tui.core.file_diff import FileDiff
from milk_tui.core.messages import ToolCall, ToolResult
from milk_tui.core.session import Session
from milk_tui.storage.file_texts import LARGEST, FileTexts
from tests.conversation.talking import NOW, new_session


class Room:
    """A directory with a session in it whose changes are watched."""

    def __init__(self, root: Path) -> None:
        self.work = root / "work"
        self.work.mkdir()
        self.session: Session = new_session(cwd=str(self.work))
        self.watch = FileWatch(self.session, FileTexts(root / "home", "s1"))
        self._calls = 0

    def begin(self) -> None:
        self.session.apply(ev.TurnStarted(agent="claude", prompt="go", at=NOW))

    def end(self) -> None:
        self.session.apply(ev.TurnEnded(at=NOW))

    async def write(self, name: str, text: str | bytes | None, *, is_watched: bool = True) -> None:
        """A call that writes a file, or that takes it away."""
        self._calls += 1
        arguments = f'{{"file_path": "{self.work / name}", "content": "asked for"}}'
        call = ToolCall(id=f"c{self._calls}", name="Write", arguments=arguments)
        self.session.apply(ev.ToolCallStarted(call=call))
        if is_watched:
            await self.watch.note(call)
        path = self.work / name
        if text is None:
            path.unlink()
        else:
            path.write_bytes(text.encode() if isinstance(text, str) else text)
        self.session.apply(ev.ToolCallFinished(result=ToolResult(call_id=call.id, text="done")))

    async def diff(self, first: int = 0) -> FileDiff:
        (file,) = (await self.watch.changes(self.session.turns[first:])).files
        return file


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


async def test_several_edits_are_one_difference_from_before_the_first(room: Room) -> None:
    (room.work / "a.txt").write_text("one\n")
    room.begin()
    await room.write("a.txt", "two\n")
    await room.write("./a.txt", "three\n")
    room.end()
    (room.work / "a.txt").write_text("four\n")
    diff = await room.diff()
    assert (diff.name, diff.kind, diff.before, diff.after) == ("a.txt", "changed", "one\n", "four\n")


async def test_a_later_turn_alone_is_compared_with_what_was_before_it(room: Room) -> None:
    for text in ("one\n", "two\n"):
        room.begin()
        await room.write("a.txt", text)
        room.end()
    assert ((await room.diff(1)).before, (await room.diff()).before) == ("one\n", None)


async def test_created_deleted_and_changed_back_are_told_apart(room: Room) -> None:
    (room.work / "b.txt").write_text("b\n")
    (room.work / "c.txt").write_text("c\n")
    room.begin()
    await room.write("a.txt", "new\n")
    await room.write("b.txt", None)
    await room.write("c.txt", "other\n")
    await room.write("c.txt", "c\n")
    room.end()
    files = (await room.watch.changes(room.session.turns)).files
    assert [(file.name, file.kind, file.before, file.after) for file in files] == [
        ("a.txt", "created", None, "new\n"),
        ("b.txt", "deleted", "b\n", None),
        ("c.txt", "unchanged", "c\n", "c\n"),
    ]
    assert files[2].words == "It is now as it was before."


async def test_only_line_ends_are_a_change_too(room: Room) -> None:
    (room.work / "a.txt").write_bytes(b"a\r\n")
    room.begin()
    await room.write("a.txt", b"a\n")
    room.end()
    assert (await room.diff()).kind == "changed"


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (b"\x00", b"text", "it is no text"),
        (b"text", b"x" * (LARGEST + 1), "Now it is over 1 MB"),
    ],
)
async def test_what_cannot_be_compared_is_shown_as_it_was_asked_for(
    room: Room, before: bytes, after: bytes, words: str
) -> None:
    (room.work / "a.txt").write_bytes(before)
    room.begin()
    await room.write("a.txt", after)
    room.end()
    diff = await room.diff()
    assert diff.kind == "asked" and words in diff.words
    assert [(piece.old, piece.new) for piece in diff.pieces] == [("", "asked for")]


async def test_without_a_copy_from_before_nothing_is_made_up(room: Room) -> None:
    room.begin()
    await room.write("a.txt", "text", is_watched=False)
    room.end()
    diff = await room.diff()
    assert diff.kind == "asked" and "was not kept" in diff.words and diff.after is None
