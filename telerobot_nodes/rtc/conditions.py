"""Conditions of the command language on what is measured: reflexes, `until` [JPL-RTC section 4, F and R].

The lower level has its own stop functions and needs none of this ("trusted soldier"); here are the conditions that it
has no parameter for. A measure nobody measures never holds, and never holds negated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.rtc.motion_parameters import STOPPING
from telerobot_nodes.rtc.primitives import Primitive
from telerobot_nodes.rtc.request import Request, Rule
from telerobot_nodes.rtc.syntax import Both, Comparison, Condition, Either, Event, Negation

CONTACT_FORCE = 3.0  # [N] that counts as contact
COLLISION_FORCE = 10.0  # [N]
AXIS = {"x": 0, "y": 1, "z": 2}


@dataclass(frozen=True)
class Measured:
    """What is measured of an arm now; None or empty: not known."""

    joints: tuple[float, ...] = ()  # [rad]
    pose: tuple[float, ...] = ()  # (7,) of the tool in WORLD
    wrench: tuple[float, ...] = ()  # [N], [N m] SENSE
    width: float | None = None  # [m]
    speed: float | None = None  # [m/s] of the tool
    deviation: float | None = None  # [m] by sensor motion
    events: frozenset[str] = frozenset()
    signals: Mapping[str, bool] = field(default_factory=dict)
    places: Mapping[str, FloatArray] = field(default_factory=dict)  # positions (3,) [m] of named things in WORLD


def holds(condition: Condition, measured: Measured, elapsed: float) -> bool | None:
    """Whether the condition holds; None when it cannot be told."""
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
    if force is not None and measured.wrench:
        return bool(np.linalg.norm(measured.wrench[:3]) > force) or event.kind in measured.events
    return event.kind in measured.events


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


@dataclass
class _Watched:
    primitive: Primitive
    request: Request
    since: float  # [s]
    met: set[int] = field(default_factory=set)  # rules that only report, and hold now


@dataclass(frozen=True)
class Firing:
    """A condition came true for a primitive. `outcome` empty: the motion goes on."""

    primitive: Primitive
    outcome: str
    text: str
    rule: Rule | None = None


class ReflexWatch:
    """The primitives under way whose command has reflexes or an `until`, and which condition has come true."""

    def __init__(self) -> None:
        self._watched: dict[int, _Watched] = {}

    def begin(self, primitive: Primitive, request: Request, now: float) -> None:
        """Watch a primitive of an arm, if its command asks for anything."""
        if request.reflexes or request.until is not None:
            self._watched[primitive.number] = _Watched(primitive, request, now)

    def forget(self, number: int) -> None:
        """The primitive is over."""
        self._watched.pop(number, None)

    def of(self, subsystem: str) -> bool:
        """True when anything is watched there."""
        return any(entry.primitive.subsystem == subsystem for entry in self._watched.values())

    def measured(self, subsystem: str, measured: Measured, now: float) -> list[Firing]:
        """What came true with a measurement; a primitive that is to stop is watched no longer."""
        fired: list[Firing] = []
        for entry in [w for w in self._watched.values() if w.primitive.subsystem == subsystem]:
            fired += self._fire(entry, measured, now - entry.since)
        for firing in fired:
            if firing.outcome:
                self.forget(firing.primitive.number)
        return fired

    def _fire(self, entry: _Watched, measured: Measured, elapsed: float) -> list[Firing]:
        fired = []
        for number, rule in enumerate(entry.request.reflexes, 1):
            true = holds(rule.condition, measured, elapsed) is True
            stops = rule.action.kind in STOPPING
            if true and stops:
                return [Firing(entry.primitive, f"reflex_{number}", f"{rule.text}: {rule.does}", rule)]
            if true and number not in entry.met:
                fired.append(Firing(entry.primitive, "", f"{rule.text}: {rule.does}", rule))
            (entry.met.add if true else entry.met.discard)(number)
        until = entry.request.until
        if until is not None and holds(until, measured, elapsed) is True:
            fired.append(Firing(entry.primitive, "until", "the condition of the command came true"))
        return fired


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
