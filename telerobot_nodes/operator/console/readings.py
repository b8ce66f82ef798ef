"""Readings of the arm for a person: how far its joints are from their limits; forces of the last half minute."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.operator.client import RobotStatus, Tone
from telerobot_nodes.operator.scene import palette
from telerobot_nodes.operator.view import Row

NEAR = 5.0  # [deg] from a joint's limit
SPAN = 30.0  # [s] of forces shown
SENT_PERIOD = 0.5  # [s] between two pictures of the forces
LINES = (("x", palette.PREDICTED), ("y", palette.ESTIMATE), ("z", palette.TRIAL), ("size", palette.ACTUAL))


def margin_row(robot: RobotModel, q: FloatArray) -> Row:
    """Distance of each joint from its nearest limit [deg], for `q` (dof,) [rad]; empty: not known."""
    if q.size != robot.dof:
        return Row("joint margins", "not known", Tone.QUIET)
    margins = np.degrees(np.minimum(q - robot.limits.lower, robot.limits.upper - q))
    least = int(np.argmin(margins))
    text = f"{' '.join(f'{margin:.0f}' for margin in margins)} deg"
    if margins[least] >= NEAR:
        return Row("joint margins", text)
    return Row("joint margins", f"{text}; {robot.joint_names[least]} is near a limit", Tone.WARN)


class ForcePlot:
    """The measured force over time, in a folder of the panel."""

    def __init__(self, gui: Any) -> None:
        self._samples: deque[tuple[float, ...]] = deque()  # time [s], x y z size [N]
        self._sent = -SENT_PERIOD  # [s]
        series: list[dict[str, Any]] = [{"label": "s"}]
        series += [{"label": name, "stroke": palette.css(colour), "width": 2} for name, colour in LINES]
        scales = {"x": {"time": False, "auto": False, "range": (-SPAN, 0.0)}}
        look = {"stroke": palette.TONES[Tone.QUIET], "grid": {"stroke": "#3a404b", "width": 1}}
        with gui.add_folder("Forces [N], of the tool", expand_by_default=False):
            self._plot = gui.add_uplot(_columns([], 0.0), tuple(series), scales=scales, axes=(look, look), height=180)

    def show(self, robot: RobotStatus, now: float) -> None:
        """Add the force of `robot`, if it measures one."""
        if self._samples and now < self._samples[-1][0]:  # a recording was set back
            self._samples.clear()
            self._sent = now - SENT_PERIOD
        while self._samples and now - self._samples[0][0] > SPAN:
            self._samples.popleft()
        if robot.wrench.size:
            force = robot.wrench[:3]
            self._samples.append((now, *map(float, force), float(np.linalg.norm(force))))
        if self._samples and now - self._sent >= SENT_PERIOD:
            self._sent = now
            self._plot.data = _columns(self._samples, now)


def _columns(samples: Any, now: float) -> tuple[FloatArray, ...]:
    """One array for the time before `now` [s], and one for each line."""
    table = np.array(samples, dtype=np.float64).reshape(-1, 1 + len(LINES))
    return (table[:, 0] - now, *table[:, 1:].T)
