# ruff: noqa: D102 - a method is documented by the `//:` comment of its rule in the grammar
"""From grammar rules to the typed tree; called by the parser while it reduces [JPL-RTC section 5, parser].

Each method takes the children of one rule, keyword tokens included (they carry the positions).
"""

from __future__ import annotations

import math
import re
from typing import Any

from lark import Token, Transformer

from telerobot_nodes.rtc.problems import CommandError
from telerobot_nodes.rtc.rule_tables import (
    OPTION_TOKENS,
    RULES,
    SUBJECTS,
    Children,
    all_of,
    keyword,
    only,
    position,
    unquote,
    whole,
)
from telerobot_nodes.rtc.syntax import (
    Accept,
    Action,
    Both,
    Comparison,
    Condition,
    Constraint,
    Control,
    Define,
    Direction,
    Either,
    Event,
    Guarded,
    Maintain,
    Measure,
    Name,
    Negation,
    Place,
    Quantity,
    Query,
    Reflex,
    Run,
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

MAX_TERMS = 64  # of one condition
MAX_DEPTH = 100  # of nested conditions

_QUANTITY = re.compile(r"([+-]?[\d.]+(?:[eE][+-]?\d+)?)[ \t]*(\S*)")


def _depth(term: Condition) -> int:
    if isinstance(term, Negation):
        return 1 + _depth(term.term)
    if isinstance(term, (Both, Either)):
        return 1 + max(_depth(child) for child in term.terms)
    return 0


class TreeBuilder(Transformer):  # type: ignore[type-arg]
    """One method per rule of `commands.lark`; raises CommandError for numbers no command can mean."""

    def start(self, c: Children) -> tuple[Statement, ...]:
        return tuple(child for child in c if not isinstance(child, Token))

    def task(self, c: Children) -> Task:
        verb, at, slots = c[0]
        values: dict[str, Any] = {}
        for child in slots:
            kind = type(child)
            if kind is Name:
                values["target"] = child
            elif kind is Token:
                if child.type in OPTION_TOKENS:
                    values["option"] = keyword(child)
            elif kind is tuple:
                values[child[0]] = child[1]
            elif kind is Place and "place" in values:  # inspect a place from another
                values["source"] = child
                del values["relation"]
            else:
                values[_SLOT_OF[kind]] = child
        return Task(verb, clauses=tuple(c[1:]), at=at, **values)

    # slots
    def name(self, c: Children) -> Name:
        token = c[0]
        text = str(token)
        return Name(text[1:-1] if token.type == "QUOTED" else text, position(token))

    def frame_name(self, c: Children) -> Name:
        return c[0] if isinstance(c[0], Name) else Name(keyword(c[0]), position(c[0]))

    def quantity(self, c: Children) -> Quantity:
        token = c[0]
        digits, unit = _QUANTITY.fullmatch(token).groups()  # type: ignore[union-attr]
        number = float(digits)
        if not math.isfinite(number):
            raise CommandError("the number is too large", position(token))
        return Quantity(number, unit, position(token))

    def axis(self, c: Children) -> str:
        return str(c[0]).lower()

    def axes(self, c: Children) -> tuple[str, Any]:
        return "axes", tuple(child for child in c if type(child) is str)

    def point(self, c: Children) -> tuple[str, Any]:
        return "point", c[1]

    def by(self, c: Children) -> Quantity:
        return c[1]  # type: ignore[no-any-return]

    for_ = standoff = by

    def relation(self, c: Children) -> tuple[str, Any]:
        return "relation", str(c[0]).lower()

    relation_to = relation_into = relation_from = relation_in = relation_on = relation_at = relation
    relation_against = relation

    def toward(self, c: Children) -> Direction:
        return Direction("toward", name=c[1])

    def along(self, c: Children) -> Direction:
        return Direction("along", word=c[-1], sign=-1 if len(c) == 3 else 1)

    def heading(self, c: Children) -> Direction:
        return Direction("heading", word=str(c[0]).lower())

    def named_place(self, c: Children) -> Place:
        return Place("named", c[0], at=c[0].at)

    def neighborhood(self, c: Children) -> Place:
        return Place("neighborhood", c[1], at=position(c[0]))

    def grasp_point(self, c: Children) -> Place:
        return Place("grasp_point", c[1], at=position(c[0]))

    def above(self, c: Children) -> Place:
        return Place("above", c[1], only(c, Quantity), at=position(c[0]))

    def home(self, c: Children) -> Place:
        return Place("home", at=position(c[0]))

    def literal_pose(self, c: Children) -> Place:
        numbers = all_of(c, Quantity)
        if len(numbers) not in (3, 7):
            raise CommandError(f"a pose has 3 or 7 numbers, not {len(numbers)}", position(c[0]))
        return Place("pose", only(c, Name), numbers=numbers, at=position(c[0]))

    def joints(self, c: Children) -> Place:
        return Place("joints", numbers=all_of(c, Quantity), at=position(c[0]))

    # clauses
    def with_(self, c: Children) -> With:
        return With(all_of(c, Name), position(c[0]))

    def via_operator(self, c: Children) -> ViaOperator:
        return ViaOperator(position(c[0]))

    def via_places(self, c: Children) -> ViaPlaces:
        return ViaPlaces(all_of(c, Place), position(c[0]))

    def maintain(self, c: Children) -> Maintain:
        return Maintain(all_of(c, Constraint), position(c[0]))

    def limited(self, c: Children) -> Maintain:
        limit = all_of(c, Constraint)
        return Maintain(limit, limit[0].at)

    def guarded(self, c: Children) -> Guarded:
        return Guarded(position(c[0]))

    def reflex(self, c: Children) -> Reflex:
        return Reflex(c[1], c[3], position(c[0]))

    def until(self, c: Children) -> Until:
        return Until(c[1], position(c[0]))

    def result(self, c: Children) -> tuple[str, Any]:
        return "result", c[0].text if isinstance(c[0], Name) else keyword(c[0])

    def accept(self, c: Children) -> Accept:
        return Accept(tuple(child[1] for child in c if type(child) is tuple), position(c[0]))

    def operator_axes(self, c: Children) -> tuple[str, Any]:
        return "axes", tuple(c)

    program_axes = operator_axes

    def shared(self, c: Children) -> Shared:
        operator, program = (child[1] for child in c if type(child) is tuple)
        return Shared(operator, program, position(c[0]))

    # conditions
    def measure(self, c: Children) -> Measure:
        axis = next((child for child in c if type(child) is str), "")
        return Measure(keyword(c[0]), axis, only(c, Name), position(c[0]))

    def comparison(self, c: Children) -> Comparison:
        return Comparison(c[0], str(c[1]), c[2])

    def event(self, c: Children) -> Event:
        return Event(keyword(c[0]), only(c, Name))

    def negation(self, c: Children) -> Negation:
        return _bounded(Negation(c[1]), c[0])  # type: ignore[return-value]

    def atom(self, c: Children) -> Condition:
        return c[1]  # type: ignore[no-any-return]

    def both(self, c: Children) -> Condition:
        return _bounded(Both(_terms(c, Both)), c[1])

    def either(self, c: Children) -> Condition:
        return _bounded(Either(_terms(c, Either)), c[1])

    def action(self, c: Children) -> Action:
        return Action(keyword(c[0]), only(c, Quantity))

    # words to the decision unit
    def command_number(self, c: Children) -> tuple[str, Any]:
        return "command", whole(c[1], "a command's number")

    def all_(self, c: Children) -> tuple[str, Any]:
        return "everything", True

    def parameters(self, c: Children) -> tuple[str, Any]:
        return "parameters", all_of(c, Name)

    def reading(self, c: Children) -> tuple[str, Any]:
        return "reading", (c[0], c[-1])

    def request(self, c: Children) -> Control:
        return Control("request", c[1], at=position(c[0]))

    def grant(self, c: Children) -> Control:
        return Control("grant", c[1], agent=c[3], at=position(c[0]))

    def show(self, c: Children) -> Query:
        subject = next((keyword(t) for t in c if isinstance(t, Token) and t.type in SUBJECTS), "")
        return Query("show", subject, only(c, Name), at=position(c[0]))

    def done(self, c: Children) -> TaskResult:
        readings = tuple(child[1] for child in c if type(child) is tuple and child[0] == "reading")
        number = whole(only(c, Quantity), "a task's number")
        return TaskResult(number, True, only(c, Place), readings, at=position(c[0]))

    def failed(self, c: Children) -> TaskResult:
        text = next((str(t) for t in c if isinstance(t, Token) and t.type == "STRING"), "")
        number = whole(only(c, Quantity), "a task's number")
        return TaskResult(number, False, reason=unquote(text), at=position(c[0]))

    def help(self, c: Children) -> Query:
        topic = c[1][1] if len(c) > 1 else ""
        return Query("help", topic, at=position(c[0]))

    def topic(self, c: Children) -> tuple[str, Any]:
        return "topic", c[0].text if isinstance(c[0], Name) else keyword(c[0])

    def try_(self, c: Children) -> Trial:
        return Trial(c[1], position(c[0]))

    def define(self, c: Children) -> Define:
        tuples = [child for child in c if type(child) is tuple]
        parameters = tuples[0][1] if tuples[0] and tuples[0][0] == "parameters" else ()
        body = tuples[-1]
        nested = next((statement for statement in body if isinstance(statement, (Define, Trial))), None)
        if nested is not None:
            raise CommandError("a macro's body holds no define and no try", nested.at)
        return Define(c[1], parameters, body, position(c[0]))

    def run(self, c: Children) -> Run:
        arguments = next((child[1] for child in c if type(child) is tuple), ())
        return Run(c[1], arguments, at=position(c[0]))

    def forget(self, c: Children) -> Run:
        return Run(c[1], forget=True, at=position(c[0]))


_SLOT_OF = {Quantity: "amount", Direction: "direction", Place: "place"}


def _terms(c: Children, kind: type[Both] | type[Either]) -> tuple[Condition, ...]:
    left = c[0].terms if type(c[0]) is kind else (c[0],)
    right = c[2].terms if type(c[2]) is kind else (c[2],)
    return (*left, *right)


def _bounded(term: Condition, token: Token) -> Condition:
    if isinstance(term, (Both, Either)) and len(term.terms) > MAX_TERMS:
        raise CommandError(f"a condition has at most {MAX_TERMS} terms", position(token))
    if _depth(term) > MAX_DEPTH:
        raise CommandError(f"conditions nest at most {MAX_DEPTH} deep", position(token))
    return term


for _name, _rule in RULES.items():
    setattr(TreeBuilder, _name, _rule)
