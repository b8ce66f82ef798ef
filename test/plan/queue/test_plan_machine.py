"""The queue, the log and a robot under any interleaving of controls, faults and time (stateful)."""

import contextlib
import itertools
import os

import numpy as np
import plan_models
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from queue_session import Within

from telerobot_nodes.errors import InvalidValueError, TransitionError
from telerobot_nodes.plan.queue import Join, PathPlanQueue, QueueConfig

MOST_STEP = 0.5 * 0.02 * 1.1  # [m] between points at the follower's top speed
PAUSES = st.sampled_from([0.05, 0.2, 0.6])
EXAMPLES = 8  # interleavings of up to 25 steps in the quick suite
LONG = int(os.environ.get("TELEROBOT_EXAMPLES", "15000"))  # in the slow one


class PlanMachine(RuleBasedStateMachine):
    """One operator's side that may restart, one robot, a link that does what links do."""

    @initialize(seed=st.integers(0, 1000), delay=st.sampled_from([0.0, 0.1, 0.5]), loss=st.sampled_from([0.0, 0.1]))
    def begin(self, seed, delay, loss):
        up = plan_models.Link(seed, delay, delay / 3, loss, loss)
        down = plan_models.Link(seed + 1, delay, delay / 3, loss, loss)
        self.config = QueueConfig(capacity=600, reserve=128)
        self.session = plan_models.Session(self.new_queue(), self.new_robot(), up, down)
        self.target = np.zeros(3)
        self.kept = []  # what earlier incarnations of this side showed of what was executed
        self.session.run(0.5 + 4 * delay)

    def new_queue(self):
        return PathPlanQueue(self.config, Within())

    def new_robot(self):
        return plan_models.Robot(capacity=600)

    def hand(self, velocity):
        session, start, last = self.session, self.target.copy(), self.session.now

        def command(now):
            self.target = start + np.array(velocity) * (now - last)
            session.queue.command_pose(now, [*(9.0 + self.target), 0.0, 0.0, 0.0, 1.0], "device")

        return command

    @rule(velocity=st.tuples(*[st.sampled_from([-0.2, 0.0, 0.3])] * 3), seconds=PAUSES)
    def move(self, velocity, seconds):
        self.session.run(seconds, self.hand(velocity))

    @rule(seconds=PAUSES)
    def wait(self, seconds):
        self.session.run(seconds)

    @rule(engaged=st.booleans())
    def time_clutch(self, engaged):
        self.session.queue.set_time_clutch(self.session.now, engaged)

    @rule(ratio=st.sampled_from([0.5, 1.0, 2.0]))
    def time_ratio(self, ratio):
        self.session.queue.set_time_ratio(self.session.now, ratio)

    @rule(linear=st.sampled_from([0.0, 0.3, 1.0, 5.0]), angular=st.sampled_from([0.0, 1.0]), turns=st.booleans())
    def hand_scale(self, linear, angular, turns):
        self.session.queue.set_hand_scale(self.session.now, linear=linear, angular=angular, turns=turns)

    @rule(opening=st.sampled_from([0.0, 0.08]))
    def gripper(self, opening):
        self.tried(lambda: self.session.queue.set_gripper(self.session.now, opening))

    @rule(rate=st.sampled_from([0.0, 2.0, 20.0]))
    def brake(self, rate):
        self.tried(lambda: self.session.queue.set_brake(self.session.now, rate))

    @rule()
    def clear(self):
        self.tried(lambda: self.session.queue.clear(self.session.now))

    @rule(rate=st.sampled_from([0.5, 5.0, None]), seconds=st.sampled_from([0.05, 0.5]))
    def undo(self, rate, seconds):
        """After a deletion of its own: among the other rules it would find nothing deleted."""
        with contextlib.suppress(TransitionError, InvalidValueError):  # unconfirmed; nothing was deleted
            if rate is None:
                self.session.queue.clear(self.session.now)
            else:
                self.session.queue.set_brake(self.session.now, rate)
            self.session.run(seconds)
            self.session.queue.undo(self.session.now)

    @rule(engaged=st.booleans(), kind=st.sampled_from(list(Join)))
    def position_clutch(self, engaged, kind):
        self.tried(lambda: self.session.queue.set_position_clutch(self.session.now, engaged, kind))

    @rule(up=st.booleans(), down=st.booleans())
    def link(self, up, down):
        self.session.up.cut, self.session.down.cut = not up, not down

    @rule(paused=st.booleans())
    def pause(self, paused):
        queue = self.session.queue
        self.tried(lambda: (queue.pause if paused else queue.resume)(self.session.now))

    @rule()
    def restart(self):
        self.kept += self.shown_and_executed()
        self.session.queue = self.new_queue()
        self.session.updates = []

    @rule()
    def robot_restart(self):
        self.session.robot.restart()

    def tried(self, control):
        try:
            control()
        except TransitionError:
            state = self.session.state()
            assert not state.has_authority or state.head_seq == 0  # the plan has no start yet

    def shown_and_executed(self):
        done = {seq for seq, _ in self.session.robot.executed}
        return [point[0] for point in self.session.shown() if point[0] in done]

    @invariant()
    def points_are_executed_in_order_and_at_most_once(self):
        if hasattr(self, "session"):
            seqs = [seq for seq, _ in self.session.robot.executed]
            assert seqs == sorted(set(seqs))

    @invariant()
    def the_plan_has_no_gap_in_place_or_time(self):
        if hasattr(self, "session"):
            shown = self.session.shown()
            poses = np.array([point[2][:3] for point in shown]).reshape(-1, 3)
            assert np.linalg.norm(np.diff(poses, axis=0), axis=1).max(initial=0.0) <= MOST_STEP
            times = [point[1] for point in shown]
            assert all(later > earlier for earlier, later in itertools.pairwise(times))

    @invariant()
    def the_lead_and_lengths_make_sense(self):
        if hasattr(self, "session"):
            state = self.session.state()
            assert 0 <= state.length <= self.config.capacity + self.config.reserve
            assert state.lead >= 0.0

    def teardown(self):
        if not hasattr(self, "session"):
            return
        session = self.session
        session.up.cut = session.down.cut = False
        session.run(3.0)
        self.tried(lambda: session.queue.set_brake(session.now, 0.0))
        session.run(4.0 + 8 * session.up.delay)
        self.tried(lambda: session.queue.resume(session.now))
        left = max((point[1] for point in session.shown()), default=0.0) - session.robot.plan_time
        session.run(max(left, 0.0) + 4.0 + 8 * session.up.delay)
        shown = [point[0] for point in session.shown()]
        executed = [seq for seq, _ in session.robot.executed]
        assert not session.robot.points
        assert executed[len(executed) - len(shown) :] == shown  # what is shown is what was done
        assert set(self.kept) <= set(executed)
        assert session.state().unacknowledged == 0
        self.points_are_executed_in_order_and_at_most_once()


class LongPlanMachine(PlanMachine):
    """The same, many times: tens of thousands of interleavings, the other machine's included."""


QUICK = settings(
    max_examples=EXAMPLES,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
PlanMachine.TestCase.settings = QUICK
LongPlanMachine.TestCase.settings = settings(QUICK, max_examples=LONG)
TestPlanMachine = pytest.mark.lengthy(PlanMachine.TestCase)
TestLongPlanMachine = pytest.mark.slow(pytest.mark.timeout(4 * 3600)(LongPlanMachine.TestCase))
