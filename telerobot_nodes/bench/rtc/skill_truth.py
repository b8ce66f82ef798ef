"""What is true in the physics after a command, and what of the database contradicts it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.rtc.world import DatabaseError, Validity, View

POSE_ERROR = 0.015  # [m] an entry of a pose farther from the truth is false
ANGLE_ERROR, TRAVEL_ERROR, WIDTH_ERROR = 0.15, 0.02, 0.005  # [rad], [m], [m]
GRIPPED = 2.0  # [N] of the arm on what it holds
BODIES = {"crank": "knob"}  # of things that are gripped by another body than that of their name
ANGLES = {"crank": ("crank", 1.0), "door": ("door", -1.0), "bolt": ("bolt", 1.0)}  # joint and its sign
WIDTHS = {"module": 0.040, "box": 0.050, "pin": 0.024, "stud": 0.020}  # [m]
UPRIGHT = 0.9998  # cosine of 1 degree
RIMS = {"hole": (0.55, -0.12, 0.27), "thread": (0.43, 0.0, 0.24)}  # [m]
HALF_HEIGHTS = {"pin": 0.04, "stud": 0.03}  # [m]


@dataclass(frozen=True)
class Sample:
    """The arm on the way: tool position (3,) [m], forces [N] on bodies."""

    time: float
    tool: FloatArray
    forces: Mapping[str, float]


@dataclass(frozen=True)
class Seen:
    """The truth at one moment, and the valid entries of the database."""

    loose: Mapping[str, FloatArray]  # poses (7,)
    joints: Mapping[str, float]  # [rad], [m]
    forces: Mapping[str, float]  # [N]
    tool: FloatArray  # (7,)
    opening: float  # [m]
    valid: Mapping[str, object]  # entries; a pose is one (7,) in WORLD
    wrench: float = 0.0  # [N] measured, tared
    track: tuple[Sample, ...] = field(default=(), repr=False)

    def held(self, name: str) -> bool:
        """Whether the fingers press on it from both sides."""
        pressed = self.forces.get(BODIES.get(name, name), 0.0) > GRIPPED
        return pressed and (name not in WIDTHS or abs(self.opening - WIDTHS[name]) < WIDTH_ERROR)

    def inside(self, name: str, rim: str, depth: float) -> bool:
        """Whether its lower end is that deep [m] below the middle of a rim."""
        x, y, z = self.loose[name][:3]
        low = z - HALF_HEIGHTS[name] * self.upright(name)
        near = np.hypot(x - RIMS[rim][0], y - RIMS[rim][1]) < 0.01
        return bool(near and low < RIMS[rim][2] - depth)

    def upright(self, name: str) -> float:
        """Cosine of its tilt."""
        qx, qy = self.loose[name][3:5]
        return float(1.0 - 2.0 * (qx * qx + qy * qy))

    def stands_at(self, name: str, xy: tuple[float, float], height: float) -> bool:
        """Whether it stands there, `height` [m] of its middle over the floor, untouched by the arm."""
        x, y, z = self.loose[name][:3]
        there = np.hypot(x - xy[0], y - xy[1]) < 0.01 and abs(z - height) < 0.005
        return bool(there and self.upright(name) > UPRIGHT and self.forces.get(name, 0.0) < 0.5)


def valid_entries(view: View, loose: Iterable[str]) -> dict[str, object]:
    """What the database calls valid; the pose of a loose object in WORLD, whatever it is relative to."""
    entries = {item.key: item.value for item in view.query() if item.validity is Validity.VALID}
    poses = {f"{name}.pose": _pose(view, name) for name in loose if f"{name}.pose" in entries}
    return {key: value for key, value in {**entries, **poses}.items() if value is not None}


def _pose(view: View, name: str) -> FloatArray | None:
    """Its pose in WORLD where all of it is valid."""
    try:
        return view.pose(name, Validity.VALID)
    except DatabaseError:
        return None


def false_entries(seen: Seen) -> list[str]:
    """Valid entries of the database that are not so."""
    checks = (_poses, _angles, _hand, _inside)
    return [text for check in checks for text in check(seen)]


def _poses(seen: Seen) -> list[str]:
    said = {name: seen.valid.get(f"{name}.pose") for name in seen.loose}
    known = {name: np.asarray(pose)[:3] for name, pose in said.items() if pose is not None}
    off = {name: float(np.linalg.norm(position - seen.loose[name][:3])) for name, position in known.items()}
    return [f"{name}.pose is {1e3 * error:.0f} mm off" for name, error in off.items() if error > POSE_ERROR]


def _angles(seen: Seen) -> list[str]:
    found = []
    for name, (joint, sign) in ANGLES.items():
        said = seen.valid.get(f"{name}.angle")
        if isinstance(said, float) and abs(said - sign * seen.joints[joint]) > ANGLE_ERROR:
            found.append(f"{name}.angle is {said:.2f} rad, not {sign * seen.joints[joint]:.2f}")
    travel = seen.valid.get("drawer.travel")
    if isinstance(travel, float) and abs(travel - seen.joints["drawer"]) > TRAVEL_ERROR:
        found.append(f"drawer.travel is {travel:.3f} m, not {seen.joints['drawer']:.3f}")
    return found


def _hand(seen: Seen) -> list[str]:
    found, said = [], seen.valid.get("left_arm.holds")
    if said and not seen.held(str(said)):
        found.append(f"left_arm does not hold {said}")
    if said == "":
        found += [f"left_arm holds {name}" for name in WIDTHS if seen.held(name)]
    width = seen.valid.get("left_gripper.width")
    if isinstance(width, float) and abs(width - seen.opening) > WIDTH_ERROR:
        found.append(f"left_gripper.width is {width:.3f} m, not {seen.opening:.3f}")
    return found


def _inside(seen: Seen) -> list[str]:
    pairs = (("pin", "hole", 0.01), ("stud", "thread", 0.002))
    return [f"{name} is not in {rim}" for name, rim, depth in pairs
            if seen.valid.get(f"{name}.in") == rim and not seen.inside(name, rim, depth)]  # fmt: skip
