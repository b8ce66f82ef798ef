"""The hand: device commands in, laid points out; its controls keep what they are set to before a plan exists.

What belongs here: time clutch, time ratio, and where the hand goes on from. What must never enter: which path is laid
on (`queue.py`), the store, the link.

Before it is placed a hand checks what it is told and goes nowhere.
"""

from __future__ import annotations

import numpy as np

from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.plan.device import Jump
from telerobot_nodes.plan.follower import ZERO
from telerobot_nodes.plan.laying import Laid, Layer, Reach
from telerobot_nodes.plan.queue_values import QueueConfig
from telerobot_nodes.plan.shaper import ShapedPose, Shaper
from telerobot_nodes.plan.time_base import SegmentTime

_NOWHERE = ShapedPose(ZERO, (0.0, 0.0, 0.0, 1.0))


class Hand:
    """What the operator's device does to the path being laid [US5046022 claims 1, 4, 21]."""

    def __init__(self, config: QueueConfig, reach: Reach, segment_time: SegmentTime | None = None) -> None:
        self._config = config
        self._reach = reach
        self._segment_time = segment_time
        self._layer: Layer | None = None
        self._unplaced = Shaper(config.shaper, _NOWHERE, 0.0)
        self._ratio = 1.0
        self._time_clutch = True

    @property
    def placed(self) -> bool:
        """True once the hand moves a tool."""
        return self._layer is not None

    @property
    def pose(self) -> FloatArray:
        """Tool pose of the last sample (7,) in WORLD; empty before the hand is placed."""
        return self._layer.pose if self._layer is not None else np.empty(0)

    @property
    def target(self) -> FloatArray:
        """Where the device asks the tool to go (7,) in WORLD; empty before the hand is placed."""
        return self._layer.shaper.target if self._layer is not None else np.empty(0)

    @property
    def blocked(self) -> str:
        """Why the target cannot be followed; empty: it can."""
        return self._layer.blocked if self._layer is not None else ""

    @property
    def stalls(self) -> int:
        """Times this side stood still for too long to make up for."""
        return self._layer.stalls if self._layer is not None else 0

    @property
    def time_clutch(self) -> bool:
        """True when engaged: plan time follows acquisition time."""
        return self._time_clutch

    @property
    def ratio(self) -> float:
        """Plan time per acquisition time [-]."""
        return self._ratio

    @ratio.setter
    def ratio(self, ratio: float) -> None:
        self._ratio = ratio
        if self._layer is not None:
            self._layer.ratio = ratio

    def command_pose(self, now: float, pose: object, frame: str) -> Jump | None:
        """Take a pose; returns the jump taken out. Raises InvalidValueError naming the field."""
        return self._shaper.command_pose(now, pose, frame)

    def command_twist(self, now: float, twist: object, frame: str) -> None:
        """Take a tool velocity [m/s, rad/s]. Raises InvalidValueError naming the field."""
        self._shaper.command_twist(now, twist, frame)

    def fresh(self, now: float) -> bool:
        """True while the device sends."""
        return self._shaper.fresh(now)

    def place(self, now: float, pose: FloatArray) -> None:
        """Move the tool from `pose` (7,), at rest, from now on."""
        if self._layer is not None:
            self._layer.restart(pose)
            return
        c = self._config
        self._layer = Layer(c.shaper, c.time_base, c.sample_period, self._reach, pose, now, self._segment_time)
        self._layer.ratio = self._ratio
        self._layer.set_time_clutch(self._time_clutch)

    def restart(self, pose: FloatArray) -> None:
        """Go on from another pose at rest; what was not laid yet is dropped. Nothing before the hand is placed."""
        if self._layer is not None:
            self._layer.restart(pose)

    def set_time_clutch(self, engaged: bool) -> list[Laid]:
        """Engage or disengage; returns what was still to be timed."""
        self._time_clutch = engaged
        return self._layer.set_time_clutch(engaged) if self._layer is not None else []

    def flush(self) -> list[Laid]:
        """What was laid and not timed finally yet; the clutch stays as it is."""
        if self._layer is None:
            return []
        laid = self._layer.set_time_clutch(True)
        self._layer.set_time_clutch(self._time_clutch)
        return laid

    def dwell(self) -> list[Laid]:
        """One point more where the hand rests; nothing while it moves."""
        return self._layer.dwell() if self._layer is not None else []

    def advance(self, now: float, held: bool, hurry: bool) -> list[Laid]:
        """Points up to `now`. `held`: come to rest and wait; `hurry`: the robot would run dry."""
        return self._layer.advance(now, held, hurry) if self._layer is not None else []

    @property
    def _shaper(self) -> Shaper:
        return self._layer.shaper if self._layer is not None else self._unplaced
