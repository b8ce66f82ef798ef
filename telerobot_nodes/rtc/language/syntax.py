"""The typed tree of the command language: frozen values with positions, no behaviour [JPL-RTC section 5, parser].

What belongs here: the shape of a command. What must never enter: grammar, names of the workcell, execution.
Positions do not take part in comparison: two commands are equal when they mean the same words.
"""

# ruff: noqa: RUF009

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from telerobot_nodes.rtc.language.units import UNITS


class Position(NamedTuple):
    """Where a word stands: line and column from 1, offset from 0, all in characters."""

    line: int = 0
    column: int = 0
    start: int = 0
    end: int = 0


NOWHERE = Position()


def somewhere() -> Any:
    """The field of a position."""
    return field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Name:
    """An object, place, arm, frame, path, skill, macro or agent."""

    text: str
    at: Position = somewhere()


@dataclass(frozen=True)
class Quantity:
    """A number as written, with its unit; `si` is what it means. No unit: SI, radians."""

    number: float
    unit: str = ""
    at: Position = somewhere()

    @property
    def si(self) -> float:
        """The value in SI units or radians."""
        return self.number * UNITS[self.unit].factor

    @property
    def dimension(self) -> str:
        """What the unit measures; empty for a bare number."""
        return UNITS[self.unit].dimension


@dataclass(frozen=True)
class Direction:
    """`toward` a name, `along` an axis, or a `heading`: up, down, left, right, forward, backward."""

    kind: str
    name: Name | None = None
    word: str = ""  # axis or heading
    sign: int = 1


@dataclass(frozen=True)
class Place:
    """Where. `kind`: named, neighborhood, grasp_point, above, home, pose, joints."""

    kind: str
    name: Name | None = None  # the named thing; the frame of a pose
    offset: Quantity | None = None
    numbers: tuple[Quantity, ...] = ()
    at: Position = somewhere()


@dataclass(frozen=True)
class Measure:
    """A measured quantity: force, torque, speed, width, deviation, time, distance."""

    kind: str
    axis: str = ""
    name: Name | None = None  # distance to
    at: Position = somewhere()


@dataclass(frozen=True)
class Comparison:
    """A measure against a number."""

    measure: Measure
    comparator: str
    quantity: Quantity


@dataclass(frozen=True)
class Event:
    """Something the lower levels notice: contact, slip, collision, joint-limit ..."""

    kind: str
    name: Name | None = None


@dataclass(frozen=True)
class Negation:
    """Not."""

    term: Condition


@dataclass(frozen=True)
class Both:
    """All of the terms."""

    terms: tuple[Condition, ...]


@dataclass(frozen=True)
class Either:
    """Any of the terms."""

    terms: tuple[Condition, ...]


Condition: TypeAlias = Comparison | Event | Negation | Both | Either


@dataclass(frozen=True)
class Action:
    """What a reflex does: stop, hold, comply, release, report, abort, retreat, slow, ask."""

    kind: str
    quantity: Quantity | None = None


@dataclass(frozen=True)
class With:
    """Arms, grippers, cameras that shall do it."""

    names: tuple[Name, ...]
    at: Position = somewhere()


@dataclass(frozen=True)
class ViaOperator:
    """The operator performs each step."""

    at: Position = somewhere()


@dataclass(frozen=True)
class ViaPlaces:
    """Places to pass through."""

    places: tuple[Place, ...]
    at: Position = somewhere()


@dataclass(frozen=True)
class Constraint:
    """One item of `maintain`: its keyword with number and name where it takes them."""

    kind: str
    quantity: Quantity | None = None
    name: Name | None = None
    at: Position = somewhere()


@dataclass(frozen=True)
class Maintain:
    """What must be kept during the whole task."""

    constraints: tuple[Constraint, ...]
    at: Position = somewhere()


@dataclass(frozen=True)
class Guarded:
    """Stop on unexpected contact."""

    at: Position = somewhere()


@dataclass(frozen=True)
class Reflex:
    """When the condition comes true the arm itself acts at once."""

    condition: Condition
    action: Action
    at: Position = somewhere()


@dataclass(frozen=True)
class Until:
    """End the motion successfully when the condition comes true."""

    condition: Condition
    at: Position = somewhere()


@dataclass(frozen=True)
class Accept:
    """Results that count as success."""

    results: tuple[str, ...]
    at: Position = somewhere()


@dataclass(frozen=True)
class Shared:
    """Axes of the operator and of the program."""

    operator: tuple[str, ...]
    program: tuple[str, ...]
    at: Position = somewhere()


@dataclass(frozen=True)
class Setting:
    """A clause of one value: timeout, retry, busy, report, interpolate, mode, payload, tool, frame ..."""

    kind: str
    value: Quantity | Name | str
    at: Position = somewhere()


Clause: TypeAlias = With | ViaOperator | ViaPlaces | Maintain | Guarded | Reflex | Until | Accept | Shared | Setting


@dataclass(frozen=True)
class Amount:
    """A number with a name, after a verb of a skill file."""

    name: str
    quantity: Quantity
    at: Position = somewhere()


@dataclass(frozen=True)
class Task:
    """Something to be done in the world: a verb, its slots, its clauses in the order written."""

    verb: str
    target: Name | None = None
    option: str = ""  # free, guarded, reversed, clockwise, gripper ...
    point: Name | None = None
    relation: str = ""  # to, on, in, at, into, from, against
    place: Place | None = None
    source: Place | None = None  # inspect: seen from
    amount: Quantity | None = None
    direction: Direction | None = None
    axes: tuple[str, ...] = ()
    amounts: tuple[Amount, ...] = ()
    clauses: tuple[Clause, ...] = ()
    at: Position = somewhere()


@dataclass(frozen=True)
class Control:
    """A control word: halt, pause, step, break, cancel, reset, grant and the like."""

    verb: str
    name: Name | None = None
    command: int = 0  # 0: none
    agent: Name | None = None
    steps: tuple[Name, ...] = ()  # break
    everything: bool = False
    at: Position = somewhere()


@dataclass(frozen=True)
class Query:
    """A question: status, show, where, help."""

    verb: str
    subject: str = ""
    name: Name | None = None
    command: int = 0
    everything: bool = False
    at: Position = somewhere()


@dataclass(frozen=True)
class TaskResult:
    """The operator's word on a task shown: done or failed."""

    number: int
    done: bool
    place: Place | None = None
    readings: tuple[tuple[Measure, Quantity], ...] = ()
    reason: str = ""
    at: Position = somewhere()


@dataclass(frozen=True)
class Trial:
    """Hypothesis test of tasks and macros, one after the other."""

    tasks: tuple[Task | Run, ...]
    at: Position = somewhere()


@dataclass(frozen=True)
class Define:
    """A macro's definition."""

    name: Name
    parameters: tuple[Name, ...]
    body: tuple[Statement, ...]
    at: Position = somewhere()


@dataclass(frozen=True)
class Run:
    """A macro's use, or its removal."""

    name: Name
    arguments: tuple[Name, ...] = ()
    forget: bool = False
    at: Position = somewhere()


Statement: TypeAlias = Task | Control | Query | TaskResult | Trial | Define | Run
