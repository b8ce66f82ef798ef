"""Command parser: text to typed statements, or an error at the right word [JPL-RTC section 5, Command Parser].

Memoryless; the same text always gives the same tree. What the words refer to is checked in `check.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from lark import Token
from lark.exceptions import UnexpectedCharacters, UnexpectedToken

from telerobot_nodes.rtc.grammar import grammar, reserved_words, words
from telerobot_nodes.rtc.problems import CommandError, did_you_mean
from telerobot_nodes.rtc.syntax import Position, Statement
from telerobot_nodes.rtc.units import UNITS

MAX_BYTES = 100_000  # of one message

# Halts are parsed at start-up by the same grammar, so that they never wait for a parser.
_URGENT = ("halt", "halt all", "pause", "pause all", "resume", "reset")

_SYNONYMS = {
    "stop": "halt",
    "abort": "halt",
    "emergency": "halt",
    "estop": "halt",
    "kill": "halt",
    "go": "move",
    "goto": "move",
    "grab": "grasp",
    "take": "grasp",
    "drop": "release",
    "rotate": "turn",
    "screw": "turn",
    "carry": "pick ... and place ...",
    "put": "place",
    "find": "locate",
    "see": "look at",
    "undo": "cancel",
    "simulate": "try",
    "list": "show",
    "where's": "where",
}
_OF_THE_TASK = frozenset(["AT", "BY", "TO", "INTO", "FROM", "TOWARD", "ALONG", "ON"])  # before its clauses
_CONSTRAINTS = frozenset(
    [
        "UPRIGHT",
        "_SAFE_WORK_RANGE",
        "_AVOID_TASK_REGION",
        "_AVOID_NEIGHBORS",
        "_POSE_DURING_MOTION",
    ]
)


def parse(text: str | bytes) -> tuple[Statement, ...]:
    """The statements of a message; raises CommandError naming line, column, what was expected, and a hint."""
    source = decode(text)
    urgent = _urgent().get(source)
    return urgent if urgent is not None else _parse(source)


def parse_one(text: str | bytes) -> Statement:
    """The single statement of a message; raises CommandError also when there are several."""
    statements = parse(text)
    if len(statements) != 1:
        raise CommandError("one command at a time here", statements[1].at, decode(text))
    return statements[0]


def decode(text: str | bytes) -> str:
    """The text of a message; raises CommandError over 100 kB or where it is not UTF-8."""
    refuse_too_long(text)
    if isinstance(text, str):
        return text
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        before = text[: error.start].decode("utf-8")
        at = position_at(before, len(before))
        raise CommandError(f"byte {text[error.start]:#04x} is not UTF-8", at) from None


def refuse_too_long(text: str | bytes) -> None:
    """Raise CommandError, without looking at it, for a message over 100 kB."""
    if len(text) > MAX_BYTES:
        raise CommandError(f"the message has {len(text)} bytes; at most {MAX_BYTES} are read")


def position_at(source: str, offset: int) -> Position:
    """Line and column of an offset."""
    line_start = source.rfind("\n", 0, offset) + 1
    return Position(source.count("\n", 0, offset) + 1, offset - line_start + 1, offset, offset + 1)


@lru_cache(maxsize=1)
def _urgent() -> dict[str, tuple[Statement, ...]]:
    return {text: _parse(text) for text in _URGENT}


def _parse(source: str) -> tuple[Statement, ...]:
    try:
        return grammar().parse(source)  # type: ignore[return-value]
    except CommandError as error:
        raise error.with_source(source) from None
    except UnexpectedCharacters as error:
        raise _bad_character(source, error) from None
    except UnexpectedToken as error:
        raise _bad_token(source, error) from None


def _bad_character(source: str, error: UnexpectedCharacters) -> CommandError:
    at = position_at(source, error.pos_in_stream)
    char = source[error.pos_in_stream]
    if char.isdigit() or char in "+.":
        end = error.pos_in_stream
        while end < len(source) and not source[end].isspace() and source[end] not in ";,(){}":
            end += 1
        word = source[error.pos_in_stream : end]
        units = ", ".join(unit for unit in UNITS if unit)
        return CommandError(f"{word[:40]!r} is not a number with a unit", at._replace(end=end), source, (), units)
    hints = {'"': "the text has no closing quote", "'": "the name has no closing quote"}
    return CommandError(f"the character {char!r} has no meaning here", at, source, (), hints.get(char, ""))


def _bad_token(source: str, error: UnexpectedToken) -> CommandError:
    token: Token = error.token  # type: ignore[attr-defined]
    accepted = error.interactive_parser.accepts()  # type: ignore[no-untyped-call]
    expected = expected_words(accepted)
    if token.type == "$END":
        if not source.strip():
            return CommandError("the command is empty", position_at(source, 0), source, expected)
        end = len(source.rstrip())
        return CommandError("the command ends too early", position_at(source, end), source, expected)
    at = Position(token.line, token.column, token.start_pos, token.end_pos)
    hint = _unit_hint(source, token) or _hint(token, accepted)
    return CommandError(f"{str(token)!r} cannot stand here", at, source, expected, hint)


def expected_words(accepted: Iterable[str]) -> tuple[str, ...]:
    """Terminals in the words people type: keywords in alphabetical order, then classes such as `a name`."""
    known = words()
    shown = {known[name] for name in accepted}
    return tuple(sorted(shown, key=lambda word: (" " in word, word)))


def _unit_hint(source: str, token: Token) -> str:
    before = source[: token.start_pos].rstrip()
    after_number = token.type == "NAME" and before[-1:].isdigit() and before.split()[-1].lstrip("+-(=")[:1].isdigit()
    return f"units: {', '.join(unit for unit in UNITS if unit)}" if after_number else ""


def _clause_hint(terminal: str, word: str) -> str:
    """Where a clause may stand and this word may not."""
    if terminal in _CONSTRAINTS:
        return f"constraints follow 'maintain': maintain {word} ..."
    if terminal in _OF_THE_TASK:
        return f"'{word} ...' stands before the clauses, which begin with: with, maintain, guarded, unless ..."
    return ""


def _hint(token: Token, accepted: set[str]) -> str:
    word = str(token).lower()
    known = words()
    if word == "operator" and "_OPERATOR_INTERVENTION" in accepted:
        return "the operator does it: via operator-intervention"
    keywords = [known[name] for name in accepted if known[name][0].isalpha() and " " not in known[name]]
    if word in _SYNONYMS and _SYNONYMS[word].split()[0] in keywords:
        return f"the word here is {_SYNONYMS[word]!r}"
    if "MAINTAIN" in accepted and (hint := _clause_hint(token.type, word)):
        return hint
    if word.replace("_", "-") in reserved_words() and "NAME" in accepted:
        return f"{word!r} is a reserved word; in single quotes it is a name"
    if token.type in ("NAME", "QUOTED") and "QUANTITY" in accepted:
        return "a number stands here, for example 0.05 or 20 N"
    return did_you_mean(word, keywords)
