"""What looks like a secret in a text: keys, tokens, passwords, private keys, e-mail addresses, and homes' names.

It is a hint. It knows the shapes that are published or common and nothing else, so it finds less than there may be
and sometimes more. Every rule looks at each character a bounded number of times, whatever the text is.
"""

import re
from collections.abc import Iterator
from itertools import chain

from milk_tui.core.messages import Value

_KEY = re.compile(
    r"(?<![A-Za-z0-9_-])(?:"
    r"sk-(?:ant|proj|svcacct|or)-[A-Za-z0-9_-]{16,300}"
    r"|sk-[A-Za-z0-9]{32,100}"
    r"|[sr]k_(?:live|test)_[A-Za-z0-9]{16,200}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}"
    r"|gh[pousr]_[A-Za-z0-9]{30,255}"
    r"|github_pat_[A-Za-z0-9_]{30,255}"
    r"|glpat-[A-Za-z0-9_-]{20,100}"
    r"|xox[abeprs]-[A-Za-z0-9-]{10,250}"
    r"|AIza[A-Za-z0-9_-]{35}"
    r"|hf_[A-Za-z0-9]{30,60}"
    r"|npm_[A-Za-z0-9]{36}"
    r"|pypi-[A-Za-z0-9_-]{50,250}"
    r")(?![A-Za-z0-9])"
)
_TOKEN = re.compile(
    r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,1000}"
)
_BEARER = re.compile(r"\b[Bb]earer[ \t]{1,3}(?=[A-Za-z._~+/-]{0,60}\d)([A-Za-z0-9._~+/-]{16,2000}={0,2})")
_PRIVATE_KEY = re.compile(
    # Cut short, as a summary may cut it, it is still one to the end of what is there.
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----((?:[A-Za-z0-9+/=\s:,.\\]|-(?!-))*+)"
    r"(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?"
)
_NAMED = re.compile(
    r"(?i:pass(?:word|wd|phrase)|secret(?:[_-]?(?:access[_-]?)?key)?|api[_-]?key|access[_-]?token|auth[_-]?token"
    r"|client[_-]?secret|private[_-]?token)"
    r"[\"']?[ \t]{0,4}(?::=|=|:)[ \t]{0,4}"
    r"(?:\"([^\"\s]{8,200})\"|'([^'\s]{8,200})'|([^\s\"'`,;(){}\[\]<>$]{8,200})(?![\w(\[.]))"
)
_IN_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@\"'<>]{0,80}:([^\s:/@\"'<>{}$]{3,200})@")
_EMAIL = re.compile(
    r"(?<![A-Za-z0-9._%+:/-])[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@"
    r"((?:[A-Za-z0-9][A-Za-z0-9-]{0,62}\.){1,6}[A-Za-z]{2,24})(?![A-Za-z0-9_@-]|\.[A-Za-z0-9]|:[\w~])"
)
_HOME = re.compile(
    r"(?<![A-Za-z0-9_.$-])(?:/home/|/Users/|[A-Za-z]:(?:\\\\?|/)Users(?:\\\\?|/))(?!Shared\b|Public\b)"
    r"[A-Za-z0-9_][A-Za-z0-9._-]{0,40}(?=[\\/:\s\"'`,;)\]}>]|$)"
)
_NOBODYS = re.compile(r"(?i)(?:^|\.)(?:example(?:\.(?:com|org|net))?|test|invalid|localhost|local)$")
_PLACEHOLDER = re.compile(
    r"(?i)^(?:[x*.•_-]+|(?:your|my|the|some|insert|enter|change|example|dummy)[\w-]*|\[masked.*"
    r"|pass(?:word|wd)?|pwd|secret|token)$"
)
_LEAST_KEY = 16
"""Characters behind the opening line of a private key that make it more than a mention."""
_WORDS_ONLY = re.compile(r"^[A-Za-z_.-]+$")


class Found(Value):
    """A place that looks like a secret."""

    start: int
    end: int
    kind: str
    """What it looks like, in words: `api key`, `e-mail address`."""


def found(text: str) -> list[Found]:
    """The places in a text that look like secrets, in order; none overlaps another."""
    kept: list[Found] = []
    for place in sorted(chain(_whole(text), _values(text)), key=lambda each: (each.start, -each.end)):
        if not kept or place.start >= kept[-1].end:
            kept.append(place)
    return kept


def looks(count: int) -> str:
    """How many things look like secrets, in words."""
    return "1 thing looks like a secret" if count == 1 else f"{count:,} things look like secrets"


def masked(text: str) -> str:
    """The text with `[masked: kind]` in the place of each. Masking twice is masking once."""
    pieces: list[str] = []
    position = 0
    for place in found(text):
        pieces += (text[position : place.start], f"[masked: {place.kind}]")
        position = place.end
    return "".join((*pieces, text[position:]))


def _whole(text: str) -> Iterator[Found]:
    """What is a secret by its own shape."""
    for match in _PRIVATE_KEY.finditer(text):
        if len(match[1].strip()) >= _LEAST_KEY:
            yield Found(start=match.start(), end=match.end(), kind="private key")
    for kind, pattern in (("api key", _KEY), ("token", _TOKEN), ("home path", _HOME)):
        for match in pattern.finditer(text):
            yield Found(start=match.start(), end=match.end(), kind=kind)
    for match in _EMAIL.finditer(text):
        # `git@` is how a repository is addressed, and says nothing about anybody.
        if not _NOBODYS.search(match[1]) and not match[0].startswith("git@"):
            yield Found(start=match.start(), end=match.end(), kind="e-mail address")


def _values(text: str) -> Iterator[Found]:
    """What is a secret by what stands in front of it."""
    for match in _NAMED.finditer(text):
        group = match.lastindex or 0
        # Without quotation marks it may be code: a word is a name of something, a secret has a digit or a sign.
        is_name = group == 3 and bool(_WORDS_ONLY.match(match[group]))
        if not is_name and not _PLACEHOLDER.match(match[group]):
            yield Found(start=match.start(group), end=match.end(group), kind="password")
    for kind, pattern in (("token", _BEARER), ("password", _IN_ADDRESS)):
        for match in pattern.finditer(text):
            if not _PLACEHOLDER.match(match[1]):
                yield Found(start=match.start(1), end=match.end(1), kind=kind)
