"""Drivers by name: those of this package, and entry points `telerobot.hardware` of others.

A driver is a function from a `DriverSetting` to an `ArmHardware`; it raises a TelerobotError when it cannot be used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import entry_points

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.hardware import ArmHardware, ArmPose, MujocoArm, Realism
from telerobot_nodes.nodes.drivers.ros2_control import Ros2ControlArm

GROUP = "telerobot.hardware"


@dataclass(frozen=True)
class DriverSetting:
    """What a driver is made from."""

    robot: RobotModel  # with the name of the driver and its options
    period: float  # [s] of the servo
    namespace: str = "/"  # of the hardware interface
    realism: Realism = Realism()  # noqa: RUF009 -- frozen; of a simulated arm
    task_board: bool = True  # of a simulated arm
    listen_only: bool = False  # connect without sending any command
    start: ArmPose | None = None  # of a simulated arm; None: home with open fingers


DriverFactory = Callable[[DriverSetting], ArmHardware]


def mujoco(setting: DriverSetting) -> ArmHardware:
    """The simulated arm; it has no options."""
    for name, value in setting.robot.driver.options.items():
        raise InvalidValueError(f"options.{name}", value, "allowed: no options with driver mujoco")
    return MujocoArm(setting.robot, setting.period, setting.task_board, setting.realism, start=setting.start)


def ros2_control(setting: DriverSetting) -> ArmHardware:
    """An arm behind the topics of a controller manager."""
    return Ros2ControlArm(setting.robot, setting.period, setting.namespace, setting.listen_only)


OWN: dict[str, DriverFactory] = {"mujoco": mujoco, "ros2_control": ros2_control}


def make_arm(setting: DriverSetting) -> ArmHardware:
    """The arm behind the driver that its arm file names. Raises InvalidValueError for a name nobody provides."""
    name = setting.robot.driver.name
    if name in OWN:
        return OWN[name](setting)
    others = {entry.name: entry for entry in entry_points(group=GROUP)}
    if name not in others:
        raise InvalidValueError("driver", name, f"allowed: {', '.join((*OWN, *sorted(others)))}")
    factory: DriverFactory = others[name].load()
    return factory(setting)
