"""Files as they were before an agent changed them, kept beside the sessions so that a change can be shown truly.

The copies are private to their owner, bounded in size, and go after some weeks. It decides nothing about when a file
is looked at.
"""

from hashlib import sha256
from pathlib import Path

from pydantic import ValidationError

from milk_tui.core.file_text import FileText
from milk_tui.storage.files import make_folder, remove_old, write_new
from milk_tui.tools.off_loop import Stop
from milk_tui.tools.text_file import read_text
from milk_tui.tools.trouble import ToolError

LARGEST = 1_000_000
"""Bytes of the largest file whose text is kept or compared."""
FOLDER_LIMIT = 50_000_000
"""Bytes that are kept for one session; what comes later is not kept any more."""
KEPT_DAYS = 30


class FileTexts:
    """The texts of one session's files. Nothing is created before there is something to keep."""

    def __init__(self, home: Path, session_id: str) -> None:
        self._folder = home / "before" / session_id
        self._size: int | None = None

    def keep(self, turn: int, path: str) -> None:
        """Keep a file as it is now, as that of before the turn of this number; the first time counts.

        What cannot be written is not kept; whoever asks for it is told so.
        """
        place = self._place(turn, path)
        try:
            if place.exists() or self._used() > FOLDER_LIMIT:
                return
            make_folder(self._folder)
            written = self.now(path).model_dump_json(exclude_defaults=True)
            write_new(place, written)
            self._size = self._used() + len(written)
        except OSError:
            return

    def before(self, turn: int, path: str) -> FileText | None:
        """The file as it was kept before a turn; `None` if it was not, or cannot be read any more."""
        try:
            return FileText.model_validate_json(self._place(turn, path).read_bytes())
        except (OSError, ValidationError):
            return None

    def now(self, path: str) -> FileText:
        """The file as it is."""
        try:
            place = Path(path).resolve()
            if place.stat().st_size > LARGEST:
                return FileText(kind="large")
            found = read_text(place, path, Stop())
        except (FileNotFoundError, NotADirectoryError):
            return FileText(kind="absent")
        except ToolError:
            return FileText(kind="binary")
        except (OSError, RuntimeError, ValueError):
            return FileText(kind="unreadable")
        return FileText(kind="text", text=found.text, digest=found.digest)

    def clean(self) -> None:
        """Let go of what was kept long ago, for any session."""
        remove_old(self._folder.parent, KEPT_DAYS)

    def _place(self, turn: int, path: str) -> Path:
        name = sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        return self._folder / f"{turn}-{name}.json"

    def _used(self) -> int:
        if self._size is None:
            self._size = sum(file.stat().st_size for file in self._folder.glob("*.json"))
        return self._size
