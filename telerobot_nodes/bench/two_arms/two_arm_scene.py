"""The MuJoCo model of the two-arm workcell: both arms of `urdf/two_arm_cell.urdf` in one physics, among obstacles.

Contact rules: an arm touches the other arm and every obstacle, never itself. Fingers are fixed half open. Contacts are
seen from `SEEN` [m] before they push, so that near misses differ from touches.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping
from typing import Protocol

import mujoco
import numpy as np

from telerobot_nodes.core.config import share_path
from telerobot_nodes.core.robot import PROFILES, read_urdf
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError, ModelError

WORKCELL_URDF = "urdf/two_arm_cell.urdf"
SIDES = ("left", "right")
OBSTACLE, PAYLOAD = "obstacle/", "_payload"
BITS: Mapping[str, tuple[int, int]] = {"left": (1, 2 | 4), "right": (2, 1 | 4), OBSTACLE: (4, 0)}
SEEN = 0.02  # [m] of each of two shapes
FINGER_OPENING = 0.02  # [m] of each finger
COLORS = {"left": [0.36, 0.55, 0.75, 1.0], "right": [0.85, 0.56, 0.30, 1.0], OBSTACLE: [0.55, 0.60, 0.52, 1.0]}
KINDS = {
    "box": mujoco.mjtGeom.mjGEOM_BOX,
    "sphere": mujoco.mjtGeom.mjGEOM_SPHERE,
    "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER,
    "half_space": mujoco.mjtGeom.mjGEOM_PLANE,
}


class SolidLike(Protocol):
    """An obstacle in the planner's terms: kind, size [m], pose `x y z, qx qy qz qw`."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def kind(self) -> str:
        """One of `KINDS`."""

    @property
    def size(self) -> tuple[float, ...]:
        """Edge lengths; radius; radius and length; nothing."""

    @property
    def pose(self) -> tuple[float, ...]:
        """In WORLD."""


def build_workcell(obstacles: Iterable[SolidLike], period: float) -> mujoco.MjModel:
    """Return the compiled model; obstacles are mocap bodies `obstacle/NAME`. Raises ModelError, InvalidValueError."""
    spec = mujoco.MjSpec.from_string(ET.tostring(_workcell_xml(), encoding="unicode"))
    spec.option.timestep = period
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.visual.global_.offwidth, spec.visual.global_.offheight = 1280, 960
    spec.worldbody.add_light(pos=[0.65, -1.0, 3.0], dir=[0.0, 0.3, -1.0], castshadow=True)
    for side in SIDES:
        _add_payload(spec, side)
        _dress_arm(spec, side)
    for obstacle in obstacles:
        _add_obstacle(spec, obstacle)
    try:
        return spec.compile()
    except ValueError as error:
        raise ModelError(f"{WORKCELL_URDF}: MuJoCo refuses it: {error}") from None


def mocap_pose(pose: Iterable[float]) -> tuple[FloatArray, FloatArray]:
    """Position and MuJoCo's quaternion (w first) of a pose `x y z, qx qy qz qw`."""
    values = np.array([float(v) for v in pose])
    return values[:3], values[[6, 3, 4, 5]]


def _workcell_xml() -> ET.Element:
    """Return the URDF in MuJoCo's form: collision shapes only, fingers fixed."""
    xml = read_urdf(share_path(WORKCELL_URDF))
    for link in xml.findall("link"):
        for visual in link.findall("visual"):
            link.remove(visual)
    for joint in xml.findall("joint"):
        if joint.get("type") == "prismatic":
            _fix(joint)
    compiler = {"discardvisual": "false", "fusestatic": "false", "balanceinertia": "true"}
    ET.SubElement(ET.SubElement(xml, "mujoco"), "compiler", compiler)
    return xml


def _fix(finger: ET.Element) -> None:
    axis, origin = finger.find("axis"), finger.find("origin")
    if axis is None or origin is None:
        raise ModelError(f"{WORKCELL_URDF}: joint {finger.get('name')!r}: axis and origin are required")
    along = FINGER_OPENING * np.array(axis.get("xyz", "").split(), dtype=np.float64)
    place = np.array(origin.get("xyz", "").split(), dtype=np.float64) + along
    origin.set("xyz", " ".join(map(str, place.tolist())))
    finger.set("type", "fixed")
    for part in ("axis", "limit", "mimic"):
        element = finger.find(part)
        if element is not None:
            finger.remove(element)


def _dress_arm(spec: mujoco.MjSpec, side: str) -> None:
    """Set rotor inertias, contact bits and colour of one arm."""
    for i, inertia in enumerate(PROFILES["arm"].armature):
        spec.joint(f"{side}_joint{i + 1}").armature = inertia
    for body in spec.bodies:
        if not body.name.startswith(side + "_") or body.name.endswith(PAYLOAD):
            continue
        for geom in body.geoms:
            geom.contype, geom.conaffinity = BITS[side]
            geom.gap = SEEN
            geom.rgba = COLORS[side] if "link" in body.name else [0.25, 0.27, 0.30, 1.0]


def _add_payload(spec: mujoco.MjSpec, side: str) -> None:
    """Add a load at the grasp point that is unknown to the controllers; its mass is zero until set."""
    body = spec.body(f"{side}_tool").add_body(name=side + PAYLOAD)
    body.mass, body.inertia, body.explicitinertial = 1e-6, [1e-9] * 3, True


def _add_obstacle(spec: mujoco.MjSpec, solid: SolidLike) -> None:
    if solid.kind not in KINDS:
        raise InvalidValueError(f"obstacle {solid.name}: kind", solid.kind, f"allowed: {', '.join(KINDS)}")
    position, quaternion = mocap_pose(solid.pose)
    body = spec.worldbody.add_body(name=OBSTACLE + solid.name, pos=position, quat=quaternion, mocap=True)
    body.add_geom(
        name=OBSTACLE + solid.name,
        type=KINDS[solid.kind],
        size=_size(solid),
        rgba=[0.80, 0.82, 0.84, 1.0] if solid.kind == "half_space" else COLORS[OBSTACLE],
        contype=BITS[OBSTACLE][0],
        conaffinity=BITS[OBSTACLE][1],
        gap=SEEN,
    )


def _size(solid: SolidLike) -> list[float]:
    size = solid.size
    if solid.kind == "box":
        return [0.5 * edge for edge in size]
    if solid.kind == "cylinder":
        return [size[0], 0.5 * size[1], 0.0]
    return [size[0], 0.0, 0.0] if solid.kind == "sphere" else [2.0, 2.0, 0.1]
