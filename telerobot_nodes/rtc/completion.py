"""Completion at a cursor: the words of the grammar and the names of the workcell that fit there [JPL-RTC]."""

from __future__ import annotations

from lark import Token
from lark.exceptions import LarkError

from telerobot_nodes.rtc.grammar import grammar, words
from telerobot_nodes.rtc.problems import CommandError
from telerobot_nodes.rtc.vocabulary import PERFORMER_KINDS, PLACE_KINDS, TARGET_KINDS, Vocabulary

_BREAKS = " \t\n;,(){}=<>"
# What a name is after these words; other names are places or objects.
_KINDS_AFTER: dict[str, tuple[str, ...]] = {
    "with": PERFORMER_KINDS,
    "frame": PLACE_KINDS,
    "tool": ("tools",),
    "signal": ("signals",),
    "avoid-task-region": ("regions",),
    "safe-work-range": ("regions",),
    "halt": ("arms",),
    **TARGET_KINDS,
}


def complete(text: str, cursor: int, vocabulary: Vocabulary) -> tuple[str, ...]:
    """Words that may stand at `cursor`, the part before it already typed; empty when the text before is wrong."""
    before = text[: max(0, min(cursor, len(text)))]
    start = len(before)
    while start > 0 and before[start - 1] not in _BREAKS:
        start -= 1
    typed = before[start:].lower().replace("_", "-")
    accepted, previous = _accepted(before[:start])
    names = _names(previous, vocabulary) if "NAME" in accepted else frozenset()
    keywords = {words()[name] for name in accepted if words()[name][0].isalpha() and " " not in words()[name]}
    return tuple(
        sorted(word for word in keywords if word.startswith(typed))
        + sorted(name for name in names if name.lower().replace("_", "-").startswith(typed))
    )


def _accepted(before: str) -> tuple[set[str], list[Token]]:
    """Terminals that may follow, and the tokens before; nothing may follow what is wrong."""
    cursor = grammar().parse_interactive(before)
    try:
        tokens = list(cursor.iter_parse())
    except (LarkError, CommandError):
        return set(), []
    return cursor.accepts(), tokens  # type: ignore[no-untyped-call]


def _names(previous: list[Token], vocabulary: Vocabulary) -> frozenset[str]:
    word = str(previous[-1]).lower().replace("_", "-") if previous else ""
    if word == "and":  # `with left_arm and ...`
        word = next((str(t).lower() for t in reversed(previous) if t.type in ("WITH", "UNLESS", "UNTIL")), word)
    return vocabulary.of(*_KINDS_AFTER.get(word, PLACE_KINDS))
