"""Motion along the plan: windows that end at rest, agreed with the control loop that follows them.

What belongs here: the path, the motion held, what the loop reports of it. What must never enter: operations,
authority, kinematics (`executor.py`), clocks.

There is always a complete motion to rest on settled path (`Profile`). A new one takes its place only when rest is
reachable inside every limit; otherwise the one held is followed to its rest. What the motions given to the loop
depend on is the committed stretch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from telerobot_nodes.core.limits import JointLimits
from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.core.window import MotionWindow
from telerobot_nodes.plan.control import ControlReport, LoopState
from telerobot_nodes.plan.ledger import WindowLedger
from telerobot_nodes.plan.path import IntArray, JointPath, PathLimits
from telerobot_nodes.plan.profile import Profile
from telerobot_nodes.plan.window_maker import WindowMaker

REST_GAP = 1e-4  # [rad] setpoint at rest against the path's end: more means that something else moved the arm
JOIN_GAP = 5e-4  # [rad] setpoint against the path: less is rounding of the loop's plan time
NEAR_END = 0.05  # [s] plan time, or [-] rate: about to stop
EXECUTED_SLACK = 1e-6  # [s]


@dataclass(frozen=True)
class MotionConfig:
    """Times of the look-ahead [s] and shares of the limits."""

    period: float = 0.02  # between window samples
    history: float = 0.06  # a window begins before now
    margin: float = 0.06  # from now to the splice
    horizon: float = 0.25  # nominal motion after the splice, before the braking
    filter_time: float = 0.08  # averaging of the rate: bounds jerk
    seal_delay: float = 0.15  # without points before the plan's end is taken as its end
    control_timeout: float = 0.3  # without a report of the loop before the arm is slowed to rest
    reserve: float = 0.95  # [-] share of velocity and acceleration limits used
    max_gap: float = 0.1  # [rad] most a joint may be off the path when the motion goes on after an interruption


class PlanMotion:
    """Windows along `path`; `plan_time` [s] is what the loop confirmed."""

    def __init__(self, limits: JointLimits, config: MotionConfig) -> None:
        self.config = config
        self.path = JointPath(limits, PathLimits(reserve=config.reserve))
        self.plan_time = 0.0
        self.trouble = ""  # why the motion does not go on by itself; cleared by the owner
        self.off_path = False  # the arm is too far from the plan to go on with it
        self.anchored = False
        self.kept = 0  # ticks in which no new motion was valid, and the one held went on
        self.interruptions = 0  # times the loop stopped by itself or lost the windows
        self.control: ControlReport | None = None
        self._control_time = -np.inf
        self._maker = WindowMaker(limits, config.period, config.history)
        self._profile = Profile.rest(0.0, 0.0, config.filter_time)
        self._ledger = WindowLedger(0, self._profile)
        self._recoverable = False  # what interrupted the loop passes by itself
        self._lost = False  # the loop is not where the windows say: wait for its rest
        self._first_window = 1  # first window since the motion last began from a reported rest
        self._refused = 0  # latest refusal dealt with
        self._append_time = -np.inf
        _compile(self.path, self._maker, self._profile)

    # --- state ---------------------------------------------------------------------------------------------------

    @property
    def committed(self) -> float:
        """[s] plan time the windows given to the loop depend on."""
        return self._ledger.committed

    @property
    def committed_index(self) -> int:
        """Last knot of the committed stretch."""
        return self.path.index_needed(self._ledger.committed)

    @property
    def stop_time(self) -> float:
        """[s] plan time where the arm comes to rest with no further window."""
        return self._profile.end_tau

    def rate(self, now: float) -> float:
        """Plan seconds per second of the arm."""
        return float(self._profile.sample(np.array([now]))[1, 0])

    def moving(self, now: float) -> bool:
        """True until the motion held has ended."""
        return self._lost or now < self._profile.end

    def start_from(self, seq: int, tau: float) -> None:
        """Before the loop's first report: the arm will be found at rest at point `seq`, plan time `tau` [s]."""
        self.path.reset(tau, self.path.joints[-1].copy(), seq)
        self.plan_time = tau

    # --- the plan ------------------------------------------------------------------------------------------------

    def begin(self, now: float, tau: float, q: FloatArray, seq: int) -> None:
        """Forget the path; rest at `q` (dof,) [rad], plan time `tau` [s], as point `seq`."""
        self.path.reset(tau, q, seq)
        self._stand(now, tau)

    def append(
        self, now: float, seq: IntArray, time: FloatArray, q: FloatArray, gripper: FloatArray | None = None
    ) -> None:
        """Knots after the tail, as `JointPath.append`."""
        self.path.append(seq, time, q, gripper)
        self._append_time = now

    def truncate(self, seq: int) -> None:
        """Drop knots after number `seq` as far as they are not committed."""
        self.path.truncate(max(self.path.index_of_seq(seq), self.committed_index, 0) + 1)

    # --- windows -------------------------------------------------------------------------------------------------

    def tick(self, now: float, goal: float) -> MotionWindow | None:
        """The next window towards rate `goal` [-] (0: come to rest); None when there is nothing new to say."""
        control = self.control
        if not self.anchored or self._lost or control is None:
            return None
        if control.primitive or control.state in (LoopState.STOPPING, LoopState.FAULT):
            return None
        if self.trouble or self.off_path or now - self._control_time > self.config.control_timeout:
            goal = 0.0
        splice = self._maker.lattice(now + self.config.margin)
        tau, rate = self._profile.raw(splice)
        self._seal_if_starved(now, tau, rate)
        if rate == 0.0 and (goal == 0.0 or self._profile.rested_since(splice) < self.config.filter_time):
            return None
        profile = self._replanned(now, splice, goal)
        return None if profile is None else self._issue(now, splice, profile)

    def _replanned(self, now: float, splice: float, goal: float) -> Profile | None:
        config = self.config
        tau, rate = self._profile.raw(splice)
        reach = tau + max(goal, rate) * (config.horizon + self.path.stop_time + 2.0 * config.filter_time) + 0.1
        behind = float(self._profile.sample(np.array([splice]))[0, 0])
        stretch = self.path.stretch(behind, tau, reach)
        oldest = now - config.history - config.period - config.filter_time
        profile = self._profile.continued(splice, stretch, goal, config.horizon if goal else 0.0, oldest)
        if profile is None:
            self.kept += 1
        return None if profile is self._profile else profile

    def _issue(self, now: float, splice: float, profile: Profile) -> MotionWindow | None:
        number = self._ledger.last_number + 1
        window = self._maker.make(number, now, splice, self.path, profile)
        if window is None:
            self.kept += 1
            return None
        self._profile = profile
        self._ledger.add(number, profile, profile.committed(splice), splice)
        self.path.drop_before(min(self.plan_time, float(window.plan_time[0])))
        return window

    def _seal_if_starved(self, now: float, tau: float, rate: float) -> None:
        """Nothing follows, and the arm is about to stop before the last point: let it run out at rest there."""
        if self.path.sealed or now - self._append_time < self.config.seal_delay:
            return
        near = self.path.settled_end - tau <= NEAR_END
        if near or (rate < NEAR_END and self.path.index_reached(tau) >= self.path.settled - 1):
            self.path.seal()

    # --- the loop ------------------------------------------------------------------------------------------------

    def on_control(self, now: float, report: ControlReport) -> None:
        """Take in what the loop says of itself."""
        self.control, self._control_time = report, now
        if not self.anchored:
            if report.resting:
                self.begin(now, self.plan_time, report.joint_position, int(self.path.seqs[-1]))
                self.anchored = True
            return
        if report.window_number >= self._first_window:
            self.plan_time = max(self.plan_time, min(report.plan_time, self._ledger.committed))
        self._compare(now, report)
        if self._lost and report.resting:
            self._recover(now, report)
        elif report.resting and now > self._profile.end + self.config.control_timeout:
            self._follow_rest(now, report)

    def executed_seq(self) -> int:
        """Number of the last knot the arm has reached, 0 when none of those held."""
        index = self.path.index_reached(self.plan_time + EXECUTED_SLACK)
        return int(self.path.seqs[index]) if index >= 0 else 0

    def _compare(self, now: float, report: ControlReport) -> None:
        """Tell whether the loop follows the windows; go back to the one it uses when it refused a later one."""
        number = max(report.window_number, self._first_window - 1)
        self._ledger.confirm(number)
        used = self._ledger.find(number)
        mine = report.window_number >= self._first_window
        if report.interrupted and mine and self._left_path(now, report):
            self._lose(report.reason or f"control loop is {report.state.name}", report.recoverable)
        elif used is None:
            self._lose("")
        elif report.refused_window > max(self._refused, number) or self._missing(now, number):
            self._refused = max(report.refused_window, self._ledger.last_number)
            self._profile = used.profile

    def _missing(self, now: float, used: int) -> bool:
        """True when a window was lost on its way: neither used nor refused long after its splice."""
        return self._ledger.overdue(now, max(self._refused, used), self.config.control_timeout)

    def _left_path(self, now: float, report: ControlReport) -> bool:
        return now < self._profile.end or abs(report.plan_time - self._profile.end_tau) > EXECUTED_SLACK

    def _lose(self, reason: str, recoverable: bool = False) -> None:
        self._recoverable = recoverable and (self._recoverable or not self._lost)
        if not self._lost:
            self.interruptions += 1
            self._lost = True
            self.trouble = self.trouble or reason

    def _recover(self, now: float, report: ControlReport) -> None:
        """The loop rests: go on from there. Off the path by more than `max_gap`: only after a new plan."""
        q = report.joint_position
        tau = min(self.plan_time, float(self.path.settled_end))
        gap = float(np.abs(self.path.evaluate(np.array([tau]))[0][0] - q).max())
        self.off_path = gap > self.config.max_gap
        if self.off_path:
            self.trouble = f"arm: joint is {gap:.3f} rad off the plan; allowed: {self.config.max_gap:g}; clear the plan"
        elif gap > JOIN_GAP:
            self.path.rejoin(tau, q, self.executed_seq())
        if self._recoverable and not self.off_path:
            self.trouble = ""
        self._stand(now, tau)

    def _follow_rest(self, now: float, report: ControlReport) -> None:
        """Something else moved the arm while the plan rested: go on from where the arm is."""
        if self._ledger.last_number not in (report.window_number, report.refused_window):
            return
        tau = self._profile.end_tau
        at_end = tau >= self.path.times[-1]
        q = self.path.joints[-1] if at_end else self.path.evaluate(np.array([tau]))[0][0]
        if np.abs(q - report.joint_position).max() <= REST_GAP:
            return
        if at_end:
            self.begin(now, float(self.path.times[-1]), report.joint_position, int(self.path.seqs[-1]))
        elif not self.off_path:
            self._recover(now, report)

    def _stand(self, now: float, tau: float) -> None:
        """Rest at plan time `tau`; windows before this are over."""
        number = self._ledger.last_number
        if self.control is not None:
            number = max(number, self.control.window_number, self.control.refused_window)
        self._profile = Profile.rest(now, tau, self.config.filter_time)
        self._ledger = WindowLedger(number, self._profile)
        self._first_window = number + 1
        self._refused = number
        self.plan_time = tau
        self._lost = False


def _compile(path: JointPath, maker: WindowMaker, rest: Profile) -> None:
    """Compile what a tick needs, now instead of while the arm moves; `path` is left at its rest."""
    q = path.joints[0].copy()
    ahead = np.array([0.02, 0.04, 0.06])
    path.append(np.arange(1, 4), ahead, np.tile(q, (3, 1)))
    profile = rest.continued(0.1, path.stretch(0.0, 0.0, 0.06), 1.0, 0.1, 0.0)
    if profile is not None:
        maker.make(1, 0.0, 0.1, path, profile)
    path.reset(0.0, q)
