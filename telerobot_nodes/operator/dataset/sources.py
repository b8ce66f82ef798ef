"""What a frame is made of, as recorded: measured joints, setpoints, wrench, fingers and pictures of one arm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.recording import BagReader

JOINTS, CONTROL, HARDWARE = "joint_states", "gcmsf_control/state", "hardware_interface/state"
WRENCH, PICTURES = "hardware_interface/wrench", "camera/image/compressed"
_AXES = ("x", "y", "z")
_WRENCH = [f"wrench.{kind}.{axis}" for kind in ("force", "torque") for axis in _AXES]


@dataclass(frozen=True)
class Series:
    """One quantity over time. `quaternion`: the last four columns are one."""

    topic: str
    time: FloatArray  # (n,) [s, from the bag's start] receipts, growing
    values: FloatArray  # (n, k)
    names: tuple[str, ...]
    quaternion: bool = False


@dataclass(frozen=True)
class Sources:
    """Everything of one arm that frames are made of. `pictures`: receipts (n,) [s]; empty: none was recorded."""

    measured: Series  # joints
    fingers: Series | None  # measured opening, commanded opening [m]
    wrench: Series | None
    setpoint: Series  # joints
    tool: Series  # setpoint of the tool in WORLD
    pictures: FloatArray = field(default_factory=lambda: np.empty(0))

    @property
    def numbers(self) -> list[Series]:
        """Every series of numbers there is."""
        return [entry for entry in (self.measured, self.fingers, self.wrench, self.setpoint, self.tool) if entry]


def read_sources(bag: BagReader, prefix: str, robot: RobotModel) -> Sources:
    """The series of the arm whose topics begin with `prefix`. Raises InvalidValueError naming bag and topic."""
    dof = robot.dof
    measured = _needed(bag, prefix + JOINTS, ["position"])
    order = _order(bag, prefix + JOINTS, robot.joint_names)
    control = _needed(bag, prefix + CONTROL, ["joint_position", "tool_pose"])
    fingers = bag.columns(prefix + HARDWARE, ["gripper", "gripper_reference"])
    wrench = bag.columns(prefix + WRENCH, _WRENCH)
    for name, width in (("joint_position", dof), ("tool_pose", 7)):
        found = control[name].shape[1]
        if found != width:
            field = f"{bag.path}: {prefix}{CONTROL}: {name} (length)"
            raise InvalidValueError(field, found, f"allowed: {width}, of {robot.name}")
    joints = tuple(f"{name}.pos" for name in robot.joint_names)
    poses = ("tool.x", "tool.y", "tool.z", "tool.qx", "tool.qy", "tool.qz", "tool.qw")
    felt = tuple(f"{kind}.{axis}" for kind in ("force", "torque") for axis in _AXES)
    places = bag.index.places(prefix + PICTURES)
    return Sources(
        _series(prefix + JOINTS, measured["time"], measured["position"][:, order], joints),
        None if not fingers else _fingers(prefix + HARDWARE, fingers),
        None if not wrench else _series(prefix + WRENCH, wrench["time"], _table(wrench, _WRENCH), felt),
        _series(prefix + CONTROL, control["time"], control["joint_position"], joints),
        _series(prefix + CONTROL, control["time"], control["tool_pose"], poses, True),
        bag.seconds(places),
    )


def _needed(bag: BagReader, topic: str, names: Sequence[str]) -> dict[str, FloatArray]:
    found = bag.columns(topic, names)
    if not found or len(found["time"]) < 2:
        raise InvalidValueError(f"{bag.path}: {topic}", 0, "allowed: a recording with two messages or more of it")
    return found


def _order(bag: BagReader, topic: str, joints: Sequence[str]) -> list[int]:
    """Where each joint of the robot is in the messages."""
    names = list(bag.decode(topic, next(bag.each(topic))[1]).name)
    missing = [name for name in joints if name not in names]
    if missing:
        raise InvalidValueError(f"{bag.path}: {topic}: name", names, f"allowed: holding {missing[0]}; give --robot")
    return [names.index(name) for name in joints]


def _fingers(topic: str, found: dict[str, FloatArray]) -> Series | None:
    table = _table(found, ["gripper", "gripper_reference"])
    known = np.isfinite(table).all(axis=1)  # NaN: the arm has no fingers
    if not known.any():
        return None
    return _series(topic, found["time"][known], table[known], ("gripper.pos", "gripper.pos"))


def _table(found: dict[str, FloatArray], names: Sequence[str]) -> FloatArray:
    return np.column_stack([found[name] for name in names])


def _series(
    topic: str, time: FloatArray, values: FloatArray, names: tuple[str, ...], quaternion: bool = False
) -> Series:
    """Of several messages received at one time the last."""
    last = np.append(np.diff(time) > 0.0, True)
    return Series(topic, time[last], np.asarray(values, dtype=np.float64)[last], names, quaternion)
