"""A setpoint counts as followed when hardware, joints and fingers have followed it, and not before."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.core.protocol import Waiting
from telerobot_nodes.motion.tracking import Arrival

PERIOD = 0.002
ERROR = 0.02


class Arm:
    """Two joints on a line of plan time, the arm `lag` seconds behind; fingers as told."""

    def __init__(self, lag=0.03, speed=0.5):
        self.arrival = Arrival(2, ERROR, max_opening=0.08)
        self.lag, self.speed = lag, speed
        self.now, self.number = 10.0, 0
        self.begin = self.now
        self.accepted, self.followed = True, 0
        self.blocked_at = math.inf  # [s] since the beginning
        self.opening = self.reference = 0.04
        self.command = -1.0

    def q(self, at):
        along = self.speed * min(max(at - self.begin, 0.0), 2.0)
        return np.array([along, -0.5 * along])

    def run(self, duration):
        for _ in range(round(duration / PERIOD)):
            self.now += PERIOD
            self.number += 1
            since = min(self.now - self.begin, 2.0)
            qd = np.array([self.speed, -0.5 * self.speed]) * (since < 2.0)
            self.arrival.command(self.now, self.number, 3, since, self.q(self.now), qd, self.command)
            self.arrival.measure(self.q(min(self.now - self.lag, self.begin + self.blocked_at)))
            if self.accepted:
                self.followed = self.number - 5
            self.arrival.hardware(self.now, self.followed, self.opening, self.reference)
            self.arrival.step(self.now, self.number)

    @property
    def waits_for(self):
        return self.arrival.waiting(self.number)


def test_the_arm_arrives_behind_its_setpoint_and_at_the_end_of_it():
    arm = Arm()
    arm.run(1.0)
    assert 0.9 < arm.arrival.plan_time < 1.0
    assert arm.waits_for is not Waiting.NOTHING
    arm.run(1.3)
    assert (arm.arrival.window, arm.arrival.plan_time) == (3, pytest.approx(2.0))
    assert arm.waits_for is Waiting.NOTHING


def test_a_joint_that_is_blocked_arrives_no_further():
    arm = Arm()
    arm.blocked_at = 1.0
    arm.run(3.0)
    assert arm.arrival.plan_time <= 1.0 + (ERROR + 0.05 * arm.speed) / arm.speed
    assert arm.waits_for is Waiting.ARM


def test_an_arm_that_never_moves_has_followed_nothing_that_it_had_to_move_for():
    arm = Arm()
    arm.blocked_at = 0.0
    arm.run(3.0)
    assert arm.arrival.plan_time * arm.speed <= ERROR + 0.05 * arm.speed


def test_a_setpoint_that_the_hardware_did_not_accept_is_not_followed_even_without_motion():
    arm = Arm(speed=0.0)
    arm.accepted = False
    arm.run(2.5)
    assert (arm.arrival.plan_time, arm.waits_for) == (0.0, Waiting.HARDWARE)
    arm.accepted = True
    arm.run(0.1)
    assert arm.arrival.plan_time == pytest.approx(2.0)


def test_the_number_of_a_loop_before_this_one_accepts_nothing():
    arm = Arm(speed=0.0)
    arm.accepted = False
    arm.followed = 1_000_000
    arm.run(2.5)
    assert (arm.arrival.plan_time, arm.waits_for) == (0.0, Waiting.HARDWARE)


def fingers(command, opening, reference):
    arm = Arm(speed=0.0)
    arm.command, arm.opening, arm.reference = command, opening, reference
    arm.run(0.1)
    return arm


def test_fingers_that_never_move_have_not_closed():
    arm = fingers(0.0, 0.04, 0.04)  # the hardware was not told
    arm.run(3.0)
    assert (arm.arrival.plan_time, arm.waits_for) == (0.0, Waiting.GRIPPER)


@pytest.mark.parametrize("opening", [0.0, 0.001, 0.03])
def test_fingers_that_close_arrive_or_hold_something(opening):
    arm = fingers(0.0, opening, 0.0)
    arm.run(3.0)
    assert arm.arrival.plan_time == pytest.approx(2.0)


def test_fingers_on_their_way_are_waited_for():
    arm = fingers(0.0, 0.04, 0.0)
    for opening in np.linspace(0.04, 0.02, 40):
        arm.opening = opening
        arm.run(0.05)
        assert arm.arrival.plan_time == 0.0
    arm.run(0.3)  # at rest on something 20 mm wide
    assert arm.arrival.plan_time == pytest.approx(2.0)


def test_fingers_that_cannot_open_have_not_opened():
    arm = fingers(0.06, 0.03, 0.06)
    arm.run(3.0)
    assert arm.waits_for is Waiting.GRIPPER


def test_a_wider_opening_than_the_fingers_have_is_their_widest():
    arm = fingers(0.12, 0.08, 0.08)
    arm.run(3.0)
    assert arm.waits_for is Waiting.NOTHING


def test_an_arm_without_fingers_does_not_wait_for_them():
    arm = fingers(0.0, math.nan, math.nan)
    arm.run(3.0)
    assert arm.waits_for is Waiting.NOTHING


def test_after_a_fault_nothing_that_was_on_its_way_arrives():
    arm = Arm()
    arm.blocked_at = 1.0
    arm.run(1.5)
    reached = arm.arrival.plan_time
    arm.arrival.clear()
    arm.arrival.measure(arm.q(arm.begin + 2.0))
    arm.arrival.step(arm.now, arm.number)
    assert arm.arrival.plan_time == reached


def test_a_primitive_may_begin_where_the_plan_ended_and_nowhere_else():
    arm = Arm()
    arm.run(1.99)
    assert not Arm().arrival.pending
    far, near = arm.q(arm.now) + 0.1, arm.q(arm.now)
    assert not arm.arrival.finish(arm.now, far)
    assert arm.arrival.finish(arm.now, near)
    assert not arm.arrival.pending


def test_a_long_wait_keeps_the_samples_and_the_end_still_arrives():
    arm = Arm(speed=0.0)
    arm.accepted = False
    arm.begin = arm.now
    for _ in range(4):  # plan times of 40 s, four times what there is room for
        for _ in range(1000):
            arm.now += 0.01
            arm.number += 1
            arm.arrival.command(arm.now, arm.number, 3, arm.now - arm.begin, np.zeros(2), np.zeros(2), -1.0)
            arm.arrival.measure(np.zeros(2))
            arm.arrival.step(arm.now, arm.number)
    assert arm.arrival.plan_time == 0.0
    arm.arrival.hardware(arm.now, arm.number, math.nan, math.nan)
    arm.arrival.step(arm.now, arm.number)
    assert arm.arrival.plan_time == pytest.approx(40.0)


@settings(max_examples=60)
@given(
    lag=st.floats(0.0, 0.045),
    speed=st.floats(0.0, 1.5),
    gaps=st.lists(st.tuples(st.floats(PERIOD, 0.3), st.floats(0.0, 0.09)), max_size=8),  # a longer one stops the arm
)
@pytest.mark.lengthy
def test_an_arm_that_follows_always_arrives_whatever_measurements_are_missing(lag, speed, gaps):
    arm = Arm(lag, speed)
    for run, gap in gaps:
        arm.run(run)
        measure, arm.arrival.measure = arm.arrival.measure, lambda q: None
        arm.run(gap)
        arm.arrival.measure = measure
        assert arm.arrival.plan_time <= arm.now - arm.begin
    arm.run(3.0)
    assert arm.arrival.plan_time == pytest.approx(2.0)
    assert not arm.arrival.pending
