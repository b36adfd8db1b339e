"""The one setting that the first frame needs, read without what checks and explains all the others.

What cannot be read here is as if it were not set; `milk_tui.storage.config` says what is wrong with it.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path


def theme(chosen: str | None = None, environ: Mapping[str, str] = os.environ) -> str:
    """The name of the theme that is set; empty if none is.

    Args:
        chosen: The home folder that the command line names, if it does.
        environ: The environment.
    """
    if said := environ.get("MILK_THEME"):
        return said
    folder = Path(chosen or environ.get("MILK_HOME") or "~/.milk")
    try:
        found = json.loads((folder.expanduser() / "tui.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RuntimeError):
        return ""
    name = found.get("theme") if isinstance(found, dict) else None
    return name if isinstance(name, str) else ""
