"""Motions shown to the simulated arm, recorded as a graph records them: joints, wrench and fingers in a bag."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from telerobot_nodes import graph
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.hardware import ARM
from telerobot_nodes.macros import OfflineRobot
from telerobot_nodes.motion.law import Termination
from telerobot_nodes.motion.primitives import PrimitiveRequest
from telerobot_nodes.operator.recording import BagTopic, BagWriter, message_types

JOINTS, WRENCH, STATE = "joint_states", "hardware_interface/wrench", "hardware_interface/state"
SAMPLE = 0.005  # [s] between measurements, as `hardware_interface` publishes them
REST = 0.5  # [s] before and after a motion
HAND_TIME = 8.0  # [s] that a hand moves the tool
START = 10**18  # [ns] receipt of the first message

TURN = (0.03, -0.04, -0.06, 0.0, 0.0, float(np.sin(0.15)), float(np.cos(0.15)))


class Watch:
    """What happens to an arm in physics: its true tool, and, into a bag, what its sensors measure."""

    def __init__(self, robot: OfflineRobot, bag: Path | None = None) -> None:
        self._rig, self._bag = robot.rig, None if bag is None else _Bag(bag, robot.rig.robot)
        self._load = robot.rig.arm.read().wrench_sensor.copy()
        self._next = 0.0
        self.tool: list[FloatArray] = []
        robot.rig.after_step = self._record  # type: ignore[method-assign]

    def close(self) -> FloatArray:
        """The tool's true poses (n, 7) so far, one of each control period."""
        del self._rig.after_step
        if self._bag is not None:
            self._bag.close()
        return np.array(self.tool)

    def _record(self) -> None:
        rig = self._rig
        self.tool.append(true_tool(rig.arm))
        if self._bag is not None and rig.now >= self._next:
            self._next = rig.now + SAMPLE - 0.5 * rig.period
            measured = rig.arm.read()
            self._bag.write(
                rig.now, measured.position, measured.wrench_sensor - self._load, measured.gripper, rig._opening
            )


def true_tool(arm: Any) -> FloatArray:
    """Pose (7,) of the tool's body in WORLD as the physics has it; no kinematics of ours."""
    body = arm.data.body(f"{ARM}tool")
    w, x, y, z = body.xquat
    return np.array((*body.xpos, x, y, z, w))


def show(kind: str, robot: RobotModel, bag: Path) -> FloatArray:
    """Show one of MOTIONS to an arm at home and record it; the tool's true poses (n, 7)."""
    offline = OfflineRobot(robot, board=False)
    offline.rig.hold(REST)
    watch = Watch(offline, bag)
    offline.rig.hold(REST)
    MOTIONS[kind](offline)
    offline.rig.hold(REST)
    return watch.close()


def _moves(offline: OfflineRobot) -> None:
    """Straight moves, one with a turn, and fingers that close in between."""
    _run(offline, "cartesian_guarded", {"tr_rel_dest": TURN})
    _run(offline, "cartesian_guarded", {"tr_rel_dest": (0.05, 0.02, 0.0, 0.0, 0.0, 0.0, 1.0)})
    _run(offline, "free_grasp", {"grip_width": 0.03})
    _run(offline, "cartesian_guarded", {"tr_rel_dest": (0.0, 0.0, 0.04, 0.0, 0.0, 0.0, 1.0)})


def _joints(offline: OfflineRobot) -> None:
    """Motions of the joints: the tool's path is bent and it turns all the way."""
    q = offline.rig.q
    for turn in ((0.3, 0.1, -0.1, 0.2, -0.2, 0.3), (-0.1, -0.1, 0.15, -0.2, 0.1, -0.4)):
        q = q + np.array(turn)
        _run(offline, "joint_guarded", {"joint_dest": tuple(q.tolist()), "time_vel_val": 0.2})


def _hand(offline: OfflineRobot) -> None:
    """A hand that leads the tool along a bent path, turning it, without a rest."""
    rig, began = offline.rig, offline.rig.now

    def lead() -> None:
        if not rig.executive.running:
            return
        share = (rig.now - began) / HAND_TIME
        if share > 1.0:
            rig.executive.stop()
            return
        rate = np.sin(np.pi * share) ** 2 * rig.period  # begins and ends at rest
        wave = 2.0 * np.pi * share
        increment = (
            0.04 * np.cos(wave),
            0.04 * np.sin(wave),
            0.03 * np.cos(2.0 * wave),
            0.08,
            0.0,
            0.12 * np.sin(wave),
        )
        rig.executive.teleoperate(rate * np.array(increment))

    rig.before_step = lead  # type: ignore[method-assign]
    try:
        _run(offline, "force_reflecting_teleoperation", {}, Termination.EXTERNAL_STOP)
    finally:
        del rig.before_step


MOTIONS: Mapping[str, Callable[[OfflineRobot], None]] = {"moves": _moves, "joints": _joints, "hand": _hand}


def _run(
    offline: OfflineRobot, name: str, values: Mapping[str, Any], expected: Termination = Termination.COMPLETED
) -> None:
    end = offline.rig.execute(PrimitiveRequest(1, name, values), offline.rig.now + 60.0)
    allowed = (expected, Termination.OPENED, Termination.GRIPPED, Termination.BLOCKED)
    if end.refusal or end.reason not in allowed:
        raise InvalidValueError(name, end.refusal or end.reason.name, f"allowed: {expected.name}")


class _Bag:
    """A recording of the three topics that `macro learn` reads."""

    def __init__(self, folder: Path, robot: RobotModel) -> None:
        self._names = list(robot.joint_names)
        self._store = message_types()
        entries = {entry.name: entry for entry in graph.TOPICS if entry.name in (JOINTS, WRENCH, STATE)}
        self._kinds = {name: entry.type for name, entry in entries.items()}
        self._writer = BagWriter(
            folder, {f"/{name}": BagTopic(entry.type, entry.qos) for name, entry in entries.items()}
        )
        kinds = self._store.types
        self._stamp = kinds["builtin_interfaces/msg/Time"](0, 0)
        self._header = kinds["std_msgs/msg/Header"](self._stamp, "")

    def write(self, now: float, q: FloatArray, wrench: FloatArray, opening: float, reference: float) -> None:
        kinds, none = self._store.types, np.zeros(0)
        vector = kinds["geometry_msgs/msg/Vector3"]
        self._add(now, JOINTS, kinds["sensor_msgs/msg/JointState"](self._header, self._names, q, none, none))
        felt = kinds["geometry_msgs/msg/Wrench"](vector(*wrench[:3].tolist()), vector(*wrench[3:].tolist()))
        self._add(now, WRENCH, kinds["geometry_msgs/msg/WrenchStamped"](self._header, felt))
        state = kinds["telerobot/msg/HardwareState"](
            self._stamp, 0, "", 0, 0, "", 0, float(opening), float(reference), 0.0, 1.0
        )
        self._add(now, STATE, state)

    def close(self) -> None:
        counts = self._writer.close()
        if counts.dropped or counts.failure:
            raise InvalidValueError("bag", str(self._writer.folder), f"allowed: a disk with room; {counts}")

    def _add(self, now: float, name: str, message: Any) -> None:
        data = bytes(self._store.serialize_cdr(message, self._kinds[name]))
        self._writer.write(f"/{name}", START + round(now * 1e9), data)
