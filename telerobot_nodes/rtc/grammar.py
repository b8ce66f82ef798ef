"""The grammar file, loaded once, and its words in a form people read [JPL-RTC]."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from lark import Lark
from lark.lexer import PatternStr

from telerobot_nodes.rtc.tree_builder import TreeBuilder

GRAMMAR_FILE = Path(__file__).with_name("commands.lark")

_CLASSES = {
    "NAME": "a name",
    "QUOTED": "a name",
    "QUANTITY": "a number",
    "STRING": 'a text in "double quotes"',
    "COMPARATOR": "> or < or >= or <=",
    "$END": "the end of the command",
}


@lru_cache(maxsize=1)
def grammar() -> Lark:
    """The LALR parser that builds the typed tree while it reduces; loading takes about 0.15 s, once."""
    return Lark(
        GRAMMAR_FILE.read_text(encoding="ascii"),
        parser="lalr",
        lexer="basic",  # type: ignore[arg-type]  # reserved words are reserved everywhere: errors stand at the right word
        maybe_placeholders=False,
        keep_all_tokens=True,
        transformer=TreeBuilder(),
    )


@lru_cache(maxsize=1)
def words() -> dict[str, str]:
    """What each terminal looks like: keywords as typed, classes in words."""
    found = dict(_CLASSES)
    for terminal in grammar().terminals:
        if terminal.name in found:
            continue
        if isinstance(terminal.pattern, PatternStr):
            found[terminal.name] = terminal.pattern.value
        else:
            found[terminal.name] = terminal.name.strip("_").lower().replace("_", "-")
    return found


@lru_cache(maxsize=1)
def reserved_words() -> frozenset[str]:
    """Words that are names only in single quotes."""
    return frozenset(word for name, word in words().items() if name not in _CLASSES and word[0].isalpha())


@lru_cache(maxsize=1)
def help_topics() -> frozenset[str]:
    """Reserved words that `help` takes without quotes."""
    rules = [rule for rule in grammar().rules if rule.origin.name == "topic"]  # type: ignore[attr-defined]
    return frozenset(words()[rule.expansion[0].name] for rule in rules if rule.expansion[0].is_term)
