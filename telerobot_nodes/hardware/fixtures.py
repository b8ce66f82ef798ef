"""Objects of a task in a simulated scene, as data: bodies of simple shapes, joints, couplings of joints.

What belongs here: values, and their conversion into a MuJoCo model. Lengths in [m], angles in [rad].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
import pinocchio as pin

from telerobot_nodes.core.values import finite_array, in_range, one_of
from telerobot_nodes.core.values import poses as checked_poses
from telerobot_nodes.errors import InvalidValueError

WORLD, TOOL = "world", "tool"  # parents that always exist; TOOL: fixed to the arm's tool frame
_IDENTITY = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
_SIZES = {"box": 3, "cylinder": 2, "capsule": 2, "sphere": 1, "tube": 3}
_GEOMS = {
    "box": mujoco.mjtGeom.mjGEOM_BOX,
    "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER,
    "capsule": mujoco.mjtGeom.mjGEOM_CAPSULE,
    "sphere": mujoco.mjtGeom.mjGEOM_SPHERE,
}
_JOINTS = {"hinge": mujoco.mjtJoint.mjJNT_HINGE, "slide": mujoco.mjtJoint.mjJNT_SLIDE}
TUBE_SIDES = 24
_HALF = [0.5, 0.5, 0.001, 0.5, 2.0]  # MuJoCo's impedance; the stiffness of a soft contact is `soft` times the mass


@dataclass(frozen=True)
class Shape:
    """One shape.

    Sizes: box half lengths; cylinder, capsule radius, half length; sphere radius; tube: radius of the circle its inner
    walls touch, outer radius, half length.
    """

    kind: str
    size: tuple[float, ...]
    pose: tuple[float, ...] = _IDENTITY  # in its body
    rgba: tuple[float, ...] = (0.66, 0.68, 0.70, 1.0)
    soft: tuple[float, ...] = ()  # stiffness [1/s^2], damping [1/s] per moving mass of its contacts; none: hard

    def __post_init__(self) -> None:
        one_of(self.kind, "shape.kind", tuple(_SIZES))
        for i, value in enumerate(finite_array(self.size, f"{self.kind}.size", _SIZES[self.kind])):
            in_range(float(value), f"{self.kind}.size[{i}]", 1e-5, 10.0, "m")
        if self.kind == "tube" and not self.size[0] < self.size[1]:
            raise InvalidValueError("tube.size[0]", self.size[0], f"allowed: below the outer radius {self.size[1]:g}")
        finite_array(self.rgba, "shape.rgba", 4)
        for value in finite_array(self.soft, "shape.soft", 2 if self.soft else None):
            in_range(float(value), "shape.soft", 1.0, 1e7)
        checked_poses(self.pose, "shape.pose")


@dataclass(frozen=True)
class FixtureJoint:
    """How a body moves: hinge or slide along `axis` within `span`, or free."""

    kind: str
    axis: tuple[float, ...] = (0.0, 0.0, 1.0)
    span: tuple[float, ...] = (-6.3, 6.3)  # [rad] or [m]
    friction: float = 0.0  # [N m] or [N]
    damping: float = 0.0  # [N m s] or [N s/m]
    armature: float = 0.001  # [kg m^2] or [kg]

    def __post_init__(self) -> None:
        one_of(self.kind, "joint.kind", (*_JOINTS, "free"))
        axis = finite_array(self.axis, "joint.axis", 3)
        if not float(np.linalg.norm(axis)) > 0.0:
            raise InvalidValueError("joint.axis", self.axis, "allowed: not zero")
        low, high = finite_array(self.span, "joint.span", 2)
        if not low < high:
            raise InvalidValueError("joint.span", self.span, "allowed: low, high")
        for name in ("friction", "damping", "armature"):
            in_range(getattr(self, name), f"joint.{name}", 0.0, 1e3)


@dataclass(frozen=True)
class Fixture:
    """One body. `parent`: world, tool (the arm holds it rigidly), or a fixture before it."""

    name: str
    shapes: tuple[Shape, ...]
    pose: tuple[float, ...] = _IDENTITY  # in its parent
    parent: str = WORLD
    joint: FixtureJoint | None = None
    mass: float = 0.5  # [kg]
    weightless: bool = False  # its weight is balanced

    def __post_init__(self) -> None:
        checked_poses(self.pose, f"{self.name}.pose")
        in_range(self.mass, f"{self.name}.mass", 1e-4, 1e3, "kg")
        if not self.shapes:
            raise InvalidValueError(f"{self.name}.shapes", (), "allowed: one or more")

    @property
    def joint_name(self) -> str:
        """Its joint in the model."""
        return f"{self.name}_joint"


@dataclass(frozen=True)
class Coupling:
    """Joint of one fixture bound to that of another: joint = ratio * of (a screw: [m] per [rad])."""

    fixture: str
    of: str
    ratio: float


def furnish(
    spec: mujoco.MjSpec,
    fixtures: Sequence[Fixture],
    couplings: Sequence[Coupling],
    bits: tuple[tuple[int, int], tuple[int, int]],
    tool: str,
) -> None:
    """Add everything to `spec`. `bits`: (contype, conaffinity) of the arm and of the scene; `tool`: the tool's body.

    Free bodies touch everything, bodies the arm holds touch the scene, other bodies the arm. Raises InvalidValueError.
    """
    arm_bits, scene_bits = bits
    both = (arm_bits[0] | scene_bits[0], arm_bits[1] | scene_bits[1])
    held = {TOOL}
    for fixture in fixtures:
        if fixture.parent in held:
            held.add(fixture.name)
        free = fixture.joint is not None and fixture.joint.kind == "free"
        chosen = both if free else arm_bits if fixture.name in held else scene_bits
        _add_body(spec, fixture, tool, chosen)
    for coupling in couplings:
        _add_coupling(spec, coupling, fixtures)


def _add_body(spec: mujoco.MjSpec, fixture: Fixture, tool: str, bits: tuple[int, int]) -> None:
    parent = {WORLD: spec.worldbody, TOOL: spec.body(tool)}.get(fixture.parent) or spec.body(fixture.parent)
    if parent is None:
        raise InvalidValueError(f"{fixture.name}.parent", fixture.parent, "allowed: world, tool, a body of the scene")
    if spec.body(fixture.name) is not None:
        raise InvalidValueError("name", fixture.name, "allowed: a name that no body of the scene has yet")
    p, q = fixture.pose[:3], fixture.pose[3:]
    body = parent.add_body(name=fixture.name, pos=p, quat=[q[3], *q[:3]])
    parts = [part for shape in fixture.shapes for part in _parts(shape)]
    for kind, size, pose, rgba, soft in parts:
        geom = body.add_geom(
            type=kind,
            size=size,
            pos=pose[:3],
            quat=[pose[6], *pose[3:6]],
            rgba=rgba,
            mass=fixture.mass / len(parts),
            contype=bits[0],
            conaffinity=bits[1],
        )
        if soft:
            geom.solref, geom.solimp, geom.priority = [-soft[0], -soft[1]], _HALF, 1
    body.gravcomp = float(fixture.weightless)
    joint = fixture.joint
    if joint is None:
        return
    if joint.kind == "free":
        body.add_freejoint(name=fixture.joint_name)
        return
    body.add_joint(
        name=fixture.joint_name,
        type=_JOINTS[joint.kind],
        axis=joint.axis,
        range=joint.span,
        limited=True,
        frictionloss=joint.friction,
        damping=joint.damping,
        armature=joint.armature,
    )


_Part = tuple[mujoco.mjtGeom, list[float], tuple[float, ...], tuple[float, ...], tuple[float, ...]]


def _parts(shape: Shape) -> list[_Part]:
    """MuJoCo geoms of a shape; a tube is a ring of boxes whose inner faces touch the inner circle."""
    soft = shape.soft
    if shape.kind != "tube":
        return [(_GEOMS[shape.kind], [*shape.size, *(3 - len(shape.size)) * [0.0]], shape.pose, shape.rgba, soft)]
    inner, outer, half = shape.size
    T_shape = pin.XYZQUATToSE3(np.array(shape.pose))
    wall, width = 0.5 * (outer - inner), outer * math.tan(math.pi / TUBE_SIDES)
    parts: list[_Part] = []
    for k in range(TUBE_SIDES):
        R = pin.exp3(np.array([0.0, 0.0, 2.0 * math.pi * k / TUBE_SIDES]))
        T = T_shape * pin.SE3(R, R @ np.array([inner + wall, 0.0, 0.0]))
        pose = tuple(float(x) for x in pin.SE3ToXYZQUAT(T))
        parts.append((_GEOMS["box"], [wall, width, half], pose, shape.rgba, soft))
    return parts


def _add_coupling(spec: mujoco.MjSpec, coupling: Coupling, fixtures: Sequence[Fixture]) -> None:
    names = {fixture.name: fixture for fixture in fixtures}
    for field, name in (("fixture", coupling.fixture), ("of", coupling.of)):
        if name not in names or names[name].joint is None:
            raise InvalidValueError(f"coupling.{field}", name, "allowed: a fixture with a joint")
    spec.add_equality(
        type=mujoco.mjtEq.mjEQ_JOINT,
        name1=names[coupling.fixture].joint_name,
        name2=names[coupling.of].joint_name,
        objtype=mujoco.mjtObj.mjOBJ_JOINT,
        solref=[0.004, 1.0],  # a thread is stiff
        solimp=[0.99, 0.999, 0.001, 0.5, 2.0],
        data=[0.0, coupling.ratio] + (mujoco.mjNEQDATA - 2) * [0.0],
    )
