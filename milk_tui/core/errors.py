"""The family of errors, and the value a failed turn carries.

    MilkError                 anything the user should read as a sentence
    ├── ConfigError           a setting or a settings file cannot be used
    ├── StoreError            a session cannot be read, written or locked
    ├── ModelError            the embedded model is missing, damaged or cannot start
    └── ServerError           a model server did not answer as a model server does

An error is written for the person who reads it: what failed and where, what was kept, one thing to do.
Only the user interface decides how it is shown.
"""

from dataclasses import dataclass
from typing import Literal

FailureKind = Literal[
    "unreachable",  # nothing answers at the address
    "loading",  # the server is there and its model is not
    "context_full",  # more was sent than the model can read
    "rate_limited",
    "refused",  # login, key or permission
    "lost",  # the stream ended before the answer did
    "silent",  # nothing came for too long
    "server",  # the server says it failed
    "protocol",  # the answer is not what such a server sends
    "missing",  # the program or the model is not on this machine
    "died",  # the process behind the agent is gone
    "spent",  # the money that was allowed for it is used up
    "unknown_session",  # the id to resume is not known any more
    "bug",  # our own fault
]


class MilkError(Exception):
    """A sentence for the user, and one thing they can do about it."""

    def __init__(self, sentence: str, remedy: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.sentence} {self.remedy}".strip()


class ConfigError(MilkError):
    """A setting or a settings file cannot be used."""


class StoreError(MilkError):
    """A session cannot be read, written or locked."""


class ModelError(MilkError):
    """The embedded model is missing, damaged or cannot start."""


class ServerError(MilkError):
    """A model server did not answer as a model server does."""

    def __init__(self, kind: FailureKind, sentence: str, remedy: str = "") -> None:
        super().__init__(sentence, remedy)
        self.kind = kind


@dataclass(frozen=True)
class Failure:
    """Why a turn failed: stored with the turn, shown under what was answered so far.

    A plain dataclass, which a turn checks when it is read: an error must be sayable before anything heavy is loaded.
    """

    kind: FailureKind
    sentence: str
    """What failed and where, in the words of whoever refused where there are any."""
    remedy: str = ""
    """One thing to do."""

    def __str__(self) -> str:
        return f"{self.sentence} {self.remedy}".strip()
