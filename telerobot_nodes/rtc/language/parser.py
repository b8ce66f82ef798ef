"""Command parser: text to typed statements, or an error at the right word [JPL-RTC section 5, Command Parser].

Memoryless: the same text always has the same tree. `check.py` checks what the names refer to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from lark import Token
from lark.exceptions import UnexpectedCharacters, UnexpectedToken

from telerobot_nodes.rtc.language.errors import CommandError, did_you_mean
from telerobot_nodes.rtc.language.grammar import accepted_terminals, grammar, reserved_words, words
from telerobot_nodes.rtc.language.rule_tables import position
from telerobot_nodes.rtc.language.syntax import Position, Statement
from telerobot_nodes.rtc.language.units import UNITS
from telerobot_nodes.rtc.language.verbs import Verb

MAX_BYTES = 100_000  # of one message
MAX_REPAIRED = 200  # characters of a text that is tried with another word

# Halts are parsed at start-up by the same grammar, so that they never wait for a parser.
_URGENT = ("halt", "halt all", "pause", "pause all", "resume", "reset")

_WORD_FOR = {
    "halt": ("stop", "abort", "emergency", "estop", "kill"),
    "move": ("go", "goto"),
    "grasp": ("grab", "take"),
    "release": ("drop",),
    "turn": ("rotate", "screw"),
    "pick ... and place ...": ("carry",),
    "place": ("put",),
    "locate": ("find",),
    "look at": ("see",),
    "cancel": ("undo",),
    "try": ("simulate",),
    "show": ("list",),
    "where": ("where's",),
}
_SYNONYMS = {other: word for word, others in _WORD_FOR.items() for other in others}
# The words that are meant most often, where they may stand; the others follow in alphabetical order.
_LIKELY = (
    *("a name", "a number", "move", "grasp", "pick", "place", "open", "close", "turn", "halt", "status", "try", "help"),
    *("by", "for", "to", "into", "from", "on", "in", "with", "at", "against", "up", "down", "toward", "along"),
    *("speed", "until", "guarded", "unless", "maintain", "force", "timeout", "via", "accept", "retry", "as"),
)
_FILLERS = frozenset(("the", "a", "an", "is", "it", "please", "now"))
_RELATIONS = frozenset(("TO", "ON", "IN", "AT", "INTO", "FROM", "AGAINST"))
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


def parse(text: str | bytes, verbs: tuple[Verb, ...] = ()) -> tuple[Statement, ...]:
    """The statements of a message; raises CommandError naming line, column, what was expected, and a hint.

    `verbs`: those of the skill files.
    """
    source = decode(text)
    urgent = _urgent().get(source)
    return urgent if urgent is not None else _parse(source, verbs)


def parse_one(text: str | bytes, verbs: tuple[Verb, ...] = ()) -> Statement:
    """The single statement of a message; raises CommandError also when there are several."""
    statements = parse(text, verbs)
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


def _parse(source: str, verbs: tuple[Verb, ...] = ()) -> tuple[Statement, ...]:
    try:
        return grammar(verbs).parse(source)  # type: ignore[return-value]
    except CommandError as error:
        raise error.with_source(source) from None
    except UnexpectedCharacters as error:
        raise _bad_character(source, error) from None
    except UnexpectedToken as error:
        raise _bad_token(source, error, verbs) from None


def _bad_character(source: str, error: UnexpectedCharacters) -> CommandError:
    start = error.pos_in_stream or 0
    at = position_at(source, start)
    char = source[start]
    if char.isdigit() or char in "+.":
        end = start
        while end < len(source) and not source[end].isspace() and source[end] not in ";,(){}":
            end += 1
        word = source[start:end]
        units = ", ".join(unit for unit in UNITS if unit)
        return CommandError(f"{word[:40]!r} is not a number with a unit", at._replace(end=end), source, (), units)
    hints = {
        '"': "the text has no closing quote",
        "'": "the name has no closing quote",
        "\N{DEGREE SIGN}": "degrees are deg, as in 90 deg",
    }
    return CommandError(f"the character {char!r} has no meaning here", at, source, (), hints.get(char, ""))


def _bad_token(source: str, error: UnexpectedToken, verbs: tuple[Verb, ...]) -> CommandError:
    known = words(verbs)
    token: Token = error.token  # type: ignore[attr-defined]
    accepted = accepted_terminals(error.interactive_parser)
    expected = expected_words(accepted, known)
    if token.type == "$END":
        if not source.strip():
            return CommandError("the command is empty", position_at(source, 0), source, expected)
        end = len(source.rstrip())
        return CommandError("the command ends too early", position_at(source, end), source, expected)
    at = position(token)
    hint = _line_hint(source, token, accepted, verbs) or _unit_hint(source, token)
    hint = hint or _one_token(source, token, accepted, verbs) or _hint(token, accepted, known)
    return CommandError(f"{str(token)!r} cannot stand here", at, source, expected, hint)


def expected_words(accepted: Iterable[str], known: Mapping[str, str]) -> tuple[str, ...]:
    """Terminals in the words people type, the likeliest first, signs last."""
    shown = {known[name] for name in accepted}
    if "a name" in shown:
        shown.discard("camera")  # a name, here
    return tuple(sorted(shown, key=_likelihood))


def _likelihood(word: str) -> tuple[bool, int, str]:
    return not word[0].isalpha(), _LIKELY.index(word) if word in _LIKELY else len(_LIKELY), word


def _one_token(source: str, token: Token, accepted: set[str], verbs: tuple[Verb, ...]) -> str:
    """The hint that makes the whole text right: a word less, a word more, or another word in its place."""
    if len(source) > MAX_REPAIRED:
        return ""
    reading = grammar(verbs).parse_interactive(source)
    try:
        tokens = list(reading.lexer_thread.lex(reading.parser_state))  # type: ignore[no-untyped-call]
    except UnexpectedCharacters:
        return ""
    begins = position(token)
    at = next(number for number, other in enumerate(tokens) if position(other).start == begins.start)
    for number in range(max(at - 1, 0), at + 1):
        if tokens[number].lower() in _FILLERS and _is_right([*tokens[:number], *tokens[number + 1 :]], verbs):
            filler = position(tokens[number])
            return _shown(source[: filler.start], "", source[filler.end :])
    known = words(verbs)
    for terminal in sorted(accepted - {"CAMERA"}, key=lambda t: _likelihood(known[t])):
        word = known[terminal]
        if not word[0].isalpha() or " " in word:
            continue
        new = Token.new_borrow_pos(terminal, word, token)
        if _is_right([*tokens[:at], new, *tokens[at:]], verbs):
            return _shown(source[: begins.start], word, source[begins.start :])
        if terminal in _RELATIONS and _is_right([*tokens[:at], new, *tokens[at + 1 :]], verbs):
            return _shown(source[: begins.start], word, source[begins.end :])
    return ""


def _is_right(tokens: list[Token], verbs: tuple[Verb, ...]) -> bool:
    attempt = grammar(verbs).parse_interactive("")
    try:
        for token in tokens:
            attempt.feed_token(token)
        attempt.feed_eof()  # type: ignore[no-untyped-call]
    except (UnexpectedToken, CommandError):
        return False
    return True


def _shown(before: str, word: str, after: str) -> str:
    return f"{before.rstrip()} {word} {after.lstrip()}".replace("  ", " ").strip()


def _line_hint(source: str, token: Token, accepted: set[str], verbs: tuple[Verb, ...]) -> str:
    """For a command on a line of its own behind one that has no `;` at its end."""
    _, newline, before = source[: position(token).start].rpartition("\n")
    if not newline or before.strip() or "SEMICOLON" not in accepted:
        return ""
    begins = accepted_terminals(grammar(verbs).parse_interactive(""))
    return "';' separates commands, also where each has a line" if token.type in begins else ""


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


def _hint(token: Token, accepted: set[str], known: Mapping[str, str]) -> str:
    word = str(token).lower()
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
