"""Status of a primitive as a fixed-size record, from the control loop to its host.

What belongs here: its fields, and values in and out. What must never enter: deciding anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.motion.control_records import REASON_BYTES, text
from telerobot_nodes.motion.exchange import Record
from telerobot_nodes.motion.executive import Executive
from telerobot_nodes.motion.law_records import ANGLE, SENSE_WRENCH, TRANS
from telerobot_nodes.motion.monitors import Termination
from telerobot_nodes.motion.primitive import Phase

READINGS = 16  # most named readings that cross
_NAME = "S24"
_PHASES = tuple(Phase)


def status_dtype(dof: int) -> np.dtype[Any]:
    """One status: see `PrimitiveState`."""
    return np.dtype(
        [(name, "i8") for name in ("id", "running", "phase", "reason", "readings")]
        + [(name, "f8") for name in ("elapsed", "distance", "angle", "gripper")]
        + [("q", "f8", (dof,)), ("tool_pose", "f8", (7,)), ("wrench", "f8", (6,))]
        + [("names", _NAME, (READINGS,)), ("values", "f8", (READINGS,)), ("detail", f"S{REASON_BYTES}")],
        align=True,
    )


@dataclass(frozen=True)
class PrimitiveState:
    """What is reported of a primitive every `period`, and once at its end (`running` False)."""

    id: int
    running: bool
    phase: str
    reason: Termination
    detail: str
    elapsed: float  # [s] since it began
    distance: float  # [m] moved by sensors
    angle: float  # [rad] turned by sensors
    gripper: float  # [m] measured opening; NaN: not known
    q: FloatArray  # (dof,) [rad] setpoint
    tool_pose: FloatArray  # (7,) setpoint
    wrench: FloatArray  # (6,) [N], [N m] SENSE
    readings: Mapping[str, float]


def pack_status(executive: Executive, elapsed: float, detail: str, record: Record) -> None:
    """The executive's present status into `record`; written by the loop."""
    law = executive.primitive.fusion.state
    record["id"], record["running"] = executive.request.id, executive.running
    record["phase"] = _PHASES.index(executive.primitive.phase)
    record["reason"] = executive.reason
    record["elapsed"] = elapsed
    record["distance"], record["angle"] = law.value[TRANS], law.value[ANGLE]
    record["gripper"] = executive.gripper.measured
    record["q"] = executive.setpoint.q
    record["tool_pose"] = law.pose
    record["wrench"] = law.six[SENSE_WRENCH]
    count = min(len(executive.readings), READINGS)
    record["readings"] = count
    names, values = record["names"], record["values"]
    for i, (name, value) in zip(range(count), executive.readings.items(), strict=False):
        names[i], values[i] = name.encode(), value
    record["detail"] = detail.encode()[:REASON_BYTES]


def unpack_status(record: Record) -> PrimitiveState:
    """The status of a record, in values of its own."""
    count = int(record["readings"])
    names = [bytes(name).decode() for name in record["names"][:count]]
    return PrimitiveState(
        int(record["id"]),
        bool(record["running"]),
        _PHASES[int(record["phase"])].name.lower(),
        Termination(int(record["reason"])),
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
