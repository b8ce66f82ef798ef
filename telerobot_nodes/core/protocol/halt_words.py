"""Texts that stop the robot, recognised by their first letters, without a parser.

A person in fear types `STOP!!`, `halt please` or `e-stop`. Only letters are read: case, accents, punctuation, invisible
characters and bytes that are no text change nothing. What follows the word changes nothing either.
"""

from __future__ import annotations

import re
import unicodedata

HALT_WORDS = ("halt", "stop", "estop", "emergency", "abort")  # `e-stop` has the letters of `estop`
_LOOK = 1024  # characters in which the word must begin
_SCOPE = re.compile(r"\s*halt\s+(?:command\s+0*([1-9]\d{0,17})|([a-z_][\w-]*))\s*;?\s*", re.IGNORECASE | re.ASCII)
_BETWEEN = "[^a-z]*"
_START = re.compile(_BETWEEN + "(?:" + "|".join(map(_BETWEEN.join, HALT_WORDS)) + ")", re.IGNORECASE | re.ASCII)
_ALONE = frozenset((*HALT_WORDS, "haltall", "emergencystop"))


def begins_with_halt(text: str | bytes) -> bool:
    """Whether a text begins with a word that stops everything. Takes the same time for any length."""
    return _START.match(_plain(text)) is not None


def is_only_halt(text: str | bytes) -> bool:
    """Whether a text is such a word and nothing else but punctuation."""
    return len(text) <= _LOOK and not _SCOPE_MARK.search(_decoded(text)) and _letters(text) in _ALONE


def halt_scope(text: str | bytes) -> str | int:
    """The arm or label of `halt NAME`, the number of `halt command N`; "" for a text that stops everything."""
    found = _SCOPE.fullmatch(_decoded(text)) if len(text) <= _LOOK else None
    if found is None:
        return ""
    number, name = found.groups()
    return int(number) if number else "" if name.lower() == "all" else name


def names_arm(scope: str | int, arm: str) -> bool:
    """Whether the scope of a halt is this arm; case and hyphens aside."""
    return isinstance(scope, str) and scope != "" and fold(scope) == fold(arm)


def fold(word: str) -> str:
    """The spelling under which a word is known: small letters, no hyphens."""
    return word.lower().replace("-", "_")


_SCOPE_MARK = re.compile(r"\d")  # a digit is no punctuation: `halt 3` is not understood


def _decoded(text: str | bytes) -> str:
    return text[:_LOOK] if isinstance(text, str) else bytes(text[:_LOOK]).decode("utf-8", "ignore")


def _plain(text: str | bytes) -> str:
    """Its beginning, with accents apart from their letters."""
    start = _decoded(text)
    return start if start.isascii() else unicodedata.normalize("NFKD", start)


def _letters(text: str | bytes) -> str:
    return "".join(char for char in _plain(text) if char.isascii() and char.isalpha()).lower()
