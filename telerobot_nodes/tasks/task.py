"""A task as a value: scene, start, primitives, measures of success. A parameter file defines all of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from telerobot_nodes.core.values import finite, finite_array, in_range, one_of
from telerobot_nodes.core.values import poses as checked_poses
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.hardware import Coupling, Fixture, Realism
from telerobot_nodes.motion.parameters import kind_named, values_of
from telerobot_nodes.motion.primitives import PrimitiveRequest

AXES = ("x", "y", "z")
QUANTITIES = ("joint", "position", "tilt", "rotation", "force", "torque")
REDUCTIONS = ("final", "max", "min", "mean", "rms", "p95")
OPERATORS = ("<=", ">=")


@dataclass(frozen=True)
class Scene:
    """Surroundings of the arm."""

    board: bool = True  # the task board of the demo
    without: tuple[str, ...] = ()  # bodies of the board that are left out
    bodies: tuple[Fixture, ...] = ()
    couplings: tuple[Coupling, ...] = ()


@dataclass(frozen=True)
class PoseError:
    """Difference between the real and the assumed poses: bodies displaced together in a random direction."""

    bodies: tuple[str, ...] = ()
    about: tuple[float, ...] = (0.0, 0.0, 0.0)  # [m] WORLD, the point that moves by `distance`
    distance: float = 0.002  # [m]
    angle: float = math.radians(2.0)  # [rad]
    along: tuple[str, ...] = AXES  # WORLD axes of the offset, for example in the plane of a table
    turn: tuple[str, ...] = AXES  # WORLD axes of the rotation

    def __post_init__(self) -> None:
        finite_array(self.about, "error.about", 3)
        in_range(self.distance, "error.distance", 0.0, 0.1, "m")
        in_range(self.angle, "error.angle", 0.0, 0.5, "rad")
        for axis in (*self.along, *self.turn):
            one_of(axis, "error.axes", AXES)
        if not (self.along and self.turn):
            raise InvalidValueError("error.along, error.turn", (), "allowed: one axis or more; none: distance, angle 0")


@dataclass(frozen=True)
class Start:
    """Start of the arm, at rest: the joints nearest to `near` with the tool at `pose`."""

    pose: tuple[float, ...]  # of TN in WORLD
    near: tuple[float, ...] = ()  # [rad]; none: home
    opening: float = 0.08  # [m]

    def __post_init__(self) -> None:
        checked_poses(self.pose, "start.pose")
        in_range(self.opening, "start.opening", 0.0, 1.0, "m")


@dataclass(frozen=True)
class Wave:
    """One part of a synthetic hand: a velocity `2 pi size / period cos(2 pi t / period + phase)` of one DOF."""

    dof: int  # 0 .. 5: x y z rx ry rz along the axes of `tele_mode`
    size: float  # [m] or [rad] amplitude
    period: float  # [s]
    phase: float = 0.0  # [rad]

    def __post_init__(self) -> None:
        in_range(self.dof, "hand.dof", 0, 5)
        in_range(self.size, "hand.size", -1.0, 1.0)
        in_range(self.period, "hand.period", 0.05, 100.0, "s")
        finite(self.phase, "hand.phase")


@dataclass(frozen=True)
class HandSegment:
    """The operator's device while `during` runs: waves, or a recording (CSV: t, x, y, z) scaled; rate as a device's."""

    during: tuple[str, ...]
    waves: tuple[Wave, ...] = ()
    recording: str = ""  # file of the package's share
    scale: float = 1.0
    axes: tuple[int, ...] = (0, 1, 2)  # DOFs its columns move
    rate: float = 100.0  # [Hz]

    def __post_init__(self) -> None:
        in_range(self.rate, "hand.rate", 1.0, 1000.0, "Hz")
        in_range(self.scale, "hand.scale", -10.0, 10.0)
        if bool(self.waves) == bool(self.recording):
            raise InvalidValueError("hand.recording", self.recording, "allowed: a recording, or waves, not both")


@dataclass(frozen=True)
class Step:
    """One primitive of the task."""

    label: str
    primitive: str
    values: Mapping[str, Any] = field(default_factory=dict)
    accept: tuple[str, ...] = ()
    repeat: int = 1

    def __post_init__(self) -> None:
        in_range(self.repeat, f"{self.label}.repeat", 1, 100)
        PrimitiveRequest(1, self.primitive, self.values, self.accept)


@dataclass(frozen=True)
class Measure:
    """One condition of success, measured in the physics.

    joint: of `joint`, from its start. position: of the origin of `body` [m]. tilt: angle between the z axes of `body`
    and `frame` [rad]. rotation: of `body` from its start [rad]. force, torque: of every contact on `body` and what is
    fixed to it, at its origin. Vectors are taken along `axes` of `frame` (a body or world): one axis is signed,
    several are a length.
    """

    name: str
    of: str
    op: str
    value: float
    unit: str = ""
    body: str = ""
    joint: str = ""
    frame: str = "world"
    axes: tuple[str, ...] = ("x", "y", "z")
    relative: bool = False  # position: from its start
    target: float | None = None  # the measure is the distance from it
    reduce: str = "final"
    during: tuple[str, ...] = ()  # labels; none: the whole run
    smooth: float = 0.0  # [s] moving average before

    def __post_init__(self) -> None:
        where = f"success.{self.name}"
        one_of(self.of, f"{where}.of", QUANTITIES)
        one_of(self.op, f"{where}.op", OPERATORS)
        one_of(self.reduce, f"{where}.reduce", REDUCTIONS)
        in_range(self.smooth, f"{where}.smooth", 0.0, 10.0, "s")
        for axis in self.axes:
            one_of(axis, f"{where}.axes", AXES)
        if not (self.joint if self.of == "joint" else self.body):
            raise InvalidValueError(where, self.of, "allowed: with `joint` for joint, with `body` for the others")


@dataclass(frozen=True)
class Task:
    """The whole task."""

    name: str
    doc: str
    start: Start
    primitives: tuple[Step, ...]
    success: tuple[Measure, ...]
    scene: Scene = field(default_factory=Scene)
    error: PoseError = field(default_factory=PoseError)
    robot: str = "arm"
    rate: float = 500.0  # [Hz] of the control loop
    common: Mapping[str, Any] = field(default_factory=dict)  # values of every primitive that allows them
    hand: HandSegment | None = None
    realism: Realism = field(default_factory=Realism)
    time_limit: float = 120.0  # [s] of simulated time

    def __post_init__(self) -> None:
        in_range(self.rate, "rate", 50.0, 1000.0, "Hz")
        in_range(self.time_limit, "time_limit", 1.0, 3600.0, "s")
        for step in self.primitives:
            self._check_values(step)
        labels = [step.label for step in self.primitives]
        if len(set(labels)) != len(labels) or not labels:
            raise InvalidValueError("primitives.label", labels, "allowed: one or more, each once")
        if not self.success:
            raise InvalidValueError("success", (), "allowed: one measure or more")
        wanted = [(m.name, label) for m in self.success for label in m.during]
        wanted += [("hand", label) for label in (self.hand.during if self.hand else ())]
        for name, label in wanted:
            one_of(label, f"{name}.during", labels)

    def values(self, step: Step) -> dict[str, Any]:
        """Values of a step's primitive by name: its own, and those of `common` that the primitive allows."""
        allowed = kind_named(step.primitive).allowed
        return {**{name: value for name, value in self.common.items() if name in allowed}, **step.values}

    def _check_values(self, step: Step) -> None:
        try:
            values_of(step.primitive, self.values(step))
        except InvalidValueError as error:
            raise InvalidValueError(f"{step.label}.{error.field}", error.value, error.allowed) from None
