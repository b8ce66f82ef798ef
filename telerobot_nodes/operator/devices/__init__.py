"""Input devices: recorded hands, joystick, keyboard."""

from __future__ import annotations

from telerobot_nodes.operator.devices.control_mode import Moves, Wish, Wishes, moves
from telerobot_nodes.operator.devices.hand import DeviceMotion, HandRecording, device_motion, load_hand
from telerobot_nodes.operator.devices.hand_fit import Fit, Reach, box_reach, fit
from telerobot_nodes.operator.devices.input_counts import LATE, InputCounts
from telerobot_nodes.operator.devices.input_parameters import InputParameters
from telerobot_nodes.operator.devices.joystick import ROLE_FRAME, ROLES, STOPS, JoyInput, JoyMapping, Joystick
from telerobot_nodes.operator.devices.keyboard import HELP, Keyboard, single_keys
from telerobot_nodes.operator.devices.passive_port import PassivePort
from telerobot_nodes.operator.devices.reflection import ReflectConfig, Reflection, wrench_at_hand
from telerobot_nodes.operator.devices.replay import Replay, ReplayState
from telerobot_nodes.operator.devices.tracked_hand import GAP, HeldPoses, RemoteClock, TrackedHand, world_from_xr

__all__ = [
    "GAP",
    "HELP",
    "LATE",
    "ROLES",
    "ROLE_FRAME",
    "STOPS",
    "DeviceMotion",
    "Fit",
    "HandRecording",
    "HeldPoses",
    "InputCounts",
    "InputParameters",
    "JoyInput",
    "JoyMapping",
    "Joystick",
    "Keyboard",
    "Moves",
    "PassivePort",
    "Reach",
    "ReflectConfig",
    "Reflection",
    "RemoteClock",
    "Replay",
    "ReplayState",
    "TrackedHand",
    "Wish",
    "Wishes",
    "box_reach",
    "device_motion",
    "fit",
    "load_hand",
    "moves",
    "single_keys",
    "world_from_xr",
    "wrench_at_hand",
]
