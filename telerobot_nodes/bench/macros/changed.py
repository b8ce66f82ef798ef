"""Parameters changed while a primitive runs, over the emulated link's delay line, in physics."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.link import DelayLine, LinkSettings
from telerobot_nodes.macros import OfflineRobot
from telerobot_nodes.motion.primitives import PrimitiveRequest

ONE_WAY = 2.0  # [s]
SENT = 1.0  # [s] after the primitive began
LONG = {"time_vel_sel": "time", "time_vel_val": 8.0}
DOWN = (0.0, 0.0, 0.4, 0.0, 0.0, 0.0, 1.0)  # more than there is above the board
SIDE = (0.15, 0.1, -0.05, 0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Case:
    """A primitive, what is changed of it, and whether the tool presses on the board."""

    name: str
    primitive: str
    values: Mapping[str, Any]
    change: Mapping[str, Any]
    touches: bool = False


_PRESS = {
    "sel_vect_fc": (0, 0, 1, 0, 0, 0),
    "force_setpoints": (0.0, 0.0, 5.0, 0.0, 0.0, 0.0),
    "force_gains": (5e-4, 5e-4, 5e-4, 1e-2, 1e-2, 1e-2),
    "select": 0,
    "end_time": 6.0,
}


def cases(robot: RobotModel) -> tuple[Case, ...]:
    """Destination, duration, speed, joints, threshold, and the force kept in contact."""
    T = robot.forward(robot.home)
    there = (*np.add(T.translation, (-0.1, 0.12, 0.0)).tolist(), *_quaternion(T))
    joints = tuple(np.add(robot.home, (0.4, 0.1, -0.1, 0.2, -0.2, 0.3)).tolist())
    others = tuple(np.add(robot.home, (-0.3, 0.0, 0.1, 0.0, 0.0, 0.0)).tolist())
    speed = {"tr_rel_dest": SIDE, "time_vel_val": 0.02}
    return (
        Case("destination", "cartesian_guarded", {"tr_rel_dest": SIDE, **LONG}, {"tr_tn_dest": there}),
        Case("duration", "cartesian_guarded", {"tr_rel_dest": SIDE, **LONG}, {"time_vel_val": 12.0}),
        Case("speed, doubled", "cartesian_guarded", speed, {"time_vel_val": 0.04}),
        Case("joints", "joint_guarded", {"joint_dest": joints, **LONG}, {"joint_dest": others}),
        Case("threshold", "cartesian_guarded", {"tr_rel_dest": SIDE, **LONG}, {"max_force_thres": 4.0}),
        Case("force kept", "gcm", _PRESS, {"force_setpoints": (0.0, 0.0, 10.0, 0.0, 0.0, 0.0)}, touches=True),
        Case("gains of the force", "gcm", _PRESS, {"force_gains": (1e-3,) * 3 + (1e-2,) * 3}, touches=True),
    )


def changes(robot: RobotModel) -> list[dict[str, Any]]:
    """One row for each case."""
    return [_Change(robot, case).run() for case in cases(robot)]


class _Change:
    """One primitive and one change of it on its way."""

    def __init__(self, robot: RobotModel, case: Case) -> None:
        self._robot, self._case = robot, case
        self._offline = OfflineRobot(robot, board=case.touches)
        settings = LinkSettings(delay=ONE_WAY)
        self._up: DelayLine[Mapping[str, Any]] = DelayLine(settings, True, 1)
        self._down: DelayLine[float] = DelayLine(settings, False, 1)
        self._began = self._sent = self._in_force = self._answered = np.nan
        self._prepared = np.nan  # [s] of computing, which the simulated time does not hold
        self._q: list[FloatArray] = []

    def run(self) -> dict[str, Any]:
        rig, case = self._offline.rig, self._case
        if case.touches:
            self._execute("move_to_touch", {"tr_rel_dest": DOWN, "time_vel_val": 0.05, "back_off": "safety"})
        rig.before_step = self._before  # type: ignore[method-assign]
        rig.after_step = self._after  # type: ignore[method-assign]
        self._q.append(rig.q)
        end = self._execute(case.primitive, case.values)
        rig.hold(2.0 * ONE_WAY)  # for the answer
        return {
            "case": case.name,
            "end": end,
            "in_force_s": self._in_force - self._sent,
            "answer_s": self._answered - self._sent,
            "prepared_ms": 1e3 * self._prepared,
            "velocity_step_share": self._largest_step(),
        }

    def _execute(self, name: str, values: Mapping[str, Any]) -> str:
        end = self._offline.rig.execute(PrimitiveRequest(1, name, values), self._offline.rig.now + 60.0)
        return end.refusal or end.reason.name.lower()

    def _before(self) -> None:
        rig = self._offline.rig
        executive, now = rig.executive, rig.now
        if executive.running and np.isnan(self._began):
            self._began = now
        if np.isnan(self._sent) and now >= self._began + SENT:
            self._sent = now
            self._up.push(now, self._case.change, 100)
        for values in self._up.due(now):
            began = time.perf_counter()
            prepared = executive.prepare_change(executive.parameters, values, rig.q)
            self._prepared = time.perf_counter() - began
            executive.change(now, prepared)
            self._down.push(now, now, 100)
        if self._down.due(now):
            self._answered = now

    def _after(self) -> None:
        rig = self._offline.rig
        self._q.append(rig.q)
        if np.isnan(self._in_force) and self._sent <= rig.now and rig.executive.running:
            flat = rig.executive.parameters.flat()
            if all(np.array_equal(flat[name], value) for name, value in self._case.change.items()):
                self._in_force = rig.now

    def _largest_step(self) -> float:
        """Largest change of a joint setpoint's velocity in one period, as a share of what its limit allows."""
        period = self._offline.rig.period
        steps = np.abs(np.diff(np.array(self._q), n=2, axis=0)) / period
        return float((steps / (self._robot.limits.acceleration * period)).max())


def _quaternion(T: Any) -> tuple[float, ...]:
    import pinocchio as pin

    return tuple(float(x) for x in pin.SE3ToXYZQUAT(T)[3:])
