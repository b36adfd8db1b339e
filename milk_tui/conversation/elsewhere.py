"""Texts for elsewhere, in files: a hand-off for any other agent, or a whole session."""

from pathlib import Path

from milk_tui.core.errors import MilkError
from milk_tui.storage.files import replace_text, write_new


def saved(
    text: str,
    name: str,
    cwd: str,
    *,
    what: str = "hand-off",
    otherwise: str = "Name another file.",
    may_replace: bool = False,
) -> Path:
    """Save a text in a file that only its owner may read; where it is.

    Args:
        text: What is saved.
        name: The file, as the user wrote it: relative to `cwd`, or with `~`.
        cwd: The session's directory.
        what: What it is called in a sentence.
        otherwise: What can be done if there is such a file.
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
        raise MilkError(f"There is a file {path} already.", otherwise) from error
    except (OSError, ValueError, RuntimeError) as error:
        why = (error.strerror if isinstance(error, OSError) else "") or error
        raise MilkError(f"The {what} cannot be saved in {name}: {why}.", "Name another file.") from error
    return path
