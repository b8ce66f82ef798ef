"""The check of an arm file against its arm: the file, the arm at rest, and with `move` one small motion per joint."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from telerobot_nodes.core.robot import RobotModel, load_robot
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.doctor.arm.file_lines import file_lines
from telerobot_nodes.doctor.arm.lines import Line, Result, failed
from telerobot_nodes.doctor.arm.motion_lines import answer, intended, motion_line, planned
from telerobot_nodes.doctor.arm.quiet_lines import fault_line, quiet_lines
from telerobot_nodes.doctor.arm.sensor_axes import axes_line
from telerobot_nodes.doctor.arm.session import Record, Session, SmallMotion
from telerobot_nodes.errors import InvalidValueError, TelerobotError
from telerobot_nodes.hardware import Hardware
from telerobot_nodes.hardware.ros2_control import RemoteArm, Trouble
from telerobot_nodes.nodes.drivers import DriverSetting, make_arm

PERIOD = 0.001  # [s] of the servo
QUIET = 2.0  # [s] at rest
BEFORE = 0.2  # [s] between two motions
ATTEMPTS = 4  # of one motion, on a computer that stalls
RECOVERY = 3.0  # [s]


@dataclass(frozen=True)
class CheckSetting:
    """What is checked: an arm file, or a robot known by name; `move`: one small motion of each joint."""

    file: str
    move: bool = False


def check_arm(setting: CheckSetting, session_of: Callable[[Hardware], Session] = Session) -> Iterator[Line]:
    """Check an arm file, one line after the other; takes seconds, and with `move` some more for each joint."""
    try:
        robot = load_robot(setting.file)
        arm = make_arm(DriverSetting(robot, PERIOD, task_board=False, listen_only=not setting.move))
    except TelerobotError as error:
        yield failed("file", str(error), "docs/your_arm.md lists the keys")
        return
    yield from file_lines(robot)
    session = session_of(Hardware(robot, PERIOD, arm))
    try:
        session.open()
        yield from _on_the_arm(robot, session, setting.move)
    finally:
        session.close()


def _on_the_arm(robot: RobotModel, session: Session, move: bool) -> Iterator[Line]:
    session.watch(BEFORE)  # what is loaded at the first step is no gap
    record = session.watch(QUIET)
    if session.fault:
        yield fault_line(session.hardware.arm, session.fault)
        yield from (Line(f"motion {name}", "", Result.NOT_DONE) for name in robot.joint_names)
        return
    yield Line("connection", "the arm answers, and nothing stands against commands")
    lines = list(quiet_lines(robot, record))
    yield from lines
    if any(line.result is Result.FAILED and line.check == "rate" for line in lines):
        return
    if move:
        yield from _moved(robot, session, record)
        return
    yield from (intended(robot, record.position[-1], joint) for joint in range(robot.dof))
    yield Line("sensor axes", "told while the joints move", Result.NOT_DONE, "--move allows these motions")


def _moved(robot: RobotModel, session: Session, quiet: Record) -> Iterator[Line]:
    """Move one joint after the other; nothing moves after a motion that failed."""
    poses = [_mean(quiet, quiet.time[0])]
    for joint in range(robot.dof):
        try:
            motion, record = _one(robot, session, joint)
        except InvalidValueError as error:
            line = failed(f"motion {robot.joint_names[joint]}", str(error), "see `limits` and `place`")
        else:
            line = _line_of(robot, session, joint, motion, record)
            if line.result is not Result.FAILED:
                poses.append(_mean(record, motion.begin + motion.way, motion.begin + motion.way + motion.stay))
        yield line
        if line.result is Result.FAILED:
            left = robot.joint_names[joint + 1 :]
            yield from (Line(f"motion {name}", "", Result.NOT_DONE) for name in left)
            return
    if robot.wrist_sensor:
        yield axes_line(robot, [pose for pose in poses if np.isfinite(pose[1]).all()])


def _one(robot: RobotModel, session: Session, joint: int) -> tuple[SmallMotion, Record]:
    """Move one joint; again when this computer stalled meanwhile."""
    arm = session.hardware.arm
    for left in range(ATTEMPTS - 1, -1, -1):
        motion = planned(robot, arm.position, joint, session.now() + BEFORE)
        record = session.move(joint, motion)
        stalled = isinstance(arm, RemoteArm) and arm.trouble is Trouble.STALLED
        if not (left and stalled and session.recover(RECOVERY)):
            break
    return motion, record


def _line_of(robot: RobotModel, session: Session, joint: int, motion: SmallMotion, record: Record) -> Line:
    if session.fault:
        fault = fault_line(session.hardware.arm, session.fault)
        return failed(f"motion {robot.joint_names[joint]}", fault.found, fault.advice)
    if len(record.time) < 2:
        return failed(f"motion {robot.joint_names[joint]}", "no measurements", "this computer or the driver stalled")
    return motion_line(robot, joint, motion, answer(record, motion, joint))


def _mean(record: Record, begin: float, end: float = np.inf) -> tuple[FloatArray, FloatArray]:
    """Mean joints (dof,) and force (3,) between two times; NaN without a measurement."""
    times = record.times
    rows = np.flatnonzero((times >= begin) & (times <= end))
    if not rows.size:
        return np.full(record.position[0].size, np.nan), np.full(3, np.nan)
    return np.array(record.position)[rows].mean(axis=0), np.array(record.wrench)[rows, :3].mean(axis=0)
