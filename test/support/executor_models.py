"""The real executor with a control loop that follows its windows exactly: stands in for `plan_models.Robot`."""

import numpy as np

from telerobot_nodes.core.protocol import ControlState
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.values.frames import pose_from_se3
from telerobot_nodes.motion.tracking import WindowFollower
from telerobot_nodes.plan.executor import PlanExecutor
from telerobot_nodes.plan.log import ControlReport, Receiver

ARM = load_robot("arm")
STEP = 0.005  # [s] of the control loop


class OnExecutor:
    """What is asked of a robot whose executor is the real one."""

    @property
    def receiver(self):
        return self.executor.receiver

    @property
    def plan_time(self):
        return self.executor.motion.plan_time


class ExecutorRobot(OnExecutor):
    """Executor and loop moved through time; keeps the worst use of the limits and every pose."""

    def __init__(self, may_open=None):
        receiver = Receiver(None, may_open) if may_open else Receiver()
        self.executor = PlanExecutor(ARM, receiver=receiver)
        self.follower = WindowFollower(ARM.dof, ARM.limits)
        self.follower.hold(np.array(ARM.home), 0.0)
        self.now = None
        self.next_tick = 0.0
        self.executed = []  # (seq, epoch)
        self.refused = []
        self.poses = []
        self._primitive = None  # from, to [rad], begin, end [s]
        self.worst_velocity = self.worst_acceleration = 0.0

    @property
    def tail_seq(self):
        return int(self.executor.motion.path.seqs[-1])

    @property
    def pose(self):
        return pose_from_se3(ARM.forward(self.follower.q))

    def receive(self, now, operations):
        self.executor.receive(now, operations)
        refusal = self.receiver.acknowledgement.refusal
        if refusal and (not self.refused or self.refused[-1] != refusal):
            self.refused.append(refusal)

    def run(self, now):
        self.now = now - STEP if self.now is None else self.now
        while self.now + STEP <= now + 1e-9:
            self.now += STEP
            self._step()
        self.poses.append(self.pose)

    def _step(self):
        if self._run_primitive():
            return
        f = self.follower
        rest = f.sample(self.now)
        self.worst_velocity = max(self.worst_velocity, np.max(np.abs(f.v) / ARM.limits.velocity))
        self.worst_acceleration = max(self.worst_acceleration, np.max(np.abs(f.a) / ARM.limits.acceleration))
        state = ControlState.HOLDING if rest else ControlState.TRACKING
        report = ControlReport(state, f.number, f.refused, f.plan_time, f.q.copy(), f.v.copy(), f.number, f.plan_time)
        self.executor.on_control(self.now, report)
        for reached in self.executor.drain_executed():
            self.executed += [(seq, reached.epoch) for seq in range(reached.first_seq, reached.last_seq + 1)]
        if self.now >= self.next_tick:
            self.next_tick = self.now + 0.03
            window = self.executor.tick(self.now)
            if window is not None:
                f.offer(self.now, window)

    def move_by_primitive(self, by, seconds):
        """Something else than the plan moves the arm by joint angles [rad], from now on."""
        q = self.follower.q.copy()
        self._primitive = q, q + by, self.now, self.now + seconds

    def _run_primitive(self):
        """Move the arm; the loop says so, and takes no window meanwhile. False: there is no primitive."""
        if self._primitive is None:
            return False
        a, b, begin, end = self._primitive
        f, share = self.follower, min((self.now - begin) / (end - begin), 1.0)
        f.hold(a + share * (b - a), f.plan_time)
        f.sample(self.now)
        v = (b - a) / (end - begin)
        report = ControlReport(
            ControlState.TRACKING, f.number, f.refused, f.plan_time, f.q.copy(), v, f.number, f.plan_time, primitive=7
        )
        self.executor.on_control(self.now, report)
        assert self.executor.tick(self.now) is None
        if share > 1.0 - 1e-9:
            self._primitive = None
        return True

    def report(self):
        return self.executor.report(self.now)
