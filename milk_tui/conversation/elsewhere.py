"""A hand-off to any other agent: the same text that Claude would get, in a file."""

from pathlib import Path

from milk_tui.core.errors import MilkError
from milk_tui.storage.files import replace_text, write_new


def saved(text: str, name: str, cwd: str, *, may_replace: bool = False) -> Path:
    """Save a hand-off in a file that only its owner may read; where it is.

    Args:
        text: What is handed over.
        name: The file, as the user wrote it: relative to `cwd`, or with `~`.
        cwd: The session's directory.
        may_replace: The user has said that a file which is there may go.

    Raises:
        MilkError: it cannot be saved; a file that is there stays as it is.
    """
    try:
        path = Path(cwd, Path(name).expanduser())
        if may_replace:
            replace_text(path, text)
        else:
            write_new(path, text)
    except FileExistsError as error:
        raise MilkError(f"There is a file {path} already.", f"`/handoff! {name}` replaces it.") from error
    except (OSError, ValueError, RuntimeError) as error:
        why = (error.strerror if isinstance(error, OSError) else "") or error
        raise MilkError(f"The hand-off cannot be saved in {name}: {why}.", "Name another file.") from error
    return path
