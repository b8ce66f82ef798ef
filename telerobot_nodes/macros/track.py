"""A motion as it was shown: tool, force and fingers over time, from a recorded run [US5231693 claim 5].

`follow.py` makes the same of a running graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray, finite_array, pose_from_se3
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.recording import BagReader

PERIOD = 0.02  # [s] between the samples of a track
JOINTS, WRENCH, HARDWARE = "joint_states", "hardware_interface/wrench", "hardware_interface/state"


@dataclass(frozen=True)
class Track:
    """Samples of one arm, evenly spaced in time."""

    time: FloatArray  # (n,) [s]
    pose: FloatArray  # (n, 7) TN in WORLD
    force: FloatArray  # (n,) [N] length of the measured force
    opening: FloatArray  # (n,) [m] measured
    reference: FloatArray  # (n,) [m] opening that the fingers were told; NaN: not known
    joints: FloatArray = field(default_factory=lambda: np.empty((0, 0)))  # (n, dof) [rad]; (0, 0): not known

    def __post_init__(self) -> None:
        n = len(self.time)
        if n < 2 or not np.all(np.diff(self.time) > 0.0):
            raise InvalidValueError("track.time", n, "allowed: two samples or more, each later than the one before")
        finite_array(self.pose, "track.pose", 7 * n)
        finite_array(self.force, "track.force", n)
        finite_array(self.opening, "track.opening", n)
        finite_array(self.joints, "track.joints")
        if len(self.joints) not in (0, n):
            raise InvalidValueError("track.joints (length)", len(self.joints), f"allowed: {n}, or none")

    def part(self, begin: float, end: float) -> Track:
        """The samples between two times [s]. Raises InvalidValueError when there are fewer than two."""
        k = (self.time >= begin) & (self.time <= end)
        if np.count_nonzero(k) < 2:
            whole = f"allowed: a part of {self.time[0]:.2f} .. {self.time[-1]:.2f} s"
            raise InvalidValueError("track", f"{begin:g} .. {end:g} s", whole)
        joints = self.joints[k] if len(self.joints) else self.joints
        return Track(self.time[k], self.pose[k], self.force[k], self.opening[k], self.reference[k], joints)


def read_track(bag: Path, robot: RobotModel, namespace: str = "") -> Track:
    """The measured motion of an arm in a bag. Raises InvalidValueError naming the topic that is missing."""
    prefix = f"/{namespace.strip('/')}/" if namespace else "/"
    rows: dict[str, list[tuple[float, ...]]] = {JOINTS: [], WRENCH: [], HARDWARE: []}
    with BagReader(bag) as reader:
        for topic, time, message in reader.messages([prefix + name for name in rows]):
            name = topic.removeprefix(prefix)
            rows[name].append((time, *_READ[name](message, robot)))
    if len(rows[JOINTS]) < 2:
        raise InvalidValueError("bag", str(bag), f"allowed: with {prefix}{JOINTS} of {robot.name}")
    joints = np.array(rows[JOINTS])
    at = np.arange(joints[0, 0], joints[-1, 0], PERIOD)
    q = np.column_stack([np.interp(at, joints[:, 0], column) for column in joints[:, 1:].T])
    pose = np.array([pose_from_se3(robot.forward(row)) for row in q])
    (felt,), (opening, reference) = sampled(at, rows[WRENCH], 1), sampled(at, rows[HARDWARE], 2)
    return Track(at, pose, felt, opening, reference, q)


def sampled(time: FloatArray, rows: Sequence[tuple[float, ...]], count: int) -> list[FloatArray]:
    """Columns at the times (n,), of rows that begin with theirs; zeros where nothing was measured."""
    if not rows:
        return [np.zeros(len(time)) for _ in range(count)]
    table = np.array(rows)
    return [np.interp(time, table[:, 0], table[:, k + 1]) for k in range(count)]


def joints_of(message: Any, robot: RobotModel) -> tuple[float, ...]:
    """Measured joints [rad] of a JointState, in the order of the model. Raises InvalidValueError: of another robot."""
    found = dict(zip(message.name, message.position, strict=False))
    missing = [name for name in robot.joint_names if name not in found]
    if missing:
        raise InvalidValueError("joint_states.name", missing[0], f"allowed: a recording of {robot.name}")
    return tuple(found[name] for name in robot.joint_names)


def force_of(message: Any) -> float:
    """Length [N] of the force of a WrenchStamped."""
    force = message.wrench.force
    return float(np.linalg.norm((force.x, force.y, force.z)))


_READ: dict[str, Any] = {
    JOINTS: joints_of,
    WRENCH: lambda message, _robot: (force_of(message),),
    HARDWARE: lambda message, _robot: (message.gripper, message.gripper_reference),
}
