"""The queue of every operator over time, from the recordings of several hosts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.operator.recording import BagReader

STATE = "path_plan_queue/state"


@dataclass(frozen=True)
class Side:
    """One operator's queue over time."""

    agent: str
    time: FloatArray  # (n,) [s] ROS time of receipt
    lead: FloatArray  # (n,) [s] plan time recorded ahead of the robot
    free: FloatArray  # (n,) 1: time clutch disengaged
    trial: FloatArray  # (n,) 1: position clutch disengaged, with authority
    aside: FloatArray  # (n,) 1: position clutch disengaged, another operator has authority
    brake: FloatArray  # (n,) [plan s/s]


def read_sides(bags: Sequence[Path]) -> list[Side]:
    """Every operator whose queue is in one of the recordings, in the order found.

    Raises InvalidValueError naming the path that is not a recording.
    """
    rows: dict[str, list[tuple[float, ...]]] = {}
    for path in bags:
        with BagReader(path) as bag:
            names = {name for name in bag.topics if name.endswith("/" + STATE)}
            for _, time, m in bag.messages(names):
                out = not m.position_clutch
                row = (bag.start + time, m.lead, not m.time_clutch, out and m.has_authority)
                rows.setdefault(m.agent, []).append((*row, out and not m.has_authority, m.brake_rate))
    return [Side(agent, *np.array(sorted(table), dtype=np.float64).T) for agent, table in rows.items()]
