"""The parameters of `operator_input`: its gamepad, and the force back to the hand."""

from __future__ import annotations

from dataclasses import dataclass

from telerobot_nodes.core.config import parameter
from telerobot_nodes.core.protocol import ControlMode
from telerobot_nodes.operator.devices.joystick import JoyMapping
from telerobot_nodes.operator.devices.reflection import ReflectConfig


@dataclass(frozen=True)
class InputParameters(ReflectConfig, JoyMapping):
    """One set for the node's one file; validated when made, raises InvalidValueError naming the field."""

    mode: str = parameter(
        "teleoperation", choices=tuple(mode.word for mode in ControlMode), doc="mode of control at the start"
    )

    def __post_init__(self) -> None:
        JoyMapping.__post_init__(self)
        ReflectConfig.__post_init__(self)
