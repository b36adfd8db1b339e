"""The need: guessed from the user's own words where nobody says it, and remembered when it changes.

Guessing is a few fixed rules: no model, no clock, the same words give the same guess. Who may set the need and when is
decided by `Session`.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Literal

from milk_tui.core.budget import NEED_LIMIT
from milk_tui.core.cut import one_line
from milk_tui.core.messages import Value

NeedBy = Literal["", "user", "local", "claude", "inferred"]
"""Who said the need. An inferred one was said by nobody: it is guessed from the user's prompts."""

STALE_AFTER = 4
"""A need older than so many turns may be done already; it is marked, not dropped."""
NEEDS_KEPT = 12
"""How many needs are remembered."""

_LOOKED_AT = 4_000
"""Characters of a prompt that are looked at; what follows is a pasted text."""
_SHORT = 5
"""A sentence of at most so many words that begins as a follow-up is one."""
_SHORT_QUESTION = 3
_DENSE_LEAST = 4
"""Characters of a request in a script that puts no spaces between words."""

_ANSWERS = """
yes yep yeah no nope ja nein doch oui si non sí да нет так ні sim não tak nie evet hayır はい いいえ 是 不
"""
_FILLERS = """
ok okay okey k sure please pls thanks thank you thx great good nice fine cool perfect right exactly correct
hi hello hey there hm hmm go on ahead continue proceed next more again do it that so this one the try retry
stop wait
danke bitte gut genau weiter mach nochmal hallo super
merci continuez vas y allez bonjour salut parfait encore d'accord
gracias vale sigue adelante hola otra vez continúa perfecto por favor
grazie continua avanti ciao ancora bene obrigado obrigada olá
спасибо дальше продолжай хорошо ладно ещё привет пожалуйста
谢谢 继续 好的 好 你好 ありがとう 続けて お願いします 네 감사합니다 계속
"""
_JOINERS = """
and but or also so then und aber oder auch dann et mais ou aussi y pero o también e ma anche mas também
а и но или тоже
"""
_ANSWER_WORDS = frozenset(_ANSWERS.split())
_JOINING_WORDS = frozenset(_JOINERS.split())
_EMPTY_WORDS = frozenset(_FILLERS.split()) | _ANSWER_WORDS | _JOINING_WORDS
_ABOUTS = ("what about", "how about", "was ist mit", "et pour", "y qué", "e per", "а что")

_FENCED = re.compile(r"^(```|~~~).*?(^\1|\Z)", re.MULTILINE | re.DOTALL)
_QUOTED = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
# A full stop before a small letter belongs to an abbreviation, one inside a word to a name such as `a.py`.
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"')\]]*\s+(?![a-z])|(?<=[。！？])|\n+")
_WORD = re.compile(r"[^\W_][\w'’-]*")
_DENSE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_MARKS = " \t#*•-–>"


class PastNeed(Value):
    """A need, who said it, and the turn in which it began."""

    text: str
    by: NeedBy = ""
    turn: int = 0


def guessed(prompt: str) -> str:
    """The first sentence of a prompt that asks for something; empty if all of it only follows up."""
    sentences = list(_sentences(prompt))
    if sentences and _is_answer(sentences[0]):
        return ""
    return next((one_line(text, NEED_LIMIT) for text in sentences if not _is_follow_up(text)), "")


def last_request(prompts: Iterable[tuple[int, str]]) -> PastNeed | None:
    """The need behind the newest prompt that is no follow-up. Prompts come newest first, with their turns."""
    for turn, prompt in prompts:
        text = guessed(prompt)
        if text:
            return PastNeed(text=text, by="inferred", turn=turn)
    return None


def remembered(needs: tuple[PastNeed, ...], need: PastNeed) -> tuple[PastNeed, ...]:
    """The needs with one more. The same words again are no other need; in one turn the last word counts."""
    if not need.text or (needs and needs[-1].text == need.text):
        return needs
    last = needs[-1] if needs else None
    is_replaced = last is not None and last.turn == need.turn and last.by in ("inferred", need.by)
    return (*(needs[:-1] if is_replaced else needs), need)[-NEEDS_KEPT:]


def is_another(before: str, now: str) -> bool:
    """Whether two needs have less than half of their words in common: other words for one need are not another."""
    old, new = set(_words(before)), set(_words(now))
    return 2 * len(old & new) < len(old | new)


def _sentences(prompt: str) -> Iterator[str]:
    text = _QUOTED.sub("", _FENCED.sub("", prompt[:_LOOKED_AT]))
    for piece in _SENTENCE_END.split(text):
        sentence = piece.strip(_MARKS).strip()
        if sentence:
            yield sentence


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _is_answer(sentence: str) -> bool:
    """Whether it answers what an agent asked: it is, or begins with, a yes or no of its own."""
    head = re.split(r"[,.!;:。，！、]", sentence, maxsplit=1)[0]
    return head.strip().casefold() in _ANSWER_WORDS


def _is_follow_up(sentence: str) -> bool:
    words = _words(sentence)
    if _DENSE.search(sentence):
        letters = sum(map(len, words))
        return letters < _DENSE_LEAST or all(word in _EMPTY_WORDS for word in words)
    if len(words) < 2 or all(word in _EMPTY_WORDS for word in words):
        return True
    if sentence.endswith("?") and len(words) <= _SHORT_QUESTION:
        return True
    opens = words[0] in _JOINING_WORDS or " ".join(words).startswith(_ABOUTS)
    return opens and len(words) <= _SHORT
