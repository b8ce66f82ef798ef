"""Conditions that are measured while a command runs; others are refused before it begins [JPL-RTC section 4, F]."""

from __future__ import annotations

from telerobot_nodes.rtc.language import (
    Both,
    CommandError,
    Comparison,
    Condition,
    Either,
    Event,
    Negation,
    Reflex,
    Task,
    Until,
    ViaOperator,
)

_WITH_AXES = ("force", "torque")
_IN_A_WAIT = ("time", "signal")


def check_measured(task: Task, performer: str) -> None:
    """Raise CommandError at a condition of the task that nobody would measure; `performer`: arm, camera or none."""
    by_person = any(isinstance(clause, ViaOperator) for clause in task.clauses)
    for clause in task.clauses:
        if not isinstance(clause, (Reflex, Until)):
            continue
        what = "a reflex" if isinstance(clause, Reflex) else "`until`"
        if by_person:
            raise CommandError(f"{what} is not watched while a person does the steps", clause.at)
        if performer == "camera" or (performer == "none" and isinstance(clause, Reflex)):
            raise CommandError(f"{what} is watched while an arm moves; {task.verb} moves none", clause.at)
        if reason := _unmeasured(clause.condition, performer == "arm"):
            raise CommandError(reason, clause.at)


def _unmeasured(condition: Condition, arm: bool) -> str:
    """Why a condition could never be evaluated; empty when it is measured."""
    if isinstance(condition, (Both, Either)):
        return next((reason for term in condition.terms if (reason := _unmeasured(term, arm))), "")
    if isinstance(condition, Negation):
        return _unmeasured(condition.term, arm)
    kind = condition.kind if isinstance(condition, Event) else condition.measure.kind
    if not arm and kind not in _IN_A_WAIT:
        return f"{kind} is not measured during a wait; allowed: {', '.join(_IN_A_WAIT)}"
    if isinstance(condition, Event):
        named = kind == "contact" and condition.name is not None
        return "which object is touched is not measured; allowed: contact, without `on`" if named else ""
    return _unmeasured_number(condition)


def _unmeasured_number(condition: Comparison) -> str:
    measure, dimension = condition.measure, condition.quantity.dimension
    if measure.kind == "deviation":
        return "the deviation by sensors is not reported while a motion runs; limit the force instead"
    if measure.axis and measure.kind not in _WITH_AXES:
        return f"{measure.kind} is measured without axes; with axes: {', '.join(_WITH_AXES)}"
    if measure.kind == "speed" and dimension == "angular speed":
        return "the speed of the tool is measured in m/s, not as angular speed"
    return ""
