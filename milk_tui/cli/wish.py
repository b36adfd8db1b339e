"""What the command line says, before anything is opened."""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from milk_tui.storage.config import Settings


@dataclass(frozen=True)
class Wish:
    """What the command line says about settings and session."""

    url: str | None = None
    model: str | None = None
    home: str | None = None
    last: bool = False
    """Go on with this directory's last session."""
    session: str = ""
    """The beginning of the id of another session."""

    def settings(self) -> "Settings":
        """The settings that hold. Raises `ConfigError`."""
        from milk_tui.storage import config

        return config.load(config.home(self.home), {"url": self.url, "model": self.model})


def here() -> str:
    """The directory the program was started in. Raises `MilkError` when it is gone."""
    from milk_tui.core.errors import MilkError

    try:
        return os.getcwd()  # noqa: PTH109 - as typed
    except OSError as error:
        raise MilkError(
            "The directory you are in does not exist any more.", "Change to another one."
        ) from error
