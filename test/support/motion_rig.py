"""A plan motion and the window follower of the control loop, run together at 1 ms, with every sample checked."""

import numpy as np

from telerobot_nodes.core.protocol import ControlState
from telerobot_nodes.core.robot import JointLimits
from telerobot_nodes.motion.tracking import WindowFollower
from telerobot_nodes.plan.executor import MotionConfig, PlanMotion
from telerobot_nodes.plan.log import ControlReport

DOF = 3
LIMITS = JointLimits(
    lower=np.full(DOF, -3.0),
    upper=np.full(DOF, 3.0),
    velocity=np.array([2.0, 1.5, 2.5]),
    acceleration=np.array([8.0, 6.0, 12.0]),
    effort=np.full(DOF, 100.0),
)
STEP = 0.001  # [s]
START = 50.0  # [s]


class Rig:
    """`motion` under test and the loop that follows it; worst values over all samples so far."""

    def __init__(self, config=None, limits=LIMITS, tick=0.03, report=0.01):
        self.limits = limits
        self.motion = PlanMotion(limits, config or MotionConfig())
        self.follower = WindowFollower(limits.dof, limits)
        self.follower.hold(np.zeros(limits.dof), 0.0)
        self.now = START
        self.follower.sample(self.now)
        self.goal = 1.0
        self.tick_period, self.report_period = tick, report
        self.next_tick = self.next_report = self.now
        self.samples = []  # q, v, a after each step
        self.refusals = []
        self.reached = []
        self.seq = 0
        self.lost_windows = 0
        self.at_rest = True
        self.motion.on_control(self.now, self.control())

    def control(self, state=None):
        f = self.follower
        state = state or (ControlState.HOLDING if self.at_rest else ControlState.TRACKING)
        return ControlReport(state, f.number, f.refused, f.plan_time, f.q.copy(), f.v.copy(), f.number, f.plan_time)

    def lay(self, times, q):
        seqs = np.arange(self.seq + 1, self.seq + 1 + len(times))
        self.seq += len(times)
        self.motion.append(self.now, seqs, np.asarray(times, float), np.asarray(q, float))
        return seqs

    def run(self, duration, lose=False):
        """Time passes; `lose`: windows do not arrive."""
        for _ in range(round(duration / STEP)):
            self.now += STEP
            self._sample()
            if self.now >= self.next_report:
                self.next_report += self.report_period
                self.motion.on_control(self.now, self.control())
                self._note_reached()
            if self.now >= self.next_tick:
                self.next_tick += self.tick_period
                self._tick(lose)

    def finish(self, longest=60.0):
        """Let everything held be executed; False when that takes too long."""
        until = self.now + longest
        while self.now < until:
            self.run(0.2)
            path = self.motion.path
            if path.sealed and not self.motion.moving(self.now) and self.motion.executed_seq() == path.seqs[-1]:
                self.run(0.05)
                return True
        return False

    def sleep_executor(self, duration):
        """The executor hangs; the loop goes on."""
        self.next_tick = max(self.next_tick, self.now + duration)
        self.run(duration)

    def _tick(self, lose):
        window = self.motion.tick(self.now, self.goal)
        if window is None:
            return
        if lose:
            self.lost_windows += 1
            return
        refusal = self.follower.offer(self.now, window)
        if refusal:
            self.refusals.append(refusal)

    def _sample(self):
        self.at_rest = self.follower.sample(self.now)
        f = self.follower
        self.samples.append(np.stack((f.q, f.v, f.a)))

    def motion_done(self):
        """(n, 3, dof): q, v, a at every step."""
        return np.array(self.samples)

    def worst(self):
        """Largest velocity, acceleration, jerk of all samples, as shares of the limits."""
        q, v, a = np.moveaxis(self.motion_done(), 1, 0)
        assert np.abs(np.diff(q, axis=0) - 0.5 * STEP * (v[1:] + v[:-1])).max() < 1e-6, "position jumps"
        assert np.abs(np.diff(v, axis=0) - 0.5 * STEP * (a[1:] + a[:-1])).max() < 1e-3, "velocity jumps"
        limits = self.limits
        jerk = np.abs(np.diff(a, axis=0) / STEP / limits.jerk).max()
        return np.abs(v / limits.velocity).max(), np.abs(a / limits.acceleration).max(), jerk

    def _note_reached(self):
        seq = self.motion.executed_seq()
        if not self.reached or seq != self.reached[-1]:
            self.reached.append(seq)
