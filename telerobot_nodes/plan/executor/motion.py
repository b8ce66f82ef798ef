"""Motion along the plan in windows that end at rest, in agreement with the control loop that follows them.

What belongs here: the path, the planned motion, the loop's reports. What must never enter: operations, authority,
kinematics (`executor.py`), clocks. A window is a trajectory segment that ends at rest.

There is always a complete motion to rest on settled path (`Profile`). A new one replaces it only if rest is reachable
inside every limit; otherwise the present one is followed to its rest. The committed stretch is the part of the path
that the windows sent to the loop depend on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from telerobot_nodes.core.config import parameter
from telerobot_nodes.core.protocol import ControlState, MotionWindow
from telerobot_nodes.core.robot import JointLimits
from telerobot_nodes.core.values import FloatArray, IntArray
from telerobot_nodes.plan.executor.in_flight_segments import InFlightSegments
from telerobot_nodes.plan.executor.path import JointPath, PathLimits
from telerobot_nodes.plan.executor.profile import Profile
from telerobot_nodes.plan.executor.window_maker import WindowMaker
from telerobot_nodes.plan.log import ControlReport

REST_GAP = 1e-4  # [rad] larger offset of the resting setpoint from the path's end: something else moved the arm
JOIN_GAP = 5e-4  # [rad] smaller offset of the setpoint from the path: rounding of the loop's plan time
MAX_GAP = 0.1  # [rad] largest offset of a joint from the path for continuing after an interruption
NEAR_END = 0.05  # [s] plan time, or [-] rate: about to stop
EXECUTED_SLACK = 1e-6  # [s]
SHORTEST = 0.05  # [s] plan time of a last stretch; a shorter one cannot be planned from rest


@dataclass(frozen=True)
class MotionConfig:
    """Times of the look-ahead and share of the limits."""

    period: float = parameter(0.02, unit="s", low=0.005, high=0.05, doc="time between window samples")
    history: float = parameter(0.06, unit="s", low=0.0, high=1.0, doc="time before now at which a window begins")
    margin: float = parameter(0.06, unit="s", low=0.01, high=0.5, doc="time from now to the splice")
    horizon: float = parameter(
        0.25, unit="s", low=0.05, high=2.0, doc="nominal motion after the splice, before braking"
    )
    filter_time: float = parameter(
        0.08, unit="s", low=0.02, high=0.5, doc="averaging time of the execution rate; bounds jerk"
    )
    seal_delay: float = parameter(
        0.15, unit="s", low=0.02, high=5.0, doc="time without new points after which the path ends"
    )
    control_timeout: float = parameter(
        0.3, unit="s", low=0.05, high=5.0, doc="time without a report of the loop after which the arm slows"
    )
    reserve: float = parameter(0.95, low=0.1, high=1.0, doc="share of velocity and acceleration limits used")


class PlanMotion:
    """Windows along `path`; the loop's setpoint has come to `plan_time` [s], the arm to `arrived_time` [s]."""

    def __init__(self, limits: JointLimits, config: MotionConfig) -> None:
        self.config = config
        self.path = JointPath(limits, PathLimits(reserve=config.reserve, filter_time=config.filter_time))
        self.plan_time = 0.0
        self.arrived_time = 0.0
        self.trouble = ""  # why the motion does not continue by itself; cleared by the owner
        self.off_path = False  # the arm is too far from the plan to continue it
        self.anchored = False  # the loop has reported a first rest
        self.control: ControlReport | None = None
        self._control_time = -np.inf
        self._maker = WindowMaker(limits, config.period, config.history)
        self._profile = Profile.rest(0.0, 0.0, config.filter_time)
        self._in_flight = InFlightSegments(0, self._profile)
        self._recoverable = False  # the loop's interruption ends by itself
        self._lost = False  # the loop does not follow the windows: wait until it rests
        self._first_window = 1  # first window since the motion began from a reported rest
        self._first_of_path = 1  # first window since plan times were counted anew
        self._refused = 0  # latest refusal that was handled
        self._append_time = -np.inf
        _compile(self.path, self._maker, self._profile)

    # --- state ---------------------------------------------------------------------------------------------------

    @property
    def committed_index(self) -> int:
        """Last knot of the committed stretch."""
        return self.path.index_needed(self._in_flight.committed)

    @property
    def stop_time(self) -> float:
        """Plan time where the arm comes to rest without further windows [s]."""
        return self._profile.end_tau

    def rate(self, now: float) -> float:
        """Plan seconds per second of the arm."""
        return float(self._profile.sample(np.array([now]))[1, 0])

    def stopping_time(self, now: float) -> float:
        """Time [s] until the arm would rest if it were stopped now; 0 at rest."""
        splice = self._maker.next_sample(now + self.config.margin)
        return max(self._replanned(now, splice, 0.0, np.inf).end - now, 0.0) if now < self._profile.end else 0.0

    def rested(self, now: float) -> float:
        """Time since the planned motion came to rest [s]; negative before."""
        return now - self._profile.end

    def moving(self, now: float) -> bool:
        """True until the planned motion has ended."""
        return self._lost or now < self._profile.end

    def start_from(self, seq: int, tau: float) -> None:
        """Expect, before the loop's first report, the arm at rest at point `seq`, plan time `tau` [s]."""
        self.path.reset(tau, self.path.joints[-1].copy(), seq)
        self.plan_time = self.arrived_time = tau

    # --- the plan ------------------------------------------------------------------------------------------------

    def begin(self, now: float, tau: float, q: FloatArray, seq: int) -> None:
        """Start a path at rest at `q` (dof,) [rad], plan time `tau` [s], as point `seq`."""
        self.path.begin(tau, q, seq)
        self._stand(now, tau)
        self._first_of_path = self._first_window
        self.arrived_time = tau

    def append(
        self, now: float, seq: IntArray, time: FloatArray, q: FloatArray, gripper: FloatArray | None = None
    ) -> None:
        """Append knots, as `JointPath.append`."""
        self.path.append(seq, time, q, gripper)
        self._append_time = now

    def truncate(self, seq: int) -> None:
        """Drop the knots above `seq` that are not committed."""
        self.path.truncate(max(self.path.index_of_seq(seq), self.committed_index, 0) + 1)

    # --- windows -------------------------------------------------------------------------------------------------

    def tick(self, now: float, goal: float, end: float = np.inf) -> MotionWindow | None:
        """Next window towards rate `goal` [-], 0: rest, not past `end` [s of plan] if it can stop; None: no change."""
        control = self.control
        if not self.anchored or self._lost or control is None:
            return None
        if control.primitive or control.state in (ControlState.STOPPING, ControlState.FAULT):
            return None
        if self.trouble or self.off_path or now - self._control_time > self.config.control_timeout:
            goal = 0.0
        splice = self._maker.next_sample(now + self.config.margin)
        tau, rate = self._profile.raw(splice)
        self._seal_if_ending(now, tau, rate)
        if rate == 0.0 and (goal == 0.0 or self._profile.rested_since(splice) < self.config.filter_time):
            return None
        profile = self._replanned(now, splice, goal, end)
        return None if profile is self._profile else self._issue(now, splice, profile)

    def _replanned(self, now: float, splice: float, goal: float, end: float) -> Profile:
        """Motion from time `splice` [s] on towards rate `goal`; beyond `end` [s] of plan time only to come to rest."""
        config = self.config
        tau, rate = self._profile.raw(splice)
        reach = tau + max(goal, rate) * (config.horizon + self.path.stop_time + 2.0 * config.filter_time) + 0.1
        behind = float(self._profile.sample(np.array([splice]))[0, 0])
        oldest = now - config.history - config.period - config.filter_time
        if tau < end < reach:
            limits = self.path.rate_limits(behind, tau, end)
            before = self._profile.continued(splice, limits, goal, config.horizon if goal else 0.0, oldest)
            if before is not None:
                return before
        goal = goal if end >= reach else 0.0
        limits = self.path.rate_limits(behind, tau, reach)
        return self._profile.continued(splice, limits, goal, config.horizon if goal else 0.0, oldest) or self._profile

    def _issue(self, now: float, splice: float, profile: Profile) -> MotionWindow | None:
        number = self._in_flight.last_number + 1
        window = self._maker.make(number, now, splice, self.path, profile)
        if window is None:
            return None
        self._profile = profile
        self._in_flight.add(number, profile, profile.committed(splice), splice)
        self.path.drop_before(min(self.arrived_time, float(window.plan_time[0])))
        return window

    def _seal_if_ending(self, now: float, tau: float, rate: float) -> None:
        """Make the last point the end of the path when no points follow and the arm is about to stop before it."""
        if self.path.sealed or now - self._append_time < self.config.seal_delay:
            return
        near = self.path.settled_end - tau <= NEAR_END
        if near or (rate < NEAR_END and self.path.index_reached(tau) >= self.path.settled - 1):
            self.path.seal()

    # --- the loop ------------------------------------------------------------------------------------------------

    def on_control(self, now: float, report: ControlReport) -> None:
        """Take a report of the loop."""
        self.control, self._control_time = report, now
        if not self.anchored:
            if report.resting and not report.waiting:
                self.begin(now, self.plan_time, report.joint_position, int(self.path.seqs[-1]))
                self.anchored = True
            return
        arrived = self.arrived_time
        if report.window_number >= self._first_window:
            self.plan_time = max(self.plan_time, min(report.plan_time, self._in_flight.committed))
        if report.arrived_window >= self._first_of_path:
            self.arrived_time = max(self.arrived_time, min(report.arrived_time, self._in_flight.committed))
        self._compare(now, report)
        if self.arrived_time > arrived:
            return  # the points that the arm passed are counted before the path is laid anew
        if self._lost and report.resting:
            self._recover(now, report)
        elif report.resting and now > self._profile.end + self.config.control_timeout:
            self._follow_rest(now, report)

    def executed_seq(self) -> int:
        """Number of the last knot that the arm has reached, 0 if none of those held."""
        index = self.path.index_reached(self.arrived_time + EXECUTED_SLACK)
        return int(self.path.seqs[index]) if index >= 0 else 0

    def _compare(self, now: float, report: ControlReport) -> None:
        """Check that the loop follows the windows; return to the one in use when it refused a later one."""
        number = max(report.window_number, self._first_window - 1)
        self._in_flight.confirm(number)
        used = self._in_flight.find(number)
        mine, known = report.window_number >= self._first_window, max(self._refused, number)
        if report.interrupted and mine and self._left_path(now, report):
            self._lose(report.reason or f"control loop is {report.state.name}", report.recoverable)
        elif report.interrupted and mine and self.arrived_time >= self._profile.end_tau - EXECUTED_SLACK:
            self._stand(now, self._profile.end_tau)  # nothing was left undone: it must not count against later windows
        elif used is None:
            self._lose("")
        elif report.refused_window > known or self._in_flight.overdue(now, known, self.config.control_timeout):
            self._refused = max(report.refused_window, self._in_flight.last_number)
            self._profile = used.profile

    def _left_path(self, now: float, report: ControlReport) -> bool:
        """True when the loop did not finish the motion, or arm or fingers will not come to its end by themselves."""
        end = self._profile.end_tau
        if now < self._profile.end or abs(report.plan_time - end) > EXECUTED_SLACK:
            return True
        stopped = report.resting and now > self._profile.end + self.config.control_timeout  # fingers too
        return (stopped or not report.waiting) and self.arrived_time < end - EXECUTED_SLACK

    def _lose(self, reason: str, recoverable: bool = False) -> None:
        self._recoverable = recoverable and (self._recoverable or not self._lost)
        self.trouble = self.trouble or ("" if self._lost else reason)
        self._lost = True

    def _recover(self, now: float, report: ControlReport) -> None:
        """Continue where the loop rests; if that is more than `MAX_GAP` off the path, only after a new plan."""
        q = report.joint_position
        tau = min(self.plan_time, float(self.path.settled_end))
        gap = _gap(self.path, tau, q)
        if gap > JOIN_GAP:  # the setpoint went to the arm, which had come no further than this
            tau = min(tau, self.arrived_time)
            gap = _gap(self.path, tau, q)
        self.off_path = gap > MAX_GAP
        if self.off_path:
            self.trouble = f"arm: joint is {gap:.3f} rad off the plan; allowed: {MAX_GAP:g}; clear the plan"
        elif self.path.settled_end - tau < SHORTEST and self.executed_seq() != self.path.seqs[-1]:
            start = self._lay_last_stretch(tau, q)
            if start is None:
                return
            tau = start
        elif gap > JOIN_GAP:
            self.path.rejoin(tau, q, self.executed_seq())
        if self._recoverable and not self.off_path:
            self.trouble = ""
        self._stand(now, tau)

    def _lay_last_stretch(self, tau: float, q: FloatArray) -> float | None:
        """Lay the path from `q` (dof,) [rad] to its end, which the arm has nearly or only just reached; its start [s].

        None: points that the arm passed are counted first, and the next report comes here again. The last knot stays
        even if the setpoint had come to it: the loop forgot what was on its way to the arm.
        """
        end = float(self.path.settled_end)
        passed = min(tau, end - 2.0 * EXECUTED_SLACK)
        if self.arrived_time < passed:
            self.arrived_time = passed
            return None
        start = min(tau, end - SHORTEST)
        self.path.rejoin(start, q, self.executed_seq(), keep=passed)
        return start

    def _follow_rest(self, now: float, report: ControlReport) -> None:
        """Continue where the arm is, if something else moved it while the plan rested."""
        if self._in_flight.last_number not in (report.window_number, report.refused_window):
            return
        tau = self._profile.end_tau
        at_end = tau >= self.path.times[-1]
        q = self.path.joints[-1] if at_end else self.path.evaluate(np.array([tau]))[0][0]
        if np.abs(q - report.joint_position).max() <= REST_GAP:
            return
        if at_end and self.executed_seq() == self.path.seqs[-1]:
            self.begin(now, float(self.path.times[-1]), report.joint_position, int(self.path.seqs[-1]))
        elif not self.off_path:
            self._recover(now, report)

    def _stand(self, now: float, tau: float) -> None:
        """Rest at plan time `tau` [s]; earlier windows are void."""
        number = self._in_flight.last_number
        if self.control is not None:
            number = max(number, self.control.window_number, self.control.refused_window)
        self._profile = Profile.rest(now, tau, self.config.filter_time)
        self._in_flight = InFlightSegments(number, self._profile)
        self._first_window = number + 1
        self._refused = number
        self.plan_time = tau
        self._lost = False


def _gap(path: JointPath, tau: float, q: FloatArray) -> float:
    """Largest distance [rad] of a joint of `q` (dof,) [rad] from the path at plan time `tau` [s]."""
    return float(np.abs(path.evaluate(np.array([tau]))[0][0] - q).max())


def _compile(path: JointPath, maker: WindowMaker, rest: Profile) -> None:
    """Compile what a tick needs before the arm moves; `path` is left at its rest."""
    q = path.joints[0].copy()
    ahead = np.array([0.02, 0.04, 0.06])
    path.append(np.arange(1, 4), ahead, np.tile(q, (3, 1)))
    profile = rest.continued(0.1, path.rate_limits(0.0, 0.0, 0.06), 1.0, 0.1, 0.0)
    if profile is not None:
        maker.make(1, 0.0, 0.1, path, profile)
    path.reset(0.0, q)
