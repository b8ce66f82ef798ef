"""Status of a primitive as a fixed-size record, from the control loop to its host.

What belongs here: its fields and conversions. What must never enter: decisions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from telerobot_nodes.core.memory import Record
from telerobot_nodes.core.protocol import StopCause
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.motion.law import StateSix, StateValue, Termination
from telerobot_nodes.motion.loop.control_records import REASON_BYTES, encoded, text
from telerobot_nodes.motion.primitives import Executive, Phase

READINGS = 16  # most named readings
_NAME = "S24"
_PHASES = tuple(Phase)


def status_dtype(dof: int) -> np.dtype[Any]:
    """One status: see `PrimitiveState`."""
    return np.dtype(
        [(name, "i8") for name in ("id", "running", "phase", "reason", "cause", "readings")]
        + [(name, "f8") for name in ("elapsed", "distance", "angle", "gripper")]
        + [("q", "f8", (dof,)), ("tool_pose", "f8", (7,)), ("wrench", "f8", (6,))]
        + [("names", _NAME, (READINGS,)), ("values", "f8", (READINGS,)), ("detail", f"S{REASON_BYTES}")],
        align=True,
    )


@dataclass(frozen=True)
class PrimitiveState:
    """Status of a primitive, every `period` and once at its end (`running` False)."""

    id: int
    running: bool
    phase: str
    reason: Termination
    cause: StopCause  # of an external stop
    detail: str
    elapsed: float  # [s] since it began
    distance: float  # [m] offset by sensor motion
    angle: float  # [rad] rotation by sensor motion
    gripper: float  # [m] measured opening; NaN: unknown
    q: FloatArray  # (dof,) [rad] setpoint
    tool_pose: FloatArray  # (7,) setpoint
    wrench: FloatArray  # (6,) [N], [N m] SENSE
    readings: Mapping[str, float]


def pack_status(executive: Executive, elapsed: float, detail: str, cause: StopCause, record: Record) -> None:
    """Write the executive's present status into `record`."""
    law = executive.primitive.fusion.state
    record["id"], record["running"] = executive.request.id, executive.running
    record["phase"] = _PHASES.index(executive.primitive.phase)
    record["reason"] = executive.reason
    record["elapsed"] = elapsed
    record["distance"], record["angle"] = law.value[StateValue.TRANS], law.value[StateValue.ANGLE]
    record["gripper"] = executive.gripper.measured
    record["q"] = executive.setpoint.q
    record["tool_pose"] = law.pose
    record["wrench"] = law.six[StateSix.SENSE_WRENCH]
    count = min(len(executive.readings), READINGS)
    record["readings"] = count
    names, values = record["names"], record["values"]
    for i, (name, value) in zip(range(count), executive.readings.items(), strict=False):
        names[i], values[i] = name.encode(), value
    record["detail"], record["cause"] = encoded(detail), cause


def unpack_status(record: Record) -> PrimitiveState:
    """The status of a record, with arrays of its own."""
    count = int(record["readings"])
    names = [bytes(name).decode() for name in record["names"][:count]]
    return PrimitiveState(
        int(record["id"]),
        bool(record["running"]),
        _PHASES[int(record["phase"])].name.lower(),
        Termination(int(record["reason"])),
        StopCause(int(record["cause"])),
        text(record["detail"].item()),
        float(record["elapsed"]),
        float(record["distance"]),
        float(record["angle"]),
        float(record["gripper"]),
        record["q"].copy(),
        record["tool_pose"].copy(),
        record["wrench"].copy(),
        dict(zip(names, (float(value) for value in record["values"][:count]), strict=True)),
    )
