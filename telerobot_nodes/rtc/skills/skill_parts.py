"""The steps of a skill, and every expression of its file with the place it stands at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from telerobot_nodes.core.config import FileMapping
from telerobot_nodes.rtc.skills.expressions import Expression
from telerobot_nodes.rtc.skills.skills import Skill, Step, Table


@dataclass(frozen=True)
class Located:
    """An expression, and the key of the file section where it stands."""

    expression: Expression
    source: FileMapping
    key: str


def all_steps(skill: Skill) -> list[Step]:
    """The steps of every script and of every recovery."""
    steps = [step for script in skill.scripts.values() for step in script]
    return steps + [step for recovery in skill.recoveries.values() for step in recovery.steps]


def all_expressions(skill: Skill) -> Iterator[Located]:
    """Every expression of a skill."""
    for branch in skill.choose:
        if branch.when is not None:
            yield Located(branch.when, branch.source, "when")
    for part in ("plan", "defaults", "candidates"):
        for name, expression in getattr(skill, part).items():
            yield Located(expression, skill.source[part], name)
    for demand in (*skill.requires, *skill.tests):
        yield Located(demand.condition, demand.source, "that")
    yield from chain.from_iterable(map(step_expressions, all_steps(skill)))


def step_expressions(step: Step) -> Iterator[Located]:
    """Every expression of a step."""
    for part in ("parameters", "arguments", "adds", "keeps"):
        for name, expression in getattr(step, part).items():
            yield Located(expression, step.source[part], name)
    for demand in step.confirms:
        yield Located(demand.condition, demand.source, "that")
    for rule in step.writes:
        if rule.value is not None:
            yield Located(rule.value, step.source, "writes")
    for key in ("target", "when", "duration"):
        expression = getattr(step, key)
        if expression is not None:
            yield Located(expression, step.source, key)


def row_expressions(table: Table) -> Iterator[Expression]:
    """Every expression of an evaluation table."""
    for row in chain.from_iterable(table.rows.values()):
        found = (row.when, *(rule.value for rule in row.writes))
        yield from (expression for expression in found if expression is not None)
