"""Random guarded motions: a plane or a box near the arm, and a primitive of any kind, at any speed, that may cross it.

A motion is values only; `guard.py` runs it. The same seed makes the same motions. A slow motion begins nearer to what
guards it than a fast one, so that each meets it within a second or two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pinocchio as pin

from telerobot_nodes.bench.contact.guard_judge import Planes, Solids, ToolGeometry, box, point
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray

SLOWEST, FASTEST = 0.01, 2.0  # [m/s] asked for; the joints' limits may allow less
REACH = 0.3  # [m] of a motion, at most
NEAR = 0.2  # [m] between the tool where it begins and what guards it, at most
DEEP = 0.02  # [m] beyond, where a tool begins there
SIZE = 0.06  # [m] half sizes of a held box, at most
TURN = 0.8  # [rad]
JOINTS = 0.6  # [rad] of a motion in joint space
LASTS = 1.0  # [s] motions by hand and by force
KINDS = (
    *("cartesian_guarded", "joint_guarded", "joint_path", "move_to_touch", "gcm", "compliant_grasp"),
    "force_reflecting_teleoperation",
)
BY_HAND = ("gcm", "cartesian_guarded", "force_reflecting_teleoperation")
BY_FORCE = ("gcm", "compliant_grasp", "force_reflecting_teleoperation")


@dataclass(frozen=True)
class GuardedMotion:
    """One primitive, and what moves the tool besides."""

    kind: str
    values: Mapping[str, Any]
    planes: Planes
    solids: Solids  # the whole tool and what it holds, in the frame of the last joint
    target: FloatArray | None = None  # (4, 4) of the last joint where the motion ends; None: no destination
    hand: FloatArray = field(default_factory=lambda: np.zeros(6))  # [m/s], [rad/s] along world axes
    wrench: FloatArray = field(default_factory=lambda: np.zeros(6))  # [N], [N m] at the sensor
    halt_at: float = np.inf  # [s]


def random_motion(random: np.random.Generator, robot: RobotModel, tool: ToolGeometry, q: FloatArray) -> GuardedMotion:
    """A motion that begins with the arm at rest at `q` (dof,) [rad]."""
    kind = KINDS[int(random.integers(len(KINDS)))]
    T_tn_nom = pin.SE3(pin.exp3(random.uniform(-0.5, 0.5, 3)), np.array([*random.uniform(-0.05, 0.05, 2), 0.1]))
    fixed = kind in ("joint_guarded", "joint_path") or random.random() < 0.5
    T_tn_nom = pin.SE3.Identity() if fixed else T_tn_nom
    T_last_nom = pin.SE3(tool.T_last_tn) * T_tn_nom
    speed = float(SLOWEST * (FASTEST / SLOWEST) ** random.random())
    values, solids = _held(random, tool.solids.with_others(point(T_last_nom.translation)), T_last_nom)
    values |= {} if fixed else {"tr_nom": pin.SE3ToXYZQUAT(T_tn_nom).tolist()}
    values |= _guard(random, tool.last(q[None]), solids, speed)
    target, more = _way(random, kind, robot, q, T_tn_nom, speed)
    if target is not None:
        target = (target * T_last_nom.inverse()).homogeneous
    hand, wrench = np.zeros(6), np.zeros(6)
    if kind in BY_HAND and random.random() < 0.7:
        hand = np.concatenate((speed * _direction(random), random.uniform(-1.0, 1.0, 3)))
        more |= {"tele_mode": "world", "sel_vect_tp": [True] * 6}
        more |= {"max_tele_vel": [3.0] * 6, "max_sf_vel": [3.0, 3.0]}
    if kind in BY_FORCE and random.random() < 0.7:
        wrench = np.concatenate((random.uniform(-20.0, 20.0, 3), random.uniform(-1.0, 1.0, 3)))
        more |= {"comply_vect": [True] * 6, "force_gains": [0.01] * 3 + [0.1] * 3, "max_force_vel": [2.0] * 6}
    halt_at = float(random.uniform(0.0, LASTS)) if random.random() < 0.1 else np.inf
    planes = Planes(*(np.array(values[name]) if name in values else None for name in ("guard_plane", "guard_box")))
    return GuardedMotion(kind, {**values, **more}, planes, solids, target, hand, wrench, halt_at)


def _held(random: np.random.Generator, solids: Solids, T_last_nom: pin.SE3) -> tuple[dict[str, Any], Solids]:
    """In every second motion a box that the hand holds somewhere about NOM: its corners as `guard_points`."""
    if random.random() < 0.5:
        return {}, solids
    half = random.uniform(0.005, SIZE, 3)
    T = pin.SE3(pin.exp3(random.uniform(-1.0, 1.0, 3)), random.uniform(-SIZE, SIZE, 3))
    signs = np.array(np.meshgrid(*[(-1.0, 1.0)] * 3)).reshape(3, -1).T
    corners = [T.act(half * sign) for sign in signs]
    return {"guard_points": np.concatenate(corners).tolist()}, solids.with_others(
        box((T_last_nom * T).homogeneous, half)
    )


def _guard(random: np.random.Generator, T_last: FloatArray, solids: Solids, speed: float) -> dict[str, Any]:
    """A plane, a box, or both, around the tool; one of ten begins partly beyond."""
    values: dict[str, Any] = {"guard_band": float(random.choice((0.0, 0.002, 0.01, 0.03)))}
    near = min(NEAR, 0.5 * speed * LASTS)

    def room(plane: FloatArray) -> float:
        """Where the plane goes, from its point: at a random distance of the tool."""
        wanted = random.uniform(-DEEP, 0.0) if random.random() < 0.1 else values["guard_band"] + near * random.random()
        return float(Planes(plane, None).distances(T_last, solids).min()) - wanted

    which = random.integers(3)
    if which != 1:
        plane = np.concatenate((T_last[0, :3, 3], _direction(random)))
        plane[:3] += room(plane) * plane[3:]
        values["guard_plane"] = plane.tolist()
    if which != 0:
        low, high = (
            [T_last[0, i, 3] + side * room(np.array([*T_last[0, :3, 3], *(side * np.eye(3)[i])])) for i in range(3)]
            for side in (1.0, -1.0)
        )
        values["guard_box"] = [*map(float, low), *map(float, high)]
    return values


def _way(
    random: np.random.Generator, kind: str, robot: RobotModel, q: FloatArray, T_tn_nom: pin.SE3, speed: float
) -> tuple[pin.SE3 | None, dict[str, Any]]:
    """Where NOM is to end, and the parameters that take it there."""
    unfelt = {"max_force_thres": 0.0, "max_torque_thres": 0.0}
    if kind in ("joint_guarded", "joint_path"):
        share = max(speed / FASTEST, 1e-3)
        most = min(JOINTS, LASTS * (speed if kind == "joint_guarded" else 3.0 * share))
        end = np.clip(q + random.uniform(-most, most, robot.dof), robot.limits.lower, robot.limits.upper)
        target = robot.forward(end) * T_tn_nom
        if kind == "joint_path":
            return target, {**unfelt, "via_points": end.tolist(), "path_speed": share}
        return target, {**unfelt, "joint_dest": end.tolist(), "time_vel_val": speed}
    if kind in ("compliant_grasp", "force_reflecting_teleoperation"):
        return None, {**unfelt, "grip_time" if kind == "compliant_grasp" else "end_time": LASTS}
    reach = min(REACH, 1.5 * speed * LASTS)
    T_rel = pin.SE3(pin.exp3(TURN * reach / REACH * random.uniform(-1.0, 1.0, 3)), reach * random.uniform(-1.0, 1.0, 3))
    values: dict[str, Any] = {"tr_rel_dest": pin.SE3ToXYZQUAT(T_rel).tolist(), "time_vel_val": speed}
    if kind != "move_to_touch":
        values |= {**unfelt, "end_time": LASTS * float(random.random() < 0.3)}
    return robot.forward(q) * T_tn_nom * T_rel, values


def _direction(random: np.random.Generator) -> FloatArray:
    """A random unit vector (3,)."""
    v = random.standard_normal(3)
    return np.asarray(v / np.linalg.norm(v))
