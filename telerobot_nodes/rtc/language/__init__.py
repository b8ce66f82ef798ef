"""The command language: grammar, tree, parser, printer, vocabulary, units [JPL-RTC]."""

from __future__ import annotations

from telerobot_nodes.rtc.language.check import check, check_amount
from telerobot_nodes.rtc.language.completion import complete
from telerobot_nodes.rtc.language.errors import CommandError, did_you_mean
from telerobot_nodes.rtc.language.grammar import GRAMMAR_FILE, grammar, is_reserved, words
from telerobot_nodes.rtc.language.macros import expand_macro
from telerobot_nodes.rtc.language.parser import decode, parse, refuse_too_long
from telerobot_nodes.rtc.language.printer import print_action, print_condition, print_statement
from telerobot_nodes.rtc.language.reference import entries, explain
from telerobot_nodes.rtc.language.rule_tables import TASK_VERBS
from telerobot_nodes.rtc.language.syntax import (
    Accept,
    Action,
    Both,
    Comparison,
    Condition,
    Control,
    Define,
    Direction,
    Either,
    Event,
    Guarded,
    Maintain,
    Name,
    Negation,
    Place,
    Quantity,
    Query,
    Reflex,
    Run,
    Setting,
    Shared,
    Statement,
    Task,
    TaskResult,
    Trial,
    Until,
    ViaOperator,
    ViaPlaces,
    With,
)
from telerobot_nodes.rtc.language.units import GRAVITY, UNITS
from telerobot_nodes.rtc.language.verbs import Slots, Verb
from telerobot_nodes.rtc.language.vocabulary import KINDS, Vocabulary

__all__ = [
    "GRAMMAR_FILE",
    "GRAVITY",
    "KINDS",
    "TASK_VERBS",
    "UNITS",
    "Accept",
    "Action",
    "Both",
    "CommandError",
    "Comparison",
    "Condition",
    "Control",
    "Define",
    "Direction",
    "Either",
    "Event",
    "Guarded",
    "Maintain",
    "Name",
    "Negation",
    "Place",
    "Quantity",
    "Query",
    "Reflex",
    "Run",
    "Setting",
    "Shared",
    "Slots",
    "Statement",
    "Task",
    "TaskResult",
    "Trial",
    "Until",
    "Verb",
    "ViaOperator",
    "ViaPlaces",
    "Vocabulary",
    "With",
    "check",
    "check_amount",
    "complete",
    "decode",
    "did_you_mean",
    "entries",
    "expand_macro",
    "explain",
    "grammar",
    "is_reserved",
    "parse",
    "print_action",
    "print_condition",
    "print_statement",
    "refuse_too_long",
    "words",
]
