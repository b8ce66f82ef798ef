"""Completion at a cursor: the words of the grammar and the names of the workcell that fit there [JPL-RTC]."""

from __future__ import annotations

from lark import Token
from lark.exceptions import LarkError

from telerobot_nodes.core.protocol import fold
from telerobot_nodes.rtc.language.errors import CommandError
from telerobot_nodes.rtc.language.grammar import accepted_terminals, grammar, words
from telerobot_nodes.rtc.language.printer import quoted
from telerobot_nodes.rtc.language.verbs import BEGINNINGS, Verb
from telerobot_nodes.rtc.language.vocabulary import PERFORMER_KINDS, PLACE_KINDS, Vocabulary

_BREAKS = " \t\n;,(){}=<>"
# What a name is after the first word of a statement, where TARGET_KINDS and the skill files do not define it.
_KINDS_OF: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("approach", "inspect"), PLACE_KINDS),
    **dict.fromkeys(("where", "show"), (*PLACE_KINDS, "arms")),
    **dict.fromkeys(("halt", "pause", "resume", "step", "continue", "cancel"), ("arms",)),
    **dict.fromkeys(("define", "status", "help"), ()),  # a name of the person's own
}
# What it is after these words inside a statement; other names are places or objects.
_KINDS_AFTER: dict[str, tuple[str, ...]] = {
    "with": PERFORMER_KINDS,
    "tool": ("tools",),
    "signal": ("signals",),
    "avoid-task-region": ("regions",),
    "safe-work-range": ("regions",),
    "toward": (*PLACE_KINDS, "arms"),
    "(": (*PLACE_KINDS, "arms"),
    **dict.fromkeys(("as", "accept", "or"), ()),
}
_KINDS_AFTER_BOTH = {("grasp", "at"): ("points",), ("grant", "to"): ("agents",)}


def complete(text: str, cursor: int, vocabulary: Vocabulary) -> tuple[str, ...]:
    """Words that may stand at `cursor`, the part before it already typed; empty when the text before is wrong."""
    before = text[: max(0, min(cursor, len(text)))]
    start = len(before)
    while start > 0 and before[start - 1] not in _BREAKS:
        start -= 1
    typed = before[start:].lower().replace("_", "-")
    accepted, previous = _accepted(before[:start], vocabulary.verbs)
    names = _names(previous, vocabulary) if "NAME" in accepted else frozenset()
    if "NAME" in accepted and str(previous[-1]).lower() not in ("frame", "in"):
        accepted -= {"CAMERA"}  # a name there, like any other
    known = words(vocabulary.verbs)
    keywords = {known[name] for name in accepted if known[name][0].isalpha() and " " not in known[name]}
    names = frozenset(name for name in names if name not in keywords)  # listed once, as the word that it is
    return tuple(
        sorted(word for word in keywords if word.startswith(typed))
        + sorted(quoted(name) for name in names if fold(name).replace("_", "-").startswith(typed.lstrip("'")))
    )


def _accepted(before: str, verbs: tuple[Verb, ...]) -> tuple[set[str], list[Token]]:
    """Terminals that may follow, and the tokens before; nothing may follow what is wrong."""
    cursor = grammar(verbs).parse_interactive(before)
    try:
        tokens = list(cursor.iter_parse())
    except (LarkError, CommandError):
        return set(), []
    return accepted_terminals(cursor), tokens


def _names(previous: list[Token], vocabulary: Vocabulary) -> frozenset[str]:
    begins = [number for number, token in enumerate(previous, 1) if token.type in BEGINNINGS]
    spoken = [fold(token).replace("_", "-") for token in previous[begins[-1] if begins else 0 :]]
    if not spoken:
        return frozenset()
    head, last = spoken[0], spoken[-1]
    if len(spoken) == 1 or (len(spoken) == 2 and last in ("free", "guarded")):
        return vocabulary.of(*_KINDS_OF.get(head, vocabulary.target_kinds(fold(head))))
    if last == "and":  # `with left_arm and ...`
        last = next((word for word in reversed(spoken) if word in ("with", "unless", "until")), last)
    return vocabulary.of(*_KINDS_AFTER_BOTH.get((head, last), _KINDS_AFTER.get(last, PLACE_KINDS)))
