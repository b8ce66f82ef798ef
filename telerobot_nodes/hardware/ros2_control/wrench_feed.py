"""From the wrench of another driver to that of the tool on the environment; not a number while it is silent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.hardware.ros2_control.options import WrenchOptions, WrenchSign
from telerobot_nodes.hardware.ros2_control.stamp_clock import StampClock
from telerobot_nodes.hardware.ros2_control.trouble import Fault, Trouble


class WrenchFeed:
    """Takes wrenches as they come."""

    def __init__(self, options: WrenchOptions | None, silence: float) -> None:
        """`silence` [s] is the longest time without a new wrench."""
        self._options, self._silence = options, silence
        self._clock = StampClock()
        self._latest = -np.inf, np.full(6, np.nan)

    def receive(self, received: float, stamp: float, frame: str, wrench: Sequence[float]) -> Fault | None:
        """Take a wrench (6,) [N], [N m] received at `received` [s]; a fault if it is in another frame."""
        options = self._options
        if options is None:
            return None
        if frame != options.frame:
            return Fault(Trouble.WRENCH_FRAME, f"{frame!r}; allowed: {options.frame!r}")
        if self._clock.began_again(stamp, received):
            self._clock.reset()
        time = self._clock.arrival(stamp, received)
        if time is not None:
            sign = 1.0 if options.sign is WrenchSign.ON_ENVIRONMENT else -1.0
            self._latest = time, sign * np.asarray(wrench, dtype=float)
        return None

    def at(self, now: float) -> FloatArray:
        """The wrench (6,) of the tool on the environment in SENSOR; zero without a sensor, NaN while it is silent."""
        if self._options is None:
            return np.zeros(6)
        time, wrench = self._latest
        return wrench.copy() if now - time <= self._silence else np.full(6, np.nan)
