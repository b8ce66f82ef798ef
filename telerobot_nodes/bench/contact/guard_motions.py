"""Random guarded motions: a plane or a box near the arm, and a primitive of any kind, at any speed, that may cross it.

A motion is values only; `guard.py` runs it. The same seed makes the same motions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray

SLOWEST, FASTEST = 0.01, 2.0  # [m/s] asked for; the joints' limits may allow less
REACH = 0.3  # [m] of a motion
NEAR = 0.2  # [m] between the tool where it begins and what guards it
SIZE = 0.05  # [m] of the points of a tool about NOM
TURN = 0.8  # [rad]
JOINTS = 0.6  # [rad] of a motion in joint space
LASTS = 1.0  # [s] motions by hand and by force
KINDS = (
    *("cartesian_guarded", "joint_guarded", "joint_path", "move_to_touch", "gcm", "compliant_grasp"),
    "force_reflecting_teleoperation",
)


@dataclass(frozen=True)
class GuardedMotion:
    """One primitive, and what moves the tool besides."""

    kind: str
    values: Mapping[str, Any]
    target: FloatArray | None = None  # (7,) NOM in WORLD where the motion ends; None: no destination
    hand: FloatArray = field(default_factory=lambda: np.zeros(6))  # [m/s], [rad/s] along world axes
    wrench: FloatArray = field(default_factory=lambda: np.zeros(6))  # [N], [N m] at the sensor
    halt_at: float = np.inf  # [s]


def random_motion(random: np.random.Generator, robot: RobotModel, q: FloatArray) -> GuardedMotion:
    """A motion that begins with the arm at rest at `q` (dof,) [rad]."""
    kind = KINDS[int(random.integers(len(KINDS)))]
    T_nom = pin.SE3(pin.exp3(random.uniform(-0.5, 0.5, 3)), np.array([*random.uniform(-0.05, 0.05, 2), 0.1]))
    fixed = kind in ("joint_guarded", "joint_path", "compliant_grasp") or random.random() < 0.5
    T_nom = pin.SE3.Identity() if fixed else T_nom
    T_start = robot.forward(q) * T_nom
    values = {} if fixed else {"tr_nom": pin.SE3ToXYZQUAT(T_nom).tolist()}
    values |= _guard(random, T_start.translation)
    speed = float(SLOWEST * (FASTEST / SLOWEST) ** random.random())
    halt_at = float(random.uniform(0.0, LASTS)) if random.random() < 0.1 else np.inf
    target, more = _way(random, kind, robot, q, T_start, T_nom, speed)
    hand, wrench = np.zeros(6), np.zeros(6)
    if kind in ("gcm", "cartesian_guarded", "force_reflecting_teleoperation") and random.random() < 0.7:
        hand = np.concatenate((speed * _direction(random), random.uniform(-1.0, 1.0, 3)))
        more |= {"tele_mode": "world", "sel_vect_tp": [True] * 6}
        more |= {"max_tele_vel": [3.0] * 6, "max_sf_vel": [3.0, 3.0]}
    if kind in ("gcm", "compliant_grasp", "force_reflecting_teleoperation") and random.random() < 0.7:
        wrench = np.concatenate((random.uniform(-20.0, 20.0, 3), random.uniform(-1.0, 1.0, 3)))
        more |= {"comply_vect": [True] * 6, "force_gains": [0.01] * 3 + [0.1] * 3, "max_force_vel": [2.0] * 6}
    return GuardedMotion(kind, {**values, **more}, target, hand, wrench, halt_at)


def _guard(random: np.random.Generator, start: FloatArray) -> dict[str, Any]:
    """A plane, a box, or both, around a tool that begins inside; its own axis may begin partly beyond."""
    values: dict[str, Any] = {"guard_band": float(random.choice((0.0, 0.002, 0.01, 0.03)))}
    size = 0.0
    if random.random() < 0.5:
        values["guard_points"] = random.uniform(-SIZE, SIZE, 9).tolist()
        size = np.sqrt(3.0) * SIZE
    which = random.integers(3)
    if which != 1:
        normal = _direction(random)
        point = start - (size + NEAR * random.random() ** 2) * normal
        values["guard_plane"] = [*point.tolist(), *normal.tolist()]
    if which != 0:
        corners = (start - size - random.uniform(0.01, NEAR, 3), start + size + random.uniform(0.01, NEAR, 3))
        values["guard_box"] = np.concatenate(corners).tolist()
    return values


def _way(
    random: np.random.Generator,
    kind: str,
    robot: RobotModel,
    q: FloatArray,
    T_start: pin.SE3,
    T_nom: pin.SE3,
    speed: float,
) -> tuple[FloatArray | None, dict[str, Any]]:
    """Where NOM is to end, and the parameters that take it there."""
    unfelt = {"max_force_thres": 0.0, "max_torque_thres": 0.0}
    if kind in ("joint_guarded", "joint_path"):
        end = np.clip(q + random.uniform(-JOINTS, JOINTS, robot.dof), robot.limits.lower, robot.limits.upper)
        target = pin.SE3ToXYZQUAT(robot.forward(end) * T_nom)
        share = max(speed / FASTEST, 1e-3)
        if kind == "joint_path":
            return target, {**unfelt, "via_points": end.tolist(), "path_speed": share}
        return target, {**unfelt, "joint_dest": end.tolist(), "time_vel_val": speed}
    if kind in ("compliant_grasp", "force_reflecting_teleoperation"):
        return None, {**unfelt, "grip_time" if kind == "compliant_grasp" else "end_time": LASTS}
    T_rel = pin.SE3(pin.exp3(random.uniform(-TURN, TURN, 3)), REACH * random.uniform(-1.0, 1.0, 3))
    values: dict[str, Any] = {"tr_rel_dest": pin.SE3ToXYZQUAT(T_rel).tolist(), "time_vel_val": speed}
    if kind != "move_to_touch":
        values |= {**unfelt, "end_time": LASTS * float(random.random() < 0.3)}
    return pin.SE3ToXYZQUAT(T_start * T_rel), values


def _direction(random: np.random.Generator) -> FloatArray:
    """A random unit vector (3,)."""
    v = random.standard_normal(3)
    return np.asarray(v / np.linalg.norm(v))
