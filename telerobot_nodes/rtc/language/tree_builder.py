# ruff: noqa: D102 - a method is documented by the `//:` comment of its rule in the grammar
"""From grammar rules to the typed tree; called by the parser while it reduces [JPL-RTC section 5, parser].

Each method takes the children of one rule, keyword tokens included (they carry the positions).
"""

from __future__ import annotations

import math
import re
from typing import Any

from lark import Token, Transformer

from telerobot_nodes.rtc.language import syntax as tree
from telerobot_nodes.rtc.language.errors import CommandError
from telerobot_nodes.rtc.language.rule_tables import (
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

MAX_TERMS = 64  # of one condition
MAX_DEPTH = 100  # of nested conditions

_QUANTITY = re.compile(r"([+-]?[\d.]+(?:[eE][+-]?\d+)?)[ \t]*(\S*)")


def _depth(term: tree.Condition) -> int:
    if isinstance(term, tree.Negation):
        return 1 + _depth(term.term)
    if isinstance(term, (tree.Both, tree.Either)):
        return 1 + max(_depth(child) for child in term.terms)
    return 0


class TreeBuilder(Transformer):  # type: ignore[type-arg]
    """One method per rule of `commands.lark`; raises CommandError for numbers no command can mean."""

    def start(self, c: Children) -> tuple[tree.Statement, ...]:
        return tuple(child for child in c if not isinstance(child, Token))

    def task(self, c: Children) -> tree.Task:
        verb, at, slots = c[0]
        values: dict[str, Any] = {}
        for child in slots:
            kind = type(child)
            if kind is tree.Name:
                values["target"] = child
            elif kind is Token:
                if child.type in OPTION_TOKENS:
                    values["option"] = keyword(child)
            elif kind is tuple:
                values[child[0]] = child[1]
            elif kind is tree.Amount:
                values["amounts"] = (*values.get("amounts", ()), child)
            elif kind is tree.Place and "place" in values:  # inspect a place from another
                values["source"] = child
                del values["relation"]
            else:
                values[_SLOT_OF[kind]] = child
        return tree.Task(verb, clauses=tuple(c[1:]), at=at, **values)

    def skill_verb(self, c: Children) -> tuple[str, Any, Children]:
        return str(c[0]), position(c[0]), c

    def skill_number(self, c: Children) -> tree.Amount:
        return tree.Amount(str(c[0]), c[1], position(c[0]))

    # slots
    def name(self, c: Children) -> tree.Name:
        token = c[0]
        text = keyword(token) if token.type == "CAMERA" else str(token)
        return tree.Name(text[1:-1] if token.type == "QUOTED" else text, position(token))

    def frame_name(self, c: Children) -> tree.Name:
        return c[0] if isinstance(c[0], tree.Name) else tree.Name(keyword(c[0]), position(c[0]))

    agent = step_name = frame_name

    def quantity(self, c: Children) -> tree.Quantity:
        token = c[0]
        digits, unit = _QUANTITY.fullmatch(token).groups()  # type: ignore[union-attr]
        number = float(digits)
        if not math.isfinite(number):
            raise CommandError("the number is too large", position(token))
        return tree.Quantity(number, unit, position(token))

    def axis(self, c: Children) -> str:
        return str(c[0]).lower()

    def axes(self, c: Children) -> tuple[str, Any]:
        return "axes", tuple(child for child in c if type(child) is str)

    def point(self, c: Children) -> tuple[str, Any]:
        return "point", c[1]

    def by(self, c: Children) -> tree.Quantity:
        return c[1]  # type: ignore[no-any-return]

    for_ = standoff = by

    def relation(self, c: Children) -> tuple[str, Any]:
        return "relation", str(c[0]).lower()

    relation_to = relation_into = relation_from = relation_in = relation_on = relation_at = relation
    relation_against = relation

    def toward(self, c: Children) -> tree.Direction:
        return tree.Direction("toward", name=c[1])

    def along(self, c: Children) -> tree.Direction:
        return tree.Direction("along", word=c[-1], sign=-1 if len(c) == 3 else 1)

    def heading(self, c: Children) -> tree.Direction:
        return tree.Direction("heading", word=str(c[0]).lower())

    def named_place(self, c: Children) -> tree.Place:
        return tree.Place("named", c[0], at=c[0].at)

    def neighborhood(self, c: Children) -> tree.Place:
        return tree.Place("neighborhood", c[1], at=position(c[0]))

    def grasp_point(self, c: Children) -> tree.Place:
        return tree.Place("grasp_point", c[1], at=position(c[0]))

    def above(self, c: Children) -> tree.Place:
        return tree.Place("above", c[1], only(c, tree.Quantity), at=position(c[0]))

    def home(self, c: Children) -> tree.Place:
        return tree.Place("home", at=position(c[0]))

    def literal_pose(self, c: Children) -> tree.Place:
        numbers = all_of(c, tree.Quantity)
        if len(numbers) not in (3, 7):
            raise CommandError(f"a pose has 3 or 7 numbers, not {len(numbers)}", position(c[0]))
        return tree.Place("pose", only(c, tree.Name), numbers=numbers, at=position(c[0]))

    def joints(self, c: Children) -> tree.Place:
        return tree.Place("joints", numbers=all_of(c, tree.Quantity), at=position(c[0]))

    # clauses
    def limited(self, c: Children) -> tree.Maintain:
        limit = all_of(c, tree.Constraint)
        return tree.Maintain(limit, limit[0].at)

    def result(self, c: Children) -> tuple[str, Any]:
        return "result", c[0].text if isinstance(c[0], tree.Name) else keyword(c[0])

    def accept(self, c: Children) -> tree.Accept:
        return tree.Accept(tuple(child[1] for child in c if type(child) is tuple), position(c[0]))

    def operator_axes(self, c: Children) -> tuple[str, Any]:
        return "axes", tuple(c)

    program_axes = operator_axes

    def shared(self, c: Children) -> tree.Shared:
        operator, program = (child[1] for child in c if type(child) is tuple)
        return tree.Shared(operator, program, position(c[0]))

    # conditions
    def measure(self, c: Children) -> tree.Measure:
        axis = next((child for child in c if type(child) is str), "")
        return tree.Measure(keyword(c[0]), axis, only(c, tree.Name), position(c[0]))

    def comparison(self, c: Children) -> tree.Comparison:
        return tree.Comparison(c[0], str(c[1]), c[2])

    def event(self, c: Children) -> tree.Event:
        return tree.Event(keyword(c[0]), only(c, tree.Name))

    def negation(self, c: Children) -> tree.Negation:
        return _bounded(tree.Negation(c[1]), c[0])  # type: ignore[return-value]

    def atom(self, c: Children) -> tree.Condition:
        return c[1]  # type: ignore[no-any-return]

    def both(self, c: Children) -> tree.Condition:
        return _bounded(tree.Both(_terms(c, tree.Both)), c[1])

    def either(self, c: Children) -> tree.Condition:
        return _bounded(tree.Either(_terms(c, tree.Either)), c[1])

    def action(self, c: Children) -> tree.Action:
        return tree.Action(keyword(c[0]), only(c, tree.Quantity))

    # statements for the decision unit
    def command_number(self, c: Children) -> tuple[str, Any]:
        return "command", whole(c[1], "a command's number")

    def all_(self, c: Children) -> tuple[str, Any]:
        return "everything", True

    def parameters(self, c: Children) -> tuple[str, Any]:
        return "parameters", all_of(c, tree.Name)

    def reading(self, c: Children) -> tuple[str, Any]:
        return "reading", (c[0], c[-1])

    def request(self, c: Children) -> tree.Control:
        return tree.Control("request", c[1], at=position(c[0]))

    def confirm(self, c: Children) -> tree.Control:
        return tree.Control("confirm", at=position(c[0]))

    def break_(self, c: Children) -> tree.Control:
        before = next(n for n, child in enumerate(c) if isinstance(child, Token) and child.type == "AT")
        scope: dict[str, Any] = dict(child for child in c[:before] if type(child) is tuple)
        steps = all_of(c[before:], tree.Name)
        return tree.Control("break", only(c[:before], tree.Name), steps=steps, at=position(c[0]), **scope)

    def grant(self, c: Children) -> tree.Control:
        return tree.Control("grant", c[1], agent=c[3], at=position(c[0]))

    def show(self, c: Children) -> tree.Query:
        subject = next((keyword(t) for t in c if isinstance(t, Token) and t.type in SUBJECTS), "")
        return tree.Query("show", subject, only(c, tree.Name), at=position(c[0]))

    def done(self, c: Children) -> tree.TaskResult:
        readings = tuple(child[1] for child in c if type(child) is tuple and child[0] == "reading")
        number = whole(only(c, tree.Quantity), "a task's number")
        return tree.TaskResult(number, True, only(c, tree.Place), readings, at=position(c[0]))

    def failed(self, c: Children) -> tree.TaskResult:
        text = next((str(t) for t in c if isinstance(t, Token) and t.type == "STRING"), "")
        number = whole(only(c, tree.Quantity), "a task's number")
        return tree.TaskResult(number, False, reason=unquote(text), at=position(c[0]))

    def help(self, c: Children) -> tree.Query:
        topic = c[1][1] if len(c) > 1 else ""
        return tree.Query("help", topic, at=position(c[0]))

    def topic(self, c: Children) -> tuple[str, Any]:
        return "topic", c[0].text if isinstance(c[0], tree.Name) else keyword(c[0])

    def define(self, c: Children) -> tree.Define:
        tuples = [child for child in c if type(child) is tuple]
        parameters = tuples[0][1] if tuples[0] and tuples[0][0] == "parameters" else ()
        body = tuples[-1]
        nested = next((statement for statement in body if isinstance(statement, (tree.Define, tree.Trial))), None)
        if nested is not None:
            raise CommandError("a macro's body holds no define and no try", nested.at)
        return tree.Define(c[1], parameters, body, position(c[0]))

    def run(self, c: Children) -> tree.Run:
        arguments = next((child[1] for child in c if type(child) is tuple), ())
        return tree.Run(c[1], arguments, at=position(c[0]))

    def forget(self, c: Children) -> tree.Run:
        return tree.Run(c[1], forget=True, at=position(c[0]))


_SLOT_OF = {tree.Quantity: "amount", tree.Direction: "direction", tree.Place: "place"}


def _terms(c: Children, kind: type[tree.Both] | type[tree.Either]) -> tuple[tree.Condition, ...]:
    left = c[0].terms if type(c[0]) is kind else (c[0],)
    right = c[2].terms if type(c[2]) is kind else (c[2],)
    return (*left, *right)


def _bounded(term: tree.Condition, token: Token) -> tree.Condition:
    if isinstance(term, (tree.Both, tree.Either)) and len(term.terms) > MAX_TERMS:
        raise CommandError(f"a condition has at most {MAX_TERMS} terms", position(token))
    if _depth(term) > MAX_DEPTH:
        raise CommandError(f"conditions nest at most {MAX_DEPTH} deep", position(token))
    return term


for _name, _rule in RULES.items():
    setattr(TreeBuilder, _name, _rule)
