"""What the user has allowed for good, by directory: `grants.json` in our folder.

A file that cannot be read grants nothing and is named in `warning`; it is kept aside before it is written over.
"""

import json
from pathlib import Path

from pydantic import ValidationError

from milk_tui.core.errors import StoreError
from milk_tui.core.permission import Scope
from milk_tui.storage.files import make_folder, replace_text


class GrantFile:
    """The grants of one directory."""

    def __init__(self, home: Path, cwd: str) -> None:
        self._path = home / "grants.json"
        self._cwd = cwd
        self.warning = ""

    def read(self) -> list[Scope]:
        """The directory's grants, oldest first."""
        entries = self._all().get(self._cwd, [])
        found: list[Scope] = []
        for entry in entries if isinstance(entries, list) else []:
            try:
                found.append(Scope.model_validate(entry))
            except ValidationError:
                self.warning = f"A grant in {self._path} is damaged and does not count."
        return found

    def write(self, scopes: list[Scope]) -> None:
        """Make these the directory's grants. Raises `StoreError`."""
        everything = self._all()
        if self.warning:
            self._keep_aside()
        everything[self._cwd] = [scope.model_dump() for scope in scopes]
        if not scopes:
            del everything[self._cwd]
        try:
            make_folder(self._path.parent)
            replace_text(self._path, json.dumps(everything, indent=2, ensure_ascii=True) + "\n")
        except OSError as error:
            raise StoreError(
                f"{self._path} cannot be written: {error.strerror or error}.",
                "The grant holds until you quit.",
            ) from error

    def _all(self) -> dict[str, object]:
        self.warning = ""
        try:
            value = json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            self.warning = f"{self._path} cannot be read, so nothing in it is granted: {error}."
            return {}
        if not isinstance(value, dict):
            self.warning = f"{self._path} does not hold a JSON object, so nothing in it is granted."
            return {}
        return value

    def _keep_aside(self) -> None:
        if self._path.is_file():
            self._path.replace(self._path.with_name("grants.json.damaged"))
