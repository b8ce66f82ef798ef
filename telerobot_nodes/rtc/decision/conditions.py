"""Conditions of the command language on what is measured: reflexes, `until` [JPL-RTC section 4, F and R].

The lower level has its own stop functions ("trusted soldier"); the conditions here are those it has no parameter for.
A condition on a quantity that is not measured does not hold, nor does its negation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.rtc.elaboration import STOPPING, Request, Rule
from telerobot_nodes.rtc.language import Both, Comparison, Condition, Either, Event, Negation
from telerobot_nodes.rtc.skills import Primitive

CONTACT_FORCE = 3.0  # [N] that counts as contact
COLLISION_FORCE = 10.0  # [N]
UNKNOWN = 1.0  # [s] a guard may go unmeasured
AXIS = {"x": 0, "y": 1, "z": 2}


@dataclass(frozen=True)
class Measured:
    """Measurements of an arm now; None or empty: not measured."""

    joints: tuple[float, ...] = ()  # [rad]
    pose: tuple[float, ...] = ()  # (7,) of the tool in WORLD
    wrench: tuple[float, ...] = ()  # [N], [N m] SENSE
    width: float | None = None  # [m]
    speed: float | None = None  # [m/s] of the tool
    deviation: float | None = None  # [m] by sensor motion
    events: Mapping[str, bool] = field(default_factory=dict)  # those that are measured
    signals: Mapping[str, bool] = field(default_factory=dict)
    places: Mapping[str, FloatArray] = field(default_factory=dict)  # positions (3,) [m] of named things in WORLD


def holds(condition: Condition, measured: Measured, elapsed: float) -> bool | None:
    """Whether the condition holds; None when it is not measured."""
    if isinstance(condition, Both):
        return _all([holds(term, measured, elapsed) for term in condition.terms])
    if isinstance(condition, Either):
        return _any([holds(term, measured, elapsed) for term in condition.terms])
    if isinstance(condition, Negation):
        inner = holds(condition.term, measured, elapsed)
        return None if inner is None else not inner
    if isinstance(condition, Event):
        return _event(condition, measured)
    return _comparison(condition, measured, elapsed)


def instants(condition: Condition) -> list[float]:
    """Elapsed times [s] at which the condition may change by time alone."""
    if isinstance(condition, (Both, Either)):
        return [at for term in condition.terms for at in instants(term)]
    if isinstance(condition, Negation):
        return instants(condition.term)
    return [condition.quantity.si] if isinstance(condition, Comparison) and condition.measure.kind == "time" else []


def _all(terms: list[bool | None]) -> bool | None:
    if False in terms:
        return False
    return None if None in terms else True


def _any(terms: list[bool | None]) -> bool | None:
    if True in terms:
        return True
    return None if None in terms else False


def _event(event: Event, measured: Measured) -> bool | None:
    if event.kind == "signal":
        return measured.signals.get(event.name.text) if event.name else None
    force = {"contact": CONTACT_FORCE, "collision": COLLISION_FORCE}.get(event.kind)
    if force is not None:
        return bool(np.linalg.norm(measured.wrench[:3]) > force) if measured.wrench else None
    return measured.events.get(event.kind)


def _comparison(condition: Comparison, measured: Measured, elapsed: float) -> bool | None:
    value = _value(condition, measured, elapsed)
    if value is None:
        return None
    limit = condition.quantity.si
    above, equal = condition.comparator[0] == ">", "=" in condition.comparator
    return (value > limit or (equal and value == limit)) if above else (value < limit or (equal and value == limit))


def _value(condition: Comparison, measured: Measured, elapsed: float) -> float | None:
    measure = condition.measure
    if measure.kind == "time":
        return elapsed
    if measure.kind in ("force", "torque"):
        return _wrench(measured, 0 if measure.kind == "force" else 3, measure.axis)
    if measure.kind == "distance":
        name = measure.name.text if measure.name else ""
        if name not in measured.places or not measured.pose:
            return None
        return float(np.linalg.norm(np.asarray(measured.pose[:3]) - measured.places[name]))
    return {"width": measured.width, "speed": measured.speed, "deviation": measured.deviation}.get(measure.kind)


def _wrench(measured: Measured, first: int, axis: str) -> float | None:
    if len(measured.wrench) != 6:
        return None
    three = measured.wrench[first : first + 3]
    return abs(three[AXIS[axis[-1]]]) if axis else float(np.linalg.norm(three))


def last_due(began: float, every: float, now: float) -> float:
    """When the latest of the reports at an interval was due [s]: one that is late does not delay the next."""
    return began + math.floor((now - began) / every) * every


@dataclass
class _Watched:
    primitive: Primitive
    request: Request
    since: float  # [s]
    reported: float  # [s] when the latest progress report was due
    met: set[int] = field(default_factory=set)  # rules that let the motion go on, and hold now
    known: dict[int, float] = field(default_factory=dict)  # [s] after `since`: latest evaluation of each rule


@dataclass(frozen=True)
class Firing:
    """A condition came true for a primitive, or a report is due. `outcome` empty: the motion goes on."""

    primitive: Primitive
    outcome: str
    text: str
    rule: Rule | None = None


class ReflexWatch:
    """Watches the primitives whose command has reflexes, an `until`, or reports at an interval.

    A reflex that stops the motion is a guard: when nothing measures its condition, the motion stops as well.
    """

    def __init__(self) -> None:
        self._watched: dict[int, _Watched] = {}

    def begin(self, primitive: Primitive, request: Request, now: float) -> None:
        """Watch a primitive of an arm, if its command asks for anything."""
        if request.reflexes or request.until is not None or primitive.report.every:
            self._watched[primitive.number] = _Watched(primitive, request, now, now)

    def forget(self, number: int) -> None:
        """The primitive is over."""
        self._watched.pop(number, None)

    def of(self, subsystem: str) -> bool:
        """Whether anything is watched there."""
        return any(entry.primitive.subsystem == subsystem for entry in self._watched.values())

    def names(self, subsystem: str) -> frozenset[str]:
        """Things whose distance is watched there."""
        entries = [entry for entry in self._watched.values() if entry.primitive.subsystem == subsystem]
        conditions = [rule.condition for entry in entries for rule in entry.request.reflexes]
        conditions += [entry.request.until for entry in entries if entry.request.until is not None]
        return frozenset(name for condition in conditions for name in _names(condition))

    def measured(self, subsystem: str, measured: Measured, now: float) -> list[Firing]:
        """The conditions that a measurement makes true; a primitive that stops is watched no longer."""
        fired: list[Firing] = []
        for entry in [w for w in self._watched.values() if w.primitive.subsystem == subsystem]:
            fired += self._fire(entry, measured, now - entry.since)
            if entry.primitive.report.every and now - entry.reported >= entry.primitive.report.every:
                entry.reported = last_due(entry.since, entry.primitive.report.every, now)
                fired.append(Firing(entry.primitive, "", _facts(measured, now - entry.since)))
        for firing in fired:
            if firing.outcome:
                self.forget(firing.primitive.number)
        return fired

    def _fire(self, entry: _Watched, measured: Measured, elapsed: float) -> list[Firing]:
        fired = []
        for number, rule in enumerate(entry.request.reflexes, 1):
            answer = holds(rule.condition, measured, elapsed)
            true, stops = answer is True, rule.action.kind in STOPPING
            if true and stops:
                return [Firing(entry.primitive, f"reflex_{number}", f"{rule.text}: {rule.does}", rule)]
            if answer is not None:
                entry.known[number] = elapsed
            elif stops and elapsed - entry.known.get(number, 0.0) > UNKNOWN:
                return [Firing(entry.primitive, "sensor_loss", f"{rule.text} is not measured now")]
            if true and number not in entry.met:
                fired.append(Firing(entry.primitive, "", f"{rule.text}: {rule.does}", rule))
            (entry.met.add if true else entry.met.discard)(number)
        until = entry.request.until
        if until is not None and holds(until, measured, elapsed) is True:
            fired.append(Firing(entry.primitive, "until", "the condition of the command came true"))
        return fired


def _names(condition: Condition) -> list[str]:
    if isinstance(condition, (Both, Either)):
        return [name for term in condition.terms for name in _names(term)]
    if isinstance(condition, Negation):
        return _names(condition.term)
    named = isinstance(condition, Comparison) and condition.measure.name is not None
    return [condition.measure.name.text] if named else []  # type: ignore[union-attr]


def _facts(measured: Measured, elapsed: float) -> str:
    """A progress report: what is measured now."""
    parts = [f"{elapsed:.1f} s"]
    if measured.pose:
        parts.append("tool at ({:.3f}, {:.3f}, {:.3f})".format(*measured.pose[:3]))
    if measured.wrench:
        parts.append(f"force {np.linalg.norm(measured.wrench[:3]):.1f} N")
    return ", ".join(parts)


def reflex_of_threshold(primitive: Primitive, request: Request, kind: str) -> str:
    """Outcome of the reflex whose threshold the executive watched as `max_force_thres` or `max_torque_thres`."""
    limit = primitive.parameters.get(f"max_{kind}_thres")
    for number, rule in enumerate(request.reflexes, 1):
        condition = rule.condition
        if not isinstance(condition, Comparison) or condition.measure.kind != kind or condition.measure.axis:
            continue
        if rule.action.kind in STOPPING and condition.comparator[0] == ">" and condition.quantity.si == limit:
            return f"reflex_{number}"
    return ""
