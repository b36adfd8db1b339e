"""The environment that programs started for the model get: ours without its secrets, and with nothing that waits.

Knows names and values of variables, and no programs.
"""

import re
from collections.abc import Mapping

_SECRET_NAME = re.compile(
    r"KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|APIKEY|_PWD$|_PASS$|_PAT$|_AUTH$|^ANTHROPIC_|^CLAUDE|^MILK_|COOKIE",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile(
    r"://[^/\s@]*:[^/\s@]+@|-----BEGIN [A-Z ]*PRIVATE KEY|\b(sk-|ghp_|github_pat_|xox[bp]-|AKIA)\w"
)
_STARTUP = re.compile(r"^(BASH_ENV|ENV|BASH_FUNC_.*|PROMPT_COMMAND|SHELLOPTS|BASHOPTS)$")
"""What would make a shell run something before, or other than, the command that was shown."""

_CALM = {
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "EDITOR": "true",
    "VISUAL": "true",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "true",
    "SSH_ASKPASS": "true",
    "SSH_ASKPASS_REQUIRE": "never",
    "DEBIAN_FRONTEND": "noninteractive",
    "TERM": "dumb",
    "NO_COLOR": "1",
}


def withheld(environment: Mapping[str, str]) -> list[str]:
    """The names of variables that look like secrets, sorted."""
    return sorted(
        name
        for name, value in environment.items()
        if _SECRET_NAME.search(name) or _SECRET_VALUE.search(value)
    )


def passed_on(environment: Mapping[str, str]) -> dict[str, str]:
    """What a program gets."""
    gone = set(withheld(environment))
    kept = {name: v for name, v in environment.items() if name not in gone and not _STARTUP.match(name)}
    return kept | _CALM
