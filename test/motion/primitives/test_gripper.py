import math

import pytest

from telerobot_nodes.motion.law import Termination
from telerobot_nodes.motion.parameters import Grasp
from telerobot_nodes.motion.primitives.gripper import STALE, UNCHANGED, GripperMotion

PERIOD = 0.01


class Fingers:
    """Fingers that follow the command unless an object of `width` [m] stops them."""

    def __init__(self, opening, width=0.0):
        self.gripper, self.opening, self.width, self.now = GripperMotion(), opening, width, 5.0
        self.gripper.measure(self.now, opening)

    def run(self, grasp, closes, seconds=5.0):
        self.gripper.begin(self.now, grasp, closes)
        reason = Termination.RUNNING
        for _ in range(round(seconds / PERIOD)):
            self.now += PERIOD
            self.gripper.measure(self.now, self.opening)
            reason = self.gripper.step(self.now, PERIOD)
            if reason:
                break
            self.opening = max(self.gripper.width, self.width)
        return reason


def test_a_compliant_grasp_ends_gripped_on_an_object_and_empty_without_one():
    assert Fingers(0.08, width=0.03).run(Grasp(grip_width=0.0), closes=True) is Termination.GRIPPED
    assert Fingers(0.08).run(Grasp(grip_width=0.0), closes=True) is Termination.EMPTY


def test_a_free_grasp_ends_opened_at_its_width_and_blocked_before_it():
    assert Fingers(0.08).run(Grasp(grip_width=0.02), closes=False) is Termination.OPENED
    assert Fingers(0.08, width=0.05).run(Grasp(grip_width=0.02), closes=False) is Termination.BLOCKED


def test_fingers_that_move_only_after_the_last_command_are_not_blocked():
    """They pressed on something; 3 cm at 0.1 m/s take as long as `grip_time`."""
    fingers = Fingers(0.04)
    fingers.gripper.begin(fingers.now, Grasp(grip_width=0.07, grip_speed=0.1, grip_time=0.3), closes=False)
    for tick in range(200):
        fingers.now += PERIOD
        fingers.gripper.measure(fingers.now, 0.04 if tick < 45 else 0.07)
        if reason := fingers.gripper.step(fingers.now, PERIOD):
            break
    assert reason is Termination.OPENED


def test_the_command_moves_at_the_speed_of_the_grasp():
    gripper = GripperMotion()
    gripper.measure(0.0, 0.08)
    gripper.begin(0.0, Grasp(grip_width=0.0, grip_speed=0.05), closes=True)
    gripper.step(PERIOD, PERIOD)
    assert gripper.width == pytest.approx(0.08 - 0.05 * PERIOD)


def test_a_grasp_ends_only_after_the_fingers_have_rested_for_grip_time():
    fingers = Fingers(0.02, width=0.02)
    began = fingers.now
    assert fingers.run(Grasp(grip_width=0.0, grip_time=0.7), closes=True) is Termination.GRIPPED
    assert fingers.now - began >= 0.7


def test_force_is_commanded_only_by_a_compliant_grasp():
    gripper = GripperMotion()
    gripper.begin(0.0, Grasp(grip_force=12.0), closes=True)
    assert gripper.force == 12.0
    gripper.begin(0.0, Grasp(grip_force=12.0), closes=False)
    assert gripper.force == 0.0


def test_a_silent_gripper_ends_the_grasp():
    gripper = GripperMotion()
    gripper.begin(1.0, Grasp(), closes=True)
    gripper.measure(1.0, math.nan)
    assert gripper.step(1.0 + 0.9 * STALE, PERIOD) is Termination.RUNNING
    assert gripper.step(1.0 + 1.1 * STALE, PERIOD) is Termination.STALE_SENSOR


def test_without_a_grasp_nothing_is_commanded_and_afterwards_the_command_stays():
    gripper = GripperMotion()
    assert gripper.step(0.0, PERIOD) is Termination.RUNNING
    assert gripper.width == UNCHANGED
    fingers = Fingers(0.08)
    fingers.run(Grasp(grip_width=0.02), closes=False)
    fingers.gripper.end()
    fingers.gripper.step(fingers.now, PERIOD)
    assert fingers.gripper.width == pytest.approx(0.02)
