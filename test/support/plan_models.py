"""A robot's side reduced to its promises: applies the log, executes in plan time, keeps what it is committed to."""

import random

import numpy as np

from telerobot_nodes.core.protocol import ExecutorMode, OperationKind
from telerobot_nodes.plan.log import ExecutorReport, Receiver


class Link:
    """One direction of a link that delays, loses, doubles and reorders; `cut` loses everything."""

    def __init__(self, seed=0, delay=0.0, jitter=0.0, loss=0.0, duplicate=0.0):
        self.random = random.Random(seed)
        self.delay, self.jitter, self.loss, self.duplicate = delay, jitter, loss, duplicate
        self.cut = False
        self.flying = []
        self.sent = 0

    def send(self, now, message):
        self.sent += 1
        copies = 2 if self.random.random() < self.duplicate else 1
        for _ in range(copies):
            if not self.cut and self.random.random() >= self.loss:
                arrival = now + self.delay + self.random.random() * self.jitter
                self.flying.append((arrival, self.random.random(), message))

    def arrived(self, now):
        due = sorted((entry for entry in self.flying if entry[0] <= now), key=lambda entry: entry[:2])
        self.flying = [entry for entry in self.flying if entry[0] > now]
        return [entry[2] for entry in due]


class Robot:
    """Reference model of the executor: no dynamics, only the contract of the log."""

    COMMIT = 0.3  # [s] of plan that cannot be deleted

    def __init__(self, pose=(0.4, 0.0, 0.4, 0.0, 0.0, 0.0, 1.0), capacity=10_000, position=None, may_open=None):
        self.receiver = Receiver(position, *([may_open] if may_open else []))
        self.pose = np.array(pose)
        self.capacity = capacity
        self.points = []  # (seq, time, pose, author), not executed
        self.executed = []  # (seq, author), in order
        self.executed_seq = self.tail_seq = 0
        self.plan_time = self.tail_time = 0.0
        self.paused = False
        self.rate = 1.0
        self.refused = []
        self.now = None

    def receive(self, now, operations):
        for delivery in self.receiver.receive(now, operations):
            if not delivery.refusal:
                self._apply(delivery.operation)

    def _apply(self, operation):
        kind = operation.kind
        if kind is OperationKind.APPEND:
            self._append(operation)
        elif kind in (OperationKind.TRUNCATE, OperationKind.CLEAR):
            keep = max(operation.after_seq if kind is OperationKind.TRUNCATE else 0, self.committed_seq)
            self.points = [point for point in self.points if point[0] <= keep]
            self.tail_seq = self.points[-1][0] if self.points else self.executed_seq
            self.tail_time = self.points[-1][1] if self.points else self.plan_time
        elif kind is OperationKind.PAUSE:
            self.paused = True
        elif kind is OperationKind.RESUME:
            self.paused = False
        elif kind is OperationKind.RATE:
            self.rate = operation.rate

    def _append(self, operation):
        points = operation.points
        reason = ""
        if operation.after_seq != self.tail_seq:
            reason = f"after_seq: {operation.after_seq}; allowed: {self.tail_seq}"
        elif points.time[0] <= self.tail_time and self.tail_seq:
            reason = f"time: {points.time[0]}; allowed: above {self.tail_time}"
        elif len(self.points) + len(points) > self.capacity:
            reason = "queue is full"
        if reason:
            self.refused.append(reason)
            self.receiver.refuse(operation.number, reason)
            return
        for i in range(len(points)):
            self.points.append((points.first_seq + i, float(points.time[i]), points.pose[i], points.author))
        self.tail_seq, self.tail_time = points.last_seq, float(points.time[-1])

    def restart(self):
        """The executor is killed: the arm runs out what it is committed to, the rest is forgotten, the log is not."""
        committed = self.committed_seq
        while self.points and self.points[0][0] <= committed:
            self.executed_seq, self.plan_time, self.pose, author = self.points.pop(0)
            self.executed.append((self.executed_seq, author))
        self.points = []
        self.tail_seq, self.tail_time = self.executed_seq, self.plan_time
        self.paused, self.rate = False, 1.0

    @property
    def committed_seq(self):
        held = [seq for seq, time, _, _ in self.points if time <= self.plan_time + self.COMMIT]
        return held[-1] if held else self.executed_seq

    def run(self, now):
        dt = 0.0 if self.now is None else now - self.now
        self.now = now
        if self.paused or not self.points:
            return
        self.plan_time = min(self.plan_time + dt * self.rate, self.tail_time)
        while self.points and self.points[0][1] <= self.plan_time + 1e-9:
            self.executed_seq, _, self.pose, author = self.points.pop(0)
            self.executed.append((self.executed_seq, author))

    def report(self):
        ack = self.receiver.acknowledgement
        mode = ExecutorMode.PAUSED if self.paused else ExecutorMode.RUNNING if self.points else ExecutorMode.IDLE
        return ExecutorReport(
            mode=mode,
            reason="",
            epoch=ack.position.epoch,
            authority=ack.position.authority,
            applied_number=ack.position.applied_number,
            applied_copy=ack.applied_copy,
            applied_age=max(self.now - ack.applied_received, 0.0) if ack.applied_received >= 0.0 else 0.0,
            refused_number=ack.refused_number,
            refusal=ack.refusal,
            executed_seq=self.executed_seq,
            committed_seq=self.committed_seq,
            tail_seq=self.tail_seq,
            halt_count=0,
            plan_time=self.plan_time,
            committed_time=min(self.plan_time + self.COMMIT, self.tail_time),
            tail_time=self.tail_time,
            rate=0.0 if self.paused else self.rate,
            rate_goal=self.rate,
            queue_length=len(self.points),
            capacity=self.capacity,
        )


class Session:
    """A queue, a robot and the link between them, moved through time in steps of 10 ms."""

    STEP = 0.01

    def __init__(self, queue, robot, up=None, down=None):
        self.queue, self.robot = queue, robot
        self.up, self.down = up or Link(1), down or Link(2)
        self.now = 100.0
        self.ticks = 0
        self.updates = []
        self.notices = set()

    def step(self, command=None):
        self.ticks += 1
        self.now = 100.0 + self.ticks * self.STEP
        for operations in self.up.arrived(self.now):
            self.robot.receive(self.now, operations)
        self.robot.run(self.now)
        if self.ticks % 5 == 0:
            self.down.send(self.now, (self.robot.report(), self.robot.pose.copy()))
        for report, pose in self.down.arrived(self.now):
            self.queue.on_report(self.now, report, pose)
        if command is not None:
            command(self.now)
        operations = self.queue.poll(self.now)
        if operations:
            self.up.send(self.now, operations)
        self.updates += self.queue.drain()
        self.notices.add(self.queue.state(self.now).notice)

    def run(self, seconds, command=None):
        for _ in range(round(seconds / self.STEP)):
            self.step(command)

    def state(self):
        return self.queue.state(self.now)

    def shown(self):
        """The plan as a display would have it from the updates: list of (seq, time, pose, timing)."""
        plan = []
        for update in self.updates:
            if update.trial:
                continue
            if update.kind == 2:
                plan = []
            if update.kind == 1:
                plan = [point for point in plan if point[0] <= update.after_seq]
            if update.points is not None:
                p = update.points
                plan += [(p.first_seq + i, float(p.time[i]), p.pose[i], int(p.timing[i])) for i in range(len(p))]
        return plan
