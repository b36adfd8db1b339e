"""Which files a session is about: paths resolved, and whether reading one may go without a question.

A path is judged by where it really leads, after every symbolic link. Knows the file system, and no tools.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from milk_tui.core.text import sanitize
from milk_tui.tools.trouble import ToolError

PATH_CHARS = 4_096
"""The longest path that is looked at."""

PATH_PARTS = 200
"""The deepest."""

SECRETS = (
    ".env", ".env.*", "*.pem", "*.key", "*.p12", "*.pfx", "*.kdbx", "*.keystore", "id_rsa*", "id_ed25519*", "id_ecdsa*",
    ".netrc", ".pgpass", ".npmrc", ".pypirc", ".git-credentials", ".htpasswd", "credentials", "credentials.json",
)  # fmt: skip
"""Names of files that often hold secrets: reading one asks, and no search looks into it."""

SECRET_FOLDERS = (".ssh", ".gnupg", ".aws", ".kube", ".docker", ".password-store")
"""Names of folders of which all files count as such."""


@dataclass(frozen=True)
class Place:
    """Where a path given by the model really leads."""

    given: str
    path: Path
    """Absolute, with no symbolic link in it. Need not exist."""
    name: str
    """As the model should write it: relative to the session's directory if it is in there."""
    reason: str
    """Why it cannot be read without asking; empty if it can."""
    detour: str
    """Says that a symbolic link is on the way; empty if there is none."""


class Workspace:
    """The session's directory. Reading in there is free, unless it is so wide that everything would be."""

    def __init__(self, directory: Path, free: Sequence[Path] = ()) -> None:
        """Take the directory as it is now; `free` are further folders that may be read without asking."""
        self.directory = Path(os.path.realpath(directory))
        self._free = [Path(os.path.realpath(folder)) for folder in free]
        home = Path(os.path.realpath(Path.home()))
        self._is_wide = home.is_relative_to(self.directory)

    def place(self, given: str) -> Place:
        """Where a path leads: relative to the session's directory, `~` for the user's.

        Raises:
            ToolError: it is no path that could be shown as it is and used.
        """
        if not given or "\0" in given or len(given) > PATH_CHARS:
            raise ToolError(
                f"A path has 1 to {PATH_CHARS:,} characters and no NUL; this one has {len(given):,}."
            )
        if sanitize(given) != given or "\n" in given or "\t" in given:
            raise ToolError("The path holds control characters, which cannot be shown as they are.")
        named = self.directory / os.path.expanduser(given)  # noqa: PTH111 - no error for ~nobody
        try:
            path = Path(os.path.realpath(named))
        except RecursionError:
            raise ToolError(f"“{given}” leads through too many symbolic links.") from None
        if len(path.parts) > PATH_PARTS:
            raise ToolError(f"The path is too deep: more than {PATH_PARTS} directories.")
        if sanitize(str(path)) != str(path):
            raise ToolError(
                f"“{given}” leads to a path with control characters, which cannot be shown as it is."
            )
        detour = "" if os.path.normpath(named) == str(path) else f"“{given}” leads there."
        return Place(given, path, self.shown(path), self._reason(path), detour)

    def check(self, place: Place) -> None:
        """Refuse a place that leads elsewhere than when the question was shown."""
        if self.place(place.given).path != place.path:
            raise ToolError(
                f"{place.given} leads somewhere else than when it was asked about; nothing was done."
            )

    def shown(self, path: Path) -> str:
        """A path as results name it."""
        if not path.is_relative_to(self.directory):
            return str(path)
        return path.relative_to(self.directory).as_posix()

    def holds(self, path: Path) -> bool:
        """Whether a resolved path is in the session's directory."""
        return path.is_relative_to(self.directory)

    def _reason(self, path: Path) -> str:
        if may_be_secret(path):
            return "It may hold secrets."
        if any(path.is_relative_to(folder) for folder in self._free):
            return ""
        if not self.holds(path):
            return f"It is outside the session's directory, {self.directory}."
        if self._is_wide:
            return f"The session's directory is {self.directory}, which holds your whole home directory."
        return ""


def may_be_secret(path: Path) -> bool:
    """Whether a resolved path looks like one of a file that holds secrets."""
    folded = path.name.lower()
    if any(part.lower() in SECRET_FOLDERS for part in path.parts):
        return True
    return any(fnmatch(folded, pattern) for pattern in SECRETS)
