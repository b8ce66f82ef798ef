"""Enumerations of the messages: states, kinds and causes used by several packages; look-up in state tables."""

from __future__ import annotations

from telerobot_nodes.core.protocol.halt_words import (
    HALT_WORDS,
    begins_with_halt,
    fold,
    halt_scope,
    is_only_halt,
    names_arm,
)
from telerobot_nodes.core.protocol.identity import HaltId, identity, role_of
from telerobot_nodes.core.protocol.ranges import GRIPPER_RANGE, HAND_SCALE_RANGE, SCALE_RANGE
from telerobot_nodes.core.protocol.state_machine import next_state
from telerobot_nodes.core.protocol.states import (
    ENGAGE_DISTANCE,
    ESTOP_SENDER,
    AuthorityKind,
    ConflictKind,
    ControlMode,
    ControlState,
    DeviceState,
    ExecutorMode,
    HardwareState,
    LinkState,
    OperationKind,
    PrimitiveOutcome,
    StepState,
    StopCause,
    UpdateKind,
    Waiting,
)
from telerobot_nodes.core.protocol.trial_text import trial_of
from telerobot_nodes.core.protocol.window import GRIPPER_UNCHANGED, MotionWindow

__all__ = [
    "ENGAGE_DISTANCE",
    "ESTOP_SENDER",
    "GRIPPER_RANGE",
    "GRIPPER_UNCHANGED",
    "HALT_WORDS",
    "HAND_SCALE_RANGE",
    "SCALE_RANGE",
    "AuthorityKind",
    "ConflictKind",
    "ControlMode",
    "ControlState",
    "DeviceState",
    "ExecutorMode",
    "HaltId",
    "HardwareState",
    "LinkState",
    "MotionWindow",
    "OperationKind",
    "PrimitiveOutcome",
    "StepState",
    "StopCause",
    "UpdateKind",
    "Waiting",
    "begins_with_halt",
    "fold",
    "halt_scope",
    "identity",
    "is_only_halt",
    "names_arm",
    "next_state",
    "role_of",
    "trial_of",
]
