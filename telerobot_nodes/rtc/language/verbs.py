"""Verbs that skill files add to the language: their rules of the grammar, and how their words are recognized.

Such a verb is a word only where a statement begins, and the name of its number only behind it: everywhere else both
stay names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from lark import Token
from lark.lark import PostLex

from telerobot_nodes.core.protocol import fold
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.rtc.language.units import UNITS

TARGETS = ("objects", "places", "arms", "paths")
RELATIONS = ("to", "on", "in", "at", "into", "from", "against")
COUNT = "count"  # a kind of number: whole, from 1, without unit
KINDS = (*dict.fromkeys(unit.dimension for unit in UNITS.values() if unit.dimension), COUNT)

_WORD = re.compile(r"[a-z][a-z0-9_]*")
BEGINNINGS = frozenset(("SEMICOLON", "LBRACE", "TRY"))  # a statement begins behind them
_VERB, _NUMBER = "VERB_", "NUMBER_"


@dataclass(frozen=True)
class Slots:
    """What may follow a verb: a name of these kinds, a place after these words, a direction, numbers of these kinds."""

    object: tuple[str, ...] = ()
    place: tuple[str, ...] = ()
    direction: bool = False
    amount: tuple[str, ...] = ()  # after `by` or `for`
    amounts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # after a name of their own

    def __post_init__(self) -> None:
        for name in self.amounts:
            if not _WORD.fullmatch(name):
                raise InvalidValueError("amounts", name, "allowed: small letters, digits and _")
        for key, words, allowed in (
            ("object", self.object, TARGETS),
            ("place", self.place, RELATIONS),
            ("amount", self.amount, KINDS),
            *(("amounts", kinds, KINDS) for kinds in self.amounts.values()),
        ):
            for word in words:
                if word not in allowed:
                    raise InvalidValueError(key, word, f"allowed: {', '.join(allowed)}")


@dataclass(frozen=True)
class Verb:
    """A verb of a skill file."""

    word: str
    slots: Slots = field(default_factory=Slots, hash=False)  # the word and the rule distinguish them
    doc: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if not _WORD.fullmatch(self.word):
            raise InvalidValueError("verbs", self.word, "allowed: small letters, digits and _")


def terminals_of(verbs: Iterable[Verb]) -> dict[str, str]:
    """The terminals that verbs add to the grammar, and their words."""
    chosen = tuple(verbs)
    found = {_VERB + verb.word.upper(): verb.word for verb in chosen}
    return found | {_NUMBER + name.upper(): name for verb in chosen for name in verb.slots.amounts}


def rules_of(verbs: Iterable[Verb]) -> str:
    """Lines that extend the grammar by verbs; empty for none."""
    chosen = tuple(verbs)
    if not chosen:
        return ""
    heads = "\n     | ".join(_head(verb) for verb in chosen)
    numbers = [_numbers(verb) for verb in chosen if verb.slots.amounts]
    declared = f"%declare {' '.join(terminals_of(chosen))}\n%extend _head: skill_verb"
    return "\n".join(("", declared, f"skill_verb: {heads}", *numbers, ""))


def _head(verb: Verb) -> str:
    slots = verb.slots
    relations = " | ".join(f"relation_{word}" for word in slots.place)
    parts = (
        _VERB + verb.word.upper(),
        "name" if slots.object else "",
        "(by | for_)?" if slots.amount else "",
        "direction?" if slots.direction else "",
        f"(({relations}) place)?" if relations else "",
        f"number_{verb.word}*" if slots.amounts else "",
    )
    return " ".join(part for part in parts if part)


def _numbers(verb: Verb) -> str:
    names = (_NUMBER + name.upper() for name in verb.slots.amounts)
    return f"number_{verb.word}: " + " | ".join(f"{name} quantity -> skill_number" for name in names)


class VerbLexer(PostLex):
    """Turns the names that are verbs, and the names of their numbers, into words."""

    always_accept = ()

    def __init__(self, verbs: Iterable[Verb]) -> None:
        self._verbs = {verb.word: verb for verb in verbs}

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        """The same tokens, some of another type."""
        begins, numbers = True, frozenset[str]()
        for token in stream:
            word, kind = fold(token), ""
            if begins:
                verb = self._verbs.get(word) if token.type == "NAME" else None
                numbers = frozenset(verb.slots.amounts) if verb else frozenset()
                kind = _VERB if verb else ""
            elif token.type == "NAME" and word in numbers:
                kind = _NUMBER
            begins = token.type in BEGINNINGS
            yield Token.new_borrow_pos(kind + word.upper(), word, token) if kind else token
