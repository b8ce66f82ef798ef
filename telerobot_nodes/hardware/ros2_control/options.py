"""Options of the driver `ros2_control`, as an arm file gives them below `options`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any

from telerobot_nodes.core.config import FileMapping, Key, Spot, build
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.errors import InvalidValueError


class CommandMode(Enum):
    """What the arm's controller takes."""

    POSITION = "position"  # forward_command_controller: positions
    VELOCITY = "velocity"  # forward_command_controller: velocities
    TRAJECTORY = "trajectory"  # joint_trajectory_controller


class WrenchSign(Enum):
    """Whose force the sensor's driver reports."""

    ON_TOOL = "on_tool"  # of the environment on the tool, as force_torque_sensor_broadcaster mostly does
    ON_ENVIRONMENT = "on_environment"


COMMAND_TOPICS = {
    CommandMode.POSITION: "forward_position_controller/commands",
    CommandMode.VELOCITY: "forward_velocity_controller/commands",
    CommandMode.TRAJECTORY: "joint_trajectory_controller/joint_trajectory",
}


@dataclass(frozen=True)
class WrenchOptions:
    """A wrist sensor behind force_torque_sensor_broadcaster."""

    frame: str  # frame_id of its messages; the sensor's axes must be those of the arm file's `sensor_frame`
    topic: str = "force_torque_sensor_broadcaster/wrench"
    sign: WrenchSign = WrenchSign.ON_TOOL


@dataclass(frozen=True)
class GripperOptions:
    """A gripper of one driven joint; its opening is proportional to that joint's way from `closed` to `open`."""

    joint: str  # in the driver's joint_states
    open: float  # [m] or [rad] joint position at the largest opening
    closed: float = 0.0
    topic: str = "gripper_controller/commands"  # forward_command_controller for positions
    action: str = ""  # control_msgs/action/GripperCommand instead of the topic; needs control_msgs

    def __post_init__(self) -> None:
        if self.open == self.closed:
            raise InvalidValueError("open", self.open, "allowed: other than `closed`")


@dataclass(frozen=True)
class Ros2ControlOptions:
    """Options of the driver."""

    namespace: str  # of the controller manager's topics, for example /ur5
    command: CommandMode = CommandMode.POSITION
    command_topic: str = ""  # empty: the controller's usual name
    joint_states: str = "joint_states"
    joints: Mapping[str, str] = field(default_factory=dict)  # URDF's name -> driver's name, where they differ
    order: tuple[str, ...] = ()  # the controller's own parameter `joints` (driver's names); empty: the URDF's order
    rate: Annotated[float, Key(low=20.0, high=1000.0)] = 250.0  # [Hz] of commands
    silence: Annotated[float, Key(low=0.01, high=1.0)] = 0.2  # [s] longest time without a new measurement
    following_error: Annotated[float, Key(low=0.01, high=1.0)] = 0.1  # [rad] beyond what latency explains
    running_topic: str = ""  # std_msgs/Bool, true while the arm takes commands; empty: not reported
    wrench: WrenchOptions | None = None
    gripper: GripperOptions | None = None

    @property
    def command_to(self) -> str:
        """Topic of the commands."""
        return self.command_topic or COMMAND_TOPICS[self.command]


def read_options(robot: RobotModel) -> Ros2ControlOptions:
    """The checked options of a robot's arm file. Raises ParameterFileError, or InvalidValueError without a file."""
    raw = robot.driver.options
    source = raw if isinstance(raw, FileMapping) else _mapping(raw)
    options = build(Ros2ControlOptions, source, Spot(source.file or "options", source.mark))
    for name in options.joints:
        if name not in robot.joint_names:
            allowed = ", ".join(robot.joint_names)
            source["joints"].reject(name, f"not a joint of the arm; allowed: {allowed}")
    names = driver_names(robot, options)
    if len(set(names)) < len(names):
        source.reject("joints", "two joints have the same name in the driver")
    if options.order and sorted(options.order) != sorted(names):
        source.reject("order", f"allowed: each of {', '.join(names)} once")
    if options.gripper is not None and robot.gripper is None:
        source.reject("gripper", "the arm file needs `gripper` with `max_opening` too")
    return options


def driver_names(robot: RobotModel, options: Ros2ControlOptions) -> tuple[str, ...]:
    """The driver's names of the arm's joints, in the arm's order."""
    return tuple(options.joints.get(name, name) for name in robot.joint_names)


def _mapping(raw: Mapping[str, Any]) -> FileMapping:
    mapping = FileMapping("options")
    mapping.update(raw)
    return mapping
