"""What the setpoints around one halt show: when the arm first decelerated, when it was at rest, how far it went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray

STILL = 1e-9  # [rad/s] of the fastest joint
DECELERATES = 0.1  # [rad/s^2] along the motion: a straight motion of the tool at constant speed has less
ON_ITS_WAY = 0.02  # [s] the worst time that a halt may take to the loop


@dataclass(frozen=True)
class Setpoint:
    """One setpoint as received: host times [s], joints [rad], [rad/s], [rad/s^2]."""

    received: float
    made: float  # time of its control step
    q: FloatArray
    qd: FloatArray
    qdd: FloatArray

    @property
    def rests(self) -> bool:
        """True without motion."""
        return bool(np.abs(self.qd).max() <= STILL)

    @property
    def decelerates(self) -> bool:
        """True when the joint speed falls."""
        speed = float(np.linalg.norm(self.qd))
        return speed > STILL and float(self.qd @ self.qdd) / speed < -DECELERATES


class Outcome(Enum):
    """What became of a halt."""

    STOPPED = "the arm moved and came to rest"
    ENDING = "the arm decelerated already when the halt was sent, and came to rest"
    BEGINNING = "the arm began to move while the halt was on its way, and came to rest"
    RESTED = "the arm was at rest and stayed so"
    CREPT = "the arm began to move after the halt"
    MISSED = "the arm did not come to rest"


@dataclass(frozen=True)
class HaltTimes:
    """One halt; times [s] from its sending, NaN where there is none."""

    outcome: Outcome
    slower: float = np.nan  # receipt of the first decelerating setpoint
    rest: float = np.nan  # receipt of the first setpoint at rest
    made: float = np.nan  # the control step that made the latter
    speed: float = np.nan  # [m/s] of the tool when it was sent
    distance: float = np.nan  # [m] path of the tool's setpoints from then to rest


def judge(robot: RobotModel, sent: float, setpoints: Sequence[Setpoint], way: float = ON_ITS_WAY) -> HaltTimes:
    """Judge the halt sent at `sent` [s]; `setpoints` begin before it and end some time after rest.

    `way`: time [s] that the halt may take to the loop; a motion that begins later is one that began after it.
    """
    first = next((i for i, setpoint in enumerate(setpoints) if setpoint.received > sent), len(setpoints))
    if not 0 < first < len(setpoints):
        return HaltTimes(Outcome.MISSED)
    before, after = setpoints[first - 1], setpoints[first:]
    begin = 0 if not before.rests else next((i for i, setpoint in enumerate(after) if not setpoint.rests), -1)
    if begin < 0:
        return HaltTimes(Outcome.RESTED)
    stop = next((i for i in range(begin, len(after)) if after[i].rests), -1)
    if stop < 0:
        return HaltTimes(Outcome.MISSED)
    if any(not setpoint.rests for setpoint in after[stop:]) or after[begin].received > sent + way:
        return HaltTimes(Outcome.CREPT)
    slower = next((setpoint for setpoint in after[begin:] if setpoint.decelerates), after[stop])
    path = np.array([robot.forward(setpoint.q).translation for setpoint in (before, *after[: stop + 1])])
    outcome = Outcome.BEGINNING if before.rests else Outcome.ENDING if before.decelerates else Outcome.STOPPED
    return HaltTimes(
        outcome,
        slower.received - sent,
        after[stop].received - sent,
        after[stop].made - sent,
        float(np.linalg.norm(robot.jacobian(before.q)[:3] @ before.qd)),
        float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum()),
    )
