"""The grammar file, loaded once, and its words in a form people read [JPL-RTC]."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any

import lark
from lark import Lark
from lark.lexer import PatternStr
from lark.parsers.lalr_analysis import Shift

from telerobot_nodes._user_folders import user_cache
from telerobot_nodes.rtc.language.tree_builder import TreeBuilder
from telerobot_nodes.rtc.language.verbs import Verb, VerbLexer, rules_of, terminals_of

if lark.__version__.startswith("0."):  # the package lark-parser installs the same folder, and overwrites lark 1
    raise ImportError(f"lark {lark.__version__}: 1.1 or newer is needed: pip install --force-reinstall lark")

GRAMMAR_FILE = Path(__file__).with_name("commands.lark")

_CLASSES = {
    "NAME": "a name",
    "QUOTED": "a name",
    "QUANTITY": "a number",
    "STRING": 'a text in "double quotes"',
    "COMPARATOR": "> or < or >= or <=",
    "$END": "the end of the command",
}


def grammar(verbs: tuple[Verb, ...] = ()) -> Lark:
    """The LALR parser that builds the typed tree while it reduces, with the verbs of the skill files.

    Loading takes about 0.05 s, once for the same verbs; the first time on this host 0.4 s.
    """
    return _grammar(verbs)  # a cache of its own would take `grammar()` and `grammar(())` for two


@lru_cache(maxsize=8)
def _grammar(verbs: tuple[Verb, ...]) -> Lark:
    text = GRAMMAR_FILE.read_text(encoding="ascii") + rules_of(verbs)
    return Lark(
        text,
        parser="lalr",
        lexer="basic",  # type: ignore[arg-type]  # reserved words are reserved everywhere: errors stand at the right word
        maybe_placeholders=False,
        keep_all_tokens=True,
        transformer=TreeBuilder(),
        postlex=VerbLexer(verbs) if verbs else None,
        cache=_cache_file(text),  # type: ignore[arg-type]
    )


def _cache_file(text: str) -> str | bool:
    """Where the parser's tables are kept for the next process; False: nowhere. Lark checks that they are of `text`."""
    folder = user_cache("grammar")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False  # no home to write to
    return str(folder / hashlib.sha256(text.encode()).hexdigest()[:16])


def accepted_terminals(cursor: Any) -> set[str]:
    """Terminals that may follow at an interactive parser; lark's own `accepts` copies the values for each of them."""
    state = cursor.parser_state
    return {name for name in cursor.choices() if name.isupper() and _is_accepted(state, name)}


def _is_accepted(state: Any, terminal: str) -> bool:
    """Whether a terminal is shifted, or ends the text, after reductions of a copy of the parser's states alone."""
    stack, states, end = list(state.state_stack), state.parse_conf.parse_table.states, state.parse_conf.end_state
    while (found := states[stack[-1]].get(terminal)) is not None:
        action, rule = found
        if action is Shift:
            return True
        del stack[len(stack) - len(rule.expansion) :]
        stack.append(states[stack[-1]][rule.origin.name][1])
        if terminal == "$END" and stack[-1] == end:
            return True
    return False


@lru_cache(maxsize=8)
def words(verbs: tuple[Verb, ...] = ()) -> dict[str, str]:
    """What each terminal looks like: keywords as typed, classes in words."""
    found = dict(_CLASSES)
    for terminal in grammar(verbs).terminals:
        if terminal.name in found:
            continue
        if isinstance(terminal.pattern, PatternStr):
            found[terminal.name] = terminal.pattern.value
        else:
            found[terminal.name] = terminal.name.strip("_").lower().replace("_", "-")
    return found | terminals_of(verbs)


@lru_cache(maxsize=1)
def reserved_words() -> frozenset[str]:
    """Words that are names only in single quotes."""
    named = {*_CLASSES, "CAMERA"}  # one camera is often called so
    return frozenset(word for name, word in words().items() if name not in named and word[0].isalpha())


def is_reserved(word: str) -> bool:
    """Whether a word is a name only in single quotes."""
    return word.lower().replace("_", "-") in reserved_words()


@lru_cache(maxsize=1)
def help_topics() -> frozenset[str]:
    """Reserved words that `help` takes without quotes."""
    rules = [rule for rule in grammar().rules if rule.origin.name in ("topic", "_verb")]  # type: ignore[attr-defined]
    return frozenset(words()[rule.expansion[0].name] for rule in rules if rule.expansion[0].is_term)
