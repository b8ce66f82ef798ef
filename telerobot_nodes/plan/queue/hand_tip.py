"""Where the operator's tool stands ahead of the last point, for the forward simulation [US5046022].

With the time clutch disengaged a point gets its plan time when the geometry after it is known. The simulated tool
shall not wait for that: it stands where the hand is at once, and the timed points follow.

With the time clutch engaged it stands at the last point. Engaged in motion, it waits where it was until the path has
come there: it does not step back.
"""

from __future__ import annotations

import numpy as np

from telerobot_nodes.core.protocol import UpdateKind
from telerobot_nodes.core.values import FloatArray, pose_distance
from telerobot_nodes.plan.log import PlanUpdate

SAME = 1e-6  # [m], [rad]


class HandTip:
    """Publishes the tool of one sampler while it is ahead of the path that is being recorded."""

    def __init__(self) -> None:
        self._shown: tuple[bool, FloatArray | None] = (False, None)
        self._way = np.inf  # [m], [rad]: from the last point to a tip that waits

    def updates(
        self, tool: FloatArray, head: FloatArray | None, trial: bool, time_clutch: bool = False
    ) -> list[PlanUpdate]:
        """What to publish after the points: `tool` (7,) of the sampler, empty if it has none; `head` (7,) of the path.

        `trial`: the path is the trial path. `time_clutch`: it is engaged. Nothing when nothing has changed.
        """
        ahead = tool.size > 0 and head is not None and _gap(tool, head) > SAME
        before, shown = self._shown
        tip = tool if ahead else None
        if time_clutch:
            tip = shown if ahead and before == trial and self._comes_nearer(head, shown) else None
        else:
            self._way = np.inf
        found = [PlanUpdate(UpdateKind.TIP, before)] if shown is not None and (tip is None or before != trial) else []
        if tip is not None and (before != trial or shown is None or not np.array_equal(tip, shown)):
            found.append(PlanUpdate(UpdateKind.TIP, trial, tip=tip))
        self._shown = trial, tip
        return found

    def _comes_nearer(self, head: FloatArray | None, shown: FloatArray | None) -> bool:
        if head is None or shown is None:
            return False
        way = _gap(shown, head)
        before, self._way = self._way, way
        return SAME < way <= before


def _gap(a: FloatArray, b: FloatArray) -> float:
    """Between two poses (7,): distance [m] and angle [rad], added."""
    return sum(pose_distance(a, b))
