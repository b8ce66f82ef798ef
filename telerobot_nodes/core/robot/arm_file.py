"""The arm file: one YAML file with all that connects an arm; docs/your_arm.md describes its keys.

It starts from a URDF or from a robot known by name. Limits can only become tighter than the URDF's. Errors name file,
line, column and key.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.config import SOURCE, FileMapping, Key, Spot, build, read_yaml
from telerobot_nodes.core.robot.description import locate, read_urdf
from telerobot_nodes.core.robot.limits import JERK_RATIO, JointLimits
from telerobot_nodes.core.robot.profiles import PROFILES, Driver, Gripper, Hand
from telerobot_nodes.core.robot.robot import RobotModel, load_urdf
from telerobot_nodes.core.robot.srdf import Srdf, read_srdf
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import ModelError

SUFFIXES = (".yaml", ".yml")
HIGHEST = 1e4  # of any limit
LONGEST_RISE = 2.0  # [s] from rest to the highest acceleration


@dataclass(frozen=True)
class JointRow:
    """Limits of one joint; None: the URDF's."""

    lower: Annotated[float | None, Key(low=-HIGHEST, high=HIGHEST)] = None  # [rad]
    upper: Annotated[float | None, Key(low=-HIGHEST, high=HIGHEST)] = None  # [rad]
    velocity: Annotated[float | None, Key(low=1e-4, high=HIGHEST)] = None  # [rad/s]
    acceleration: Annotated[float | None, Key(low=1e-3, high=HIGHEST)] = None  # [rad/s^2]
    effort: Annotated[float | None, Key(low=1e-3, high=HIGHEST)] = None  # [N m]
    jerk: Annotated[float | None, Key(low=1e-2, high=HIGHEST)] = None  # [rad/s^3]


@dataclass(frozen=True)
class GripperRow:
    """A gripper; `joints` are its fingers in the URDF, if they are there."""

    max_opening: Annotated[float, Key(low=1e-3, high=0.2)]  # [m]
    joints: tuple[str, ...] = ()


@dataclass(frozen=True)
class HandRow:
    """What hangs on the wrist sensor."""

    mass: Annotated[float, Key(low=0.0, high=50.0)]  # [kg]
    center: Annotated[tuple[float, ...], Key(low=-1.0, high=1.0)] = (0.0, 0.0, 0.0)  # [m] in SENSOR


@dataclass(frozen=True)
class ArmFile:
    """The arm file as it was written. What is not given comes from the URDF or the robot known by name."""

    urdf: str  # a file, relative to this one, or a robot known by name
    srdf: str = ""  # a file, relative to this one; empty: the one beside the URDF
    tool_frame: str = ""
    sensor_frame: str = ""
    wrist_sensor: bool | None = None  # None: as the driver's options tell
    home: Mapping[str, float] = field(default_factory=dict)  # [rad] by joint
    limits: Mapping[str, JointRow] = field(default_factory=dict)
    workspace: Annotated[tuple[float, ...], Key(low=0.01, high=10.0)] = ()  # [m] size of the box around home's tool
    gripper: GripperRow | None = None
    hand: HandRow | None = None
    driver: str = "mujoco"
    options: Mapping[str, Any] = field(default_factory=dict)  # the driver's own
    source: Annotated[Any, SOURCE] = None


def is_arm_file(name_or_path: str) -> bool:
    """True when a robot is given by an arm file."""
    return name_or_path.endswith(SUFFIXES)


def load_robot(
    name_or_path: str = "arm", tool_frame: str | None = None, T_world_base: pin.SE3 | None = None
) -> RobotModel:
    """The robot of a known name (`arm`, `panda`, `ur5`), of a URDF file, or of an arm file (`.yaml`).

    Raises ModelError; for an arm file also ParameterFileError.
    """
    if not is_arm_file(name_or_path):
        return load_urdf(name_or_path, tool_frame, T_world_base)
    path = Path(name_or_path)
    raw = read_yaml(path)
    arm = build(ArmFile, raw, Spot(str(path)))
    urdf = arm.urdf if arm.urdf in PROFILES else str(path.parent / arm.urdf)
    try:
        _check_link(urdf, arm.tool_frame, "tool_frame", raw)
        robot = load_urdf(urdf, tool_frame or arm.tool_frame or None, T_world_base)
    except ModelError as error:
        raw.reject("urdf", str(error))
    _check_link(urdf, arm.sensor_frame, "sensor_frame", raw)
    return _with_file(robot, arm, path, raw)


def _with_file(robot: RobotModel, arm: ArmFile, path: Path, raw: FileMapping) -> RobotModel:
    """The robot with the values of the arm file."""
    driver = Driver(arm.driver, raw.get("options", {}))
    if arm.wrist_sensor and not driver.feels:
        raw.reject("wrist_sensor", "true, but `options` has no `wrench`; allowed: both or none")
    limits = _limits(robot, arm.limits, raw)
    robot.model.lowerPositionLimit, robot.model.upperPositionLimit = limits.lower, limits.upper
    robot.model.velocityLimit, robot.model.effortLimit = limits.velocity, limits.effort
    return replace(
        robot,
        name=path.stem,
        limits=limits,
        home=_home(robot, limits, arm.home, raw),
        sensor_frame=arm.sensor_frame or robot.sensor_frame,
        workspace_size=_three(arm.workspace, "workspace", raw) if arm.workspace else robot.workspace_size,
        gripper=Gripper(arm.gripper.joints, arm.gripper.max_opening) if arm.gripper else robot.gripper,
        hand=Hand(arm.hand.mass, _three(arm.hand.center, "center", raw["hand"])) if arm.hand else None,
        driver=driver,
        wrist_sensor=driver.feels if arm.wrist_sensor is None else arm.wrist_sensor,
        srdf=_srdf(robot, path.parent / arm.srdf, raw) if arm.srdf else robot.srdf,
    )


def _srdf(robot: RobotModel, srdf: Path, raw: FileMapping) -> Srdf:
    """The SRDF that the arm file names; it must fit the URDF."""
    try:
        return read_srdf(srdf, ET.fromstring(robot.urdf))
    except ModelError as error:
        raw.reject("srdf", str(error))


def _limits(robot: RobotModel, rows: Mapping[str, JointRow], raw: FileMapping) -> JointLimits:
    values = {entry.name: getattr(robot.limits, entry.name).copy() for entry in fields(robot.limits)}
    for name, row in rows.items():
        i, line = _joint(robot, name, raw["limits"]), raw["limits"][name]
        for key, array in values.items():
            asked = getattr(row, key)
            if key == "jerk" and asked is None and row.acceleration is not None:
                asked = JERK_RATIO * row.acceleration
            if asked is not None:
                _check_tighter(key, asked, float(array[i]), line)
                array[i] = asked
        if values["lower"][i] >= values["upper"][i]:
            line.reject("lower", f"{values['lower'][i]:g} is not below upper {values['upper'][i]:g}")
        _check_jerk(float(values["jerk"][i]), float(values["acceleration"][i]), line)
    return JointLimits(**values)


def _check_tighter(key: str, asked: float, urdf: float, line: FileMapping) -> None:
    """Reject a limit beyond the URDF's; a URDF has no accelerations and no jerks."""
    if key not in ("acceleration", "jerk") and (asked < urdf if key == "lower" else asked > urdf):
        line.reject(key, f"{asked:g} is beyond the URDF's {urdf:g}; allowed: a tighter limit")


def _check_jerk(jerk: float, acceleration: float, line: FileMapping) -> None:
    """Reject a jerk with which the joint hardly moves."""
    least = acceleration / LONGEST_RISE
    if jerk < least:
        line.reject("jerk", f"{jerk:g} is below {least:g}: its acceleration would take more than {LONGEST_RISE:g} s")


def _joint(robot: RobotModel, name: str, mapping: FileMapping) -> int:
    """Index of an arm joint."""
    if name not in robot.joint_names:
        mapping.reject(name, f"not a joint of the arm; allowed: {', '.join(robot.joint_names)}")
    return robot.joint_names.index(name)


def _home(robot: RobotModel, limits: JointLimits, given: Mapping[str, float], raw: FileMapping) -> FloatArray:
    home = np.array(robot.home)
    for name, value in given.items():
        home[_joint(robot, name, raw["home"])] = value
    for i in np.flatnonzero((home < limits.lower) | (home > limits.upper)):
        name = robot.joint_names[i]
        problem = f"{name} at {home[i]:g} is outside {limits.lower[i]:g} .. {limits.upper[i]:g} [rad]"
        raw.reject("home", problem)
    home.setflags(write=False)
    return home


def _check_link(urdf: str, name: str, key: str, raw: FileMapping) -> None:
    """Reject the name of a link that the URDF has not; raises ModelError for an unusable URDF."""
    links = [link.get("name", "") for link in read_urdf(locate(urdf)[0]).findall("link")]
    if name and name not in links:
        raw.reject(key, f"{name!r} is not a link of the URDF; allowed: {', '.join(links)}")


def _three(values: tuple[float, ...], key: str, mapping: FileMapping) -> tuple[float, float, float]:
    if len(values) != 3:
        mapping.reject(key, f"{len(values)} values; allowed: 3 [m]")
    return (values[0], values[1], values[2])
