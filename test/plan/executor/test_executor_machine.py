"""Operators' queues at the real executor and the real control step, under any interleaving of everything (stateful).

Like the machines of the queue and of the two operators, and besides: rate, halts, predicted collisions, requests,
messages that nobody should send, executor and control loop killed at any moment. The arm is judged by its places.
"""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from controlled_robot import ARM, ControlledRobot
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from telerobot_nodes.core.protocol import ExecutorMode, OperationKind
from telerobot_nodes.core.robot import Reach
from telerobot_nodes.plan.log import Operation, UnreadableOperation
from telerobot_nodes.plan.queue import CollisionCheck, PathPlanQueue


def module(path):
    """Another test file: its machine is the base of one here."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


PLAN = Path(__file__).parents[1]
plan = module(PLAN / "queue" / "test_plan_machine.py")
agents = module(PLAN / "authority" / "test_agents_machine.py")

EXAMPLES = 3  # interleavings of up to 25 steps in the quick suite
NEAR = 0.01  # [m] between a point and the tool that executed it
AT_REST = 1.5  # [s] after which an arm that was halted rests
WAITING = (ExecutorMode.PAUSED, ExecutorMode.HALTED, ExecutorMode.FAULT)
LARGEST = 2**64 - 1

POISON = {
    "a stranger's pause": lambda at: Operation(at.epoch, at.applied_number + 1, OperationKind.PAUSE, "eve"),
    "a stranger's claim": lambda at: Operation(at.epoch + 1, 1, OperationKind.AUTHORITY, "eve"),
    "the last epoch": lambda at: Operation(LARGEST, 1, OperationKind.AUTHORITY, at.authority),
    "a claim inside the epoch": lambda at: Operation(at.epoch, at.applied_number + 1, OperationKind.AUTHORITY, "eve"),
    "an older epoch": lambda at: Operation(at.epoch - 1, 1, OperationKind.CLEAR, at.authority),
    "a copy": lambda at: Operation(at.epoch, max(at.applied_number, 1), OperationKind.CLEAR, at.authority),
    "a number far ahead": lambda at: Operation(at.epoch, LARGEST, OperationKind.CLEAR, at.authority),
    "a stranger's, not readable": lambda at: UnreadableOperation(at.epoch, at.applied_number + 1, "eve", "bad"),
}


class ExecutorMachine(plan.PlanMachine):
    """One operator at the executor; both sides, the control loop and the link fail."""

    def new_queue(self):
        return PathPlanQueue(self.config, Reach(ARM))

    def new_robot(self):
        self.halted_at = None
        return ControlledRobot(capacity=600)

    @rule(rate=st.sampled_from([0.2, 1.0, 5.0]))
    def rate(self, rate):
        self.tried(lambda: self.session.queue.set_rate(self.session.now, rate))

    @rule()
    def halt(self):
        self.session.robot.halt()
        self.halted_at = self.session.now

    @rule(share=st.sampled_from([0.2, 0.6, 1.0]))
    def collision(self, share):
        seqs = [point[0] for point in self.session.shown()]
        if len(seqs) > 1:
            at = max(int(share * (len(seqs) - 1)), 1)
            self.session.queue.on_collision_check(CollisionCheck(seqs[at], seqs[at - 1], seqs[at], "wall"))

    @rule(enabled=st.booleans())
    def collision_stop(self, enabled):
        self.session.queue.set_stop_before_collision(enabled)

    @rule(kind=st.sampled_from(["reset", "tare"]))
    def request(self, kind):
        self.tried(lambda: getattr(self.session.queue, kind)(self.session.now))

    @rule()
    def loop_restart(self):
        self.session.robot.restart_loop()
        self.halted_at = None

    @rule(name=st.sampled_from(list(POISON)))
    def poison(self, name):
        robot = self.session.robot
        position = robot.receiver.position
        if position.authority:
            paused = robot.report().mode
            robot.receive(self.session.now, [POISON[name](position)])
            assert robot.receiver.position == position
            assert robot.report().mode is paused

    @invariant()
    def the_arm_stays_inside_its_limits(self):
        if hasattr(self, "session"):
            assert max(self.session.robot.worst_velocity, self.session.robot.worst_acceleration) <= 1.0 + 1e-6

    @invariant()
    def a_halted_arm_comes_to_rest_and_stays(self):
        if hasattr(self, "session") and self.halted_at is not None:
            robot = self.session.robot
            if not robot.loop.output.halted:
                self.halted_at = None
            elif self.session.now - self.halted_at > AT_REST:
                assert np.abs(robot.qd).max() < 1e-6

    @invariant()
    def every_point_was_passed(self):
        """Each point reported since the last look: the tool was there, in this order."""
        if not hasattr(self, "session"):
            return
        robot, self.seen = self.session.robot, getattr(self, "seen", (0, 0))
        known = {point[0]: point[2][:3] for point in self.session.shown()}
        done, at = self.seen
        for (seq, _), until in zip(robot.executed[done:], robot.executed_at[done:], strict=True):
            if seq in known:
                gaps = np.linalg.norm(np.array(robot.places[at:until]) - known[seq], axis=1)
                near = np.flatnonzero(gaps <= NEAR)
                assert near.size, f"point {seq} was not passed; nearest {1e3 * gaps.min():.1f} mm"
                at += int(near[0])
        self.seen = (len(robot.executed), at)

    def teardown(self):
        if not hasattr(self, "session"):
            return
        session = self.session
        session.up.cut = session.down.cut = False
        session.queue.set_stop_before_collision(False)
        session.run(4.0 + 8 * session.up.delay)
        self.tried(lambda: session.queue.set_rate(session.now, 1.0))
        for _ in range(60):
            if session.robot.report().mode in WAITING:
                self.tried(lambda: session.queue.resume(session.now))
            session.run(1.0)
            if not session.state().length and not session.robot.points:
                break
        super().teardown()
        self.every_point_was_passed()


class ExecutorAgentsMachine(agents.AgentsMachine):
    """Two operators at the executor."""

    ROBOT = ControlledRobot


class LongExecutorMachine(ExecutorMachine):
    """The same, many times."""


class LongExecutorAgentsMachine(ExecutorAgentsMachine):
    """The same, many times."""


QUICK = settings(plan.QUICK, max_examples=EXAMPLES)
ExecutorMachine.TestCase.settings = ExecutorAgentsMachine.TestCase.settings = QUICK
LongExecutorMachine.TestCase.settings = settings(QUICK, max_examples=plan.LONG)
LongExecutorAgentsMachine.TestCase.settings = settings(QUICK, max_examples=agents.LONG)
TestExecutorMachine = pytest.mark.lengthy(ExecutorMachine.TestCase)
TestExecutorAgentsMachine = pytest.mark.lengthy(ExecutorAgentsMachine.TestCase)
TestLongExecutorMachine = pytest.mark.slow(pytest.mark.timeout(8 * 3600)(LongExecutorMachine.TestCase))
TestLongExecutorAgentsMachine = pytest.mark.slow(pytest.mark.timeout(8 * 3600)(LongExecutorAgentsMachine.TestCase))
