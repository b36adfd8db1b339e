"""Where one session's tools work, and what they have seen there. Holds no rules of its own."""

from dataclasses import dataclass, field
from pathlib import Path

from milk_tui.tools.workspace import Workspace


@dataclass
class Site:
    """What the tools of one session share."""

    workspace: Workspace
    limit_chars: int
    """The most characters of one result that reach the model: a quarter of its window is a good measure."""
    allows_network: bool = False
    allows_private_hosts: bool = False
    """Whether loopback and private addresses may be fetched; they are where unprotected services listen."""
    seen: dict[Path, str] = field(default_factory=dict)
    """The digest of each file as the model last read or wrote it."""
