"""The real executor and control step on an arm that is where its setpoint is: stands in for the model robot."""

import math

import numpy as np
from executor_models import OnExecutor

from telerobot_nodes.bench.plan.executed_rig import report_of
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.values.frames import pose_from_se3
from telerobot_nodes.motion.loop import ControlStep
from telerobot_nodes.plan.executor import ExecutorConfig, ExecutorMemory, PlanExecutor
from telerobot_nodes.plan.log import Receiver

ARM = load_robot("arm")
PERIOD = 0.005  # [s] of the control loop
REPORT, TICK = 2, 8  # periods


class ControlledRobot(OnExecutor):
    """Executor, control step and arm moved through time; either process may be killed, and anyone may halt."""

    def __init__(self, may_open=None, capacity=100_000):
        self.config, self.policy = ExecutorConfig(capacity=capacity), [may_open] if may_open else []
        self.executor = PlanExecutor(ARM, self.config, Receiver(None, *self.policy))
        self.memory = self.executor.memory()  # what the executor has written for a successor
        self.loop = ControlStep(ARM, PERIOD)
        self.q, self.qd = ARM.home.copy(), np.zeros(ARM.dof)
        self.now, self.count, self.followed = None, 0, 0
        self.executed = []  # (seq, who held authority in its epoch)
        self.holders = {}
        self.places = []  # (3,) [m] of the tool, at every period
        self.executed_at = []  # number of places when a point was reported
        self.worst_velocity = self.worst_acceleration = 0.0

    @property
    def pose(self):
        return pose_from_se3(ARM.forward(self.q))

    @property
    def points(self):
        """Points held and not executed, as one counts them."""
        return range(self.executor.queue_length)

    def receive(self, now, operations):
        self.executor.receive(now, operations)
        position = self.receiver.position
        self.holders[position.epoch] = position.authority
        self.executor.drain_requests()

    def restart(self):
        """The executor is killed; another continues from what it had written."""
        memory = ExecutorMemory.from_text(self.memory.text())
        self.executor = PlanExecutor(ARM, self.config, Receiver(memory.position, *self.policy), memory)

    def restart_loop(self):
        """The control loop is killed; another begins where the arm is."""
        self.loop = ControlStep(ARM, PERIOD)
        self.qd, self.followed = np.zeros(ARM.dof), 0

    def halt(self):
        self.loop.halt(int(self.loop.output.record["distinct"].item()) + 1, "test")

    def run(self, now):
        self.now = now - PERIOD if self.now is None else self.now
        while self.now + PERIOD <= now + 1e-9:
            self.now += PERIOD
            self.count += 1
            self._step()

    def _step(self):
        self.loop.measure(self.now, self.q, self.qd)
        self.loop.set_hardware(0)
        self.loop.arrival.hardware(self.now, self.followed, math.nan, math.nan)
        out = self.loop.step(self.now)
        self.followed = out.number
        self.q, self.qd = out.q.copy(), out.qd.copy()
        self.places.append(ARM.forward(self.q).translation.copy())
        self.worst_velocity = max(self.worst_velocity, np.abs(out.qd / ARM.limits.velocity).max())
        self.worst_acceleration = max(self.worst_acceleration, np.abs(out.qdd / ARM.limits.acceleration).max())
        if self.executor.resuming is not None:
            self.loop.resume(self.executor.resuming)
        if self.count % REPORT == 0:
            self.executor.on_control(self.now, report_of(out))
        if self.count % TICK == 0:
            window = self.executor.tick(self.now)
            self.memory = self.executor.memory()
            if window is not None:
                self.loop.offer(self.now, window)
        for reached in self.executor.drain_executed():
            seqs = range(reached.first_seq, reached.last_seq + 1)
            self.executed += [(seq, self.holders.get(reached.epoch, "")) for seq in seqs]
            self.executed_at += [len(self.places)] * len(seqs)

    def report(self):
        self.memory = self.executor.memory()
        return self.executor.report(self.now or 0.0)
