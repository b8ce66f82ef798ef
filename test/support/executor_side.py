"""The plan executor with the loop's own window follower, and the operator's bookkeeping of the log."""

import dataclasses

import numpy as np

from telerobot_nodes.core.protocol import ControlState, ExecutorMode, OperationKind
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.values.frames import pose_from_se3
from telerobot_nodes.motion.tracking import WindowFollower
from telerobot_nodes.plan.executor import PlanExecutor
from telerobot_nodes.plan.log import ControlReport, Operation, PlanPoints

K = OperationKind
ROBOT = load_robot("arm")
START = pose_from_se3(ROBOT.forward(ROBOT.home))


def poses_at(times, speed=1.0):
    """A small closed motion of the tool that starts at rest at the arm's home."""
    t = np.asarray(times) * speed
    rows = np.tile(START, (t.size, 1))
    ease = np.clip(t, 0.0, 1.0) ** 3
    rows[:, 0] += 0.03 * ease * np.sin(2.0 * t)
    rows[:, 1] += 0.05 * ease * np.sin(1.3 * t)
    rows[:, 2] += 0.02 * ease * np.sin(3.1 * t)
    return rows


class Side:
    """Executor and loop at 2 ms, and the operator's bookkeeping of the log."""

    def __init__(self, config=None, tick=0.04, **options):
        self.executor = PlanExecutor(ROBOT, config, **options)
        self.follower = WindowFollower(ROBOT.dof, ROBOT.limits)
        self.follower.hold(ROBOT.home, 0.0)
        self.now = 10.0
        self.follower.sample(self.now)
        self.rest, self.tick, self.step = True, tick, 0
        self.number, self.seq, self.time = 0, 0, -0.02
        self.executed, self.plan_times = [], []
        self.halts, self.halted = 0, False  # as the control loop counts them
        self.report_control()
        self.send(K.AUTHORITY)

    def operation(self, kind, agent="ann", epoch=1, **values):
        self.number += 1
        return Operation(epoch, self.number, kind, agent, **values)

    def halt(self):
        """The control loop has obeyed a halt."""
        self.halts, self.halted = self.halts + 1, True
        self.report_control()

    def send(self, kind, **values):
        if kind is K.RESUME:
            values.setdefault("halt_count", self.halts)
        self.executor.receive(self.now, [self.operation(kind, **values)])
        return self.report()

    def points(self, n, first=None, author="ann", pose=None, time=None):
        first = self.seq + 1 if first is None else first
        times = self.time + 0.02 * np.arange(1, n + 1) if time is None else np.asarray(time, float)
        return PlanPoints(first, times, poses_at(times) if pose is None else pose, np.zeros(times.size), author)

    def lay(self, n, after=None, **values):
        points = self.points(n, **values)
        tail = self.report().tail_seq
        report = self.send(K.APPEND, points=points, after_seq=tail if after is None else after)
        if report.refused_number != self.number:
            self.seq, self.time = points.last_seq, float(points.time[-1])
        return report

    def report(self):
        return self.executor.report(self.now)

    def report_control(self, state=None, reason=""):
        f = self.follower
        state = state if state is not None else (ControlState.HOLDING if self.rest else ControlState.TRACKING)
        report = ControlReport(
            state, f.number, f.refused, f.plan_time, f.q.copy(), f.v.copy(), f.number, f.plan_time, reason=reason
        )
        if self.halted and self.executor.resuming == self.halts:
            self.halted = False
        report = dataclasses.replace(report, halted=self.halted, halt_count=self.halts, halt_reason="eve: too near")
        self.executor.on_control(self.now, report)

    def run(self, duration):
        for _ in range(round(duration / 0.002)):
            self.now += 0.002
            self.step += 1
            self.rest = self.follower.sample(self.now)
            if self.step % 5 == 0:
                self.report_control()
            if self.step % round(self.tick / 0.002) == 0:
                window = self.executor.tick(self.now)
                if window is not None:
                    self.follower.offer(self.now, window)
            for done in self.executor.drain_executed():
                self.executed.extend(range(done.first_seq, done.last_seq + 1))

    def finish(self, longest=60.0):
        until = self.now + longest
        while self.now < until and self.report().mode is not ExecutorMode.IDLE:
            self.run(0.2)
        return self.report()

    def still(self):
        return bool(np.all(np.abs(self.follower.v) < 1e-9))  # the mean of a motion at rest ends in rounding
