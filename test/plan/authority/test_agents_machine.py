"""Two operators at one robot under any interleaving of requests, consents, faults and restarts (stateful)."""

import contextlib
import os

import numpy as np
import plan_models
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from queue_session import Within
from two_agents import Two

from telerobot_nodes.core.protocol import AuthorityKind
from telerobot_nodes.errors import InvalidValueError, TransitionError
from telerobot_nodes.plan.queue import Join, PathPlanQueue, QueueConfig

NAMES = st.sampled_from(["ann", "bob"])
EXAMPLES = 5  # interleavings of up to 25 steps in the quick suite
LONG = int(os.environ.get("TELEROBOT_EXAMPLES", "5000"))  # in the slow one
MOST_SPEED = 0.5 * 1.15  # [m/s] of plan time


class AgentsMachine(RuleBasedStateMachine):
    """Ann and Bob, who plan, ask, consent, refuse, release, restart and lose their links."""

    ROBOT = plan_models.Robot

    @initialize(delay=st.sampled_from([0.0, 0.2]), armed=st.booleans())
    def begin(self, delay, armed):
        self.two = Two(delay, armed, self.ROBOT)
        self.holders = []
        self.home = self.two.robot.pose.copy()
        self.place = {name: self.home[:3].copy() for name in self.two.sides}
        self.two.run(0.5 + 4 * delay)

    @rule(name=NAMES, step=st.tuples(*[st.sampled_from([-0.1, 0.0, 0.1])] * 3), seconds=st.sampled_from([0.1, 0.5]))
    def move(self, name, step, seconds):
        low, high = self.home[:3] - 0.3, self.home[:3] + 0.2
        self.place[name] = np.clip(self.place[name] + step, low, high)
        goal = [*self.place[name], *self.home[3:]]
        self.two.run(seconds, **{name: lambda now: goal})
        self.note()

    @rule(seconds=st.sampled_from([0.1, 0.5, 2.0]))
    def wait(self, seconds):
        self.two.run(seconds)
        self.note()

    @rule(name=NAMES, kind=st.sampled_from(list(AuthorityKind)))
    def say(self, name, kind):
        self.two.say(name, kind)

    @rule(name=NAMES, cut=st.booleans())
    def link(self, name, cut):
        _, up, down = self.two.sides[name]
        up.cut = down.cut = cut

    @rule(name=NAMES)
    def restart(self, name):
        _, up, down = self.two.sides[name]
        self.two.sides[name] = (PathPlanQueue(QueueConfig(agent=name), Within()), up, down)

    @rule(name=NAMES, kind=st.sampled_from(list(Join)))
    def engage(self, name, kind):
        self.tried(lambda queue: queue.set_position_clutch(self.two.now, True, kind), name)

    @rule(name=NAMES)
    def clear(self, name):
        self.tried(lambda queue: queue.clear(self.two.now), name)

    @rule(name=NAMES, seconds=st.sampled_from([0.05, 0.5]))
    def undo(self, name, seconds):
        """After a deletion of its own: among the other rules it would find nothing deleted."""
        self.tried(lambda queue: queue.set_brake(self.two.now, 5.0), name)
        self.two.run(seconds)
        with contextlib.suppress(InvalidValueError):  # nothing was deleted
            self.tried(lambda queue: queue.undo(self.two.now), name)

    def tried(self, control, name):
        with contextlib.suppress(TransitionError):
            control(self.two.sides[name][0])

    def note(self):
        holder = self.two.robot.receiver.position.authority
        if not self.holders or self.holders[-1] != holder:
            self.holders.append(holder)

    @invariant()
    def nothing_is_executed_twice_or_out_of_order(self):
        if hasattr(self, "two"):
            seqs = [seq for seq, _ in self.two.robot.executed]
            assert seqs == sorted(set(seqs))

    @invariant()
    def only_who_held_authority_was_executed(self):
        if hasattr(self, "two"):
            self.note()
            assert {author for _, author in self.two.robot.executed} <= set(self.holders)

    @invariant()
    def the_arm_never_jumps(self):
        if hasattr(self, "two"):
            pose = self.two.robot.pose[:3].copy()
            then, before = getattr(self, "last", (self.two.now, pose))
            assert np.linalg.norm(pose - before) <= MOST_SPEED * (self.two.now - then) + 0.012
            self.last = (self.two.now, pose)

    def teardown(self):
        if not hasattr(self, "two"):
            return
        for _, up, down in self.two.sides.values():
            up.cut = down.cut = False
        self.two.run(20.0)
        assert not self.two.robot.points
        assert sum(self.two.state(name).has_authority for name in self.two.sides) <= 1
        self.nothing_is_executed_twice_or_out_of_order()


class LongAgentsMachine(AgentsMachine):
    """The same, many times: tens of thousands of interleavings, the other machine's included."""


QUICK = settings(
    max_examples=EXAMPLES,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
AgentsMachine.TestCase.settings = QUICK
LongAgentsMachine.TestCase.settings = settings(QUICK, max_examples=LONG)
TestAgentsMachine = pytest.mark.lengthy(AgentsMachine.TestCase)
TestLongAgentsMachine = pytest.mark.slow(pytest.mark.timeout(4 * 3600)(LongAgentsMachine.TestCase))
