"""What an arm file says, before the arm is asked: joints, units of limits, sensor, hand."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.doctor.arm.lines import Line, warning

TURNS = 4.0 * np.pi  # [rad] no joint of an arm has a limit beyond; degrees have
FASTEST = 20.0  # [rad/s]
PUSHES = 500.0  # [rad/s^2]


def file_lines(robot: RobotModel) -> Iterator[Line]:
    """Check the file's values by themselves."""
    where = f"{robot.urdf_path.name}, tool {robot.tool_frame}, driver {robot.driver.name}"
    yield Line("file", f"{robot.dof} joints of {where}")
    yield _limits(robot)
    if not robot.wrist_sensor:
        yield Line("sensor", "none: what needs a wrist sensor is refused")
        return
    frame = robot.sensor_frame or robot.tool_frame
    hand = f"{robot.hand.mass:g} kg hang on it" if robot.hand else "no hand is declared"
    yield Line("sensor", f"in {frame}; {hand}")


def _limits(robot: RobotModel) -> Line:
    limits = robot.limits
    for name, values, most, unit in (
        ("position", np.maximum(np.abs(limits.lower), np.abs(limits.upper)), TURNS, "rad"),
        ("velocity", limits.velocity, FASTEST, "rad/s"),
        ("acceleration", limits.acceleration, PUSHES, "rad/s^2"),
    ):
        i = int(np.argmax(values))
        if values[i] > most and robot.joint_names[i] not in robot.continuous:
            found = f"{robot.joint_names[i]}: {name} up to {values[i]:g} {unit}"
            return warning("limits", found, f"an arm has up to {most:.3g}: degrees? Set `limits` in the arm file")
    return Line("limits", f"up to {limits.velocity.max():g} rad/s and {limits.acceleration.max():g} rad/s^2")
