"""Stages and ends of a move to touch against a stiff wall."""

import numpy as np
import pytest

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.motion.law import Termination
from telerobot_nodes.motion.law.law_records import sensor_in_tool
from telerobot_nodes.motion.primitives import Executive, PrimitiveRequest
from telerobot_nodes.motion.primitives.touch import plan_touch

PERIOD, STIFFNESS = 0.005, 2e4
WAY = 0.02  # [m] along the tool's z axis


class Wall:
    """A wall `at` [m] along the approach; `stuck`: it holds the tool with this force [N] after the touch.

    `jolts`: depths [m] from which the arm's own inertia is felt, while it moves. `catches`: depth [m] from which on, on
    its way back, the tool pulls at something with 60 N.
    """

    def __init__(self, arm, at, stuck=0.0, jolts=(), catches=None, **values):
        self.executive, self.arm, self.at, self.stuck = Executive(arm, PERIOD), arm, at, stuck
        self.start, self.now, self.q, self.touched = arm.forward(np.array(arm.home)), 1.0, np.array(arm.home), False
        self.T_tn_sensor, self.jolts, self.catches = sensor_in_tool(arm), list(jolts), catches
        wanted = {"tr_rel_dest": [0.0, 0.0, WAY, 0.0, 0.0, 0.0, 1.0], "time_vel_val": 0.02, **values}
        request = PrimitiveRequest(1, "move_to_touch", wanted)
        self.feel()
        self.executive.begin(self.now, self.q, self.executive.prepare(request, self.q))

    def feel(self):
        depth = self.start.actInv(self.arm.forward(self.q)).translation[2] - self.at
        force = max(STIFFNESS * depth, 0.0)
        self.touched = self.touched or force > 0.0
        force = max(force, self.stuck if self.touched else 0.0)
        if self.jolts and depth + self.at > self.jolts[0] and self.moves:
            force, self.jolts = force + 20.0, self.jolts[1:]
        if self.catches is not None and self.touched and depth + self.at < self.catches:
            force = -60.0
        noise = 1e-6 * (round(self.now / PERIOD) % 2)
        self.executive.measure(self.q)
        wrench = np.array([0.0, 0.0, force + noise, 0.0, 0.0, 0.0])  # at the sensor, whose axes are the tool's
        wrench[:3] = self.T_tn_sensor.rotation.T @ wrench[:3]
        self.executive.set_wrench(self.now, wrench)

    def run(self):
        while self.executive.step(self.now):
            self.q = self.executive.setpoint.q.copy()
            self.now += PERIOD
            self.feel()
            assert self.now < 60.0
        return self.executive.reason

    @property
    def moves(self):
        return np.abs(self.executive.setpoint.qd).max() > 1e-6

    @property
    def depth(self):
        return self.start.actInv(self.arm.forward(self.q)).translation[2]


def test_reverse_backs_off_until_the_force_is_below_its_threshold(arm):
    wall = Wall(arm, 0.01, back_off="reverse", reverse_force_thres=1.0)
    assert wall.run() is Termination.TOUCHED
    assert 0.005 < wall.depth < 0.01 + 1.0 / STIFFNESS


def test_return_backs_off_to_the_start(arm):
    wall = Wall(arm, 0.01, back_off="return")
    assert wall.run() is Termination.TOUCHED
    assert wall.depth == pytest.approx(0.0, abs=1e-4)


def test_the_readings_tell_force_and_place_of_the_touch(arm):
    wall = Wall(arm, 0.01, back_off="return")
    wall.run()
    readings = wall.executive.readings
    assert readings["touch_force"] >= 5.0
    place = wall.start.act(np.array([0.0, 0.0, 0.01]))
    touched = np.array([readings["touch_x"], readings["touch_y"], readings["touch_z"]])
    np.testing.assert_allclose(touched, place, atol=2e-3)
    assert 0.0 <= readings["overtravel"] < 2e-3


def test_a_destination_without_contact_is_missed(arm):
    wall = Wall(arm, 2.0 * WAY)
    assert wall.run() is Termination.MISSED
    assert wall.depth == pytest.approx(WAY, abs=1e-4)


def test_a_tool_that_does_not_come_free_is_held_back(arm):
    assert Wall(arm, 0.01, stuck=3.0, back_off="reverse").run() is Termination.HELD_BACK


@pytest.mark.parametrize("back_off", ["reverse", "return"])
def test_a_tool_that_catches_on_its_way_back_stops_there(arm, back_off):
    held = {"reverse_force_thres": 0.01} if back_off == "reverse" else {}
    wall = Wall(arm, 0.01, stuck=1.5, catches=0.006, back_off=back_off, safety_force_thres=40.0, **held)
    assert wall.run() is Termination.SNAGGED
    assert 0.003 < wall.depth < 0.006
    assert not Termination.SNAGGED.succeeded


def test_safety_backs_off_until_the_safety_threshold_or_to_the_start(arm):
    wall = Wall(arm, 0.01, catches=0.006, back_off="safety", safety_force_thres=40.0)
    assert wall.run() is Termination.TOUCHED
    assert 0.003 < wall.depth < 0.006
    free = Wall(arm, 0.01, back_off="safety", safety_force_thres=40.0)
    assert free.run() is Termination.TOUCHED
    assert free.depth == pytest.approx(0.0, abs=1e-4)


def test_a_safety_threshold_counts_only_once_it_was_below_it(arm):
    wall = Wall(arm, 0.01, back_off="return", safety_force_thres=1.0)  # the touch itself is above it
    assert wall.run() is Termination.TOUCHED
    assert wall.depth == pytest.approx(0.0, abs=1e-4)


def test_no_change_is_accepted_after_the_touch(arm):
    wall = Wall(arm, 0.01, back_off="return")
    executive = wall.executive
    while executive.step(wall.now) and not ("touch_force" in executive.readings and executive.primitive.runs):
        wall.q = executive.setpoint.q.copy()
        wall.now += PERIOD
        wall.feel()
    change = executive.prepare_change(executive.parameters, {"max_force_thres": 9.0}, wall.q)
    with pytest.raises(InvalidValueError, match="before the touch"):
        executive.change(wall.now, change)


def test_only_a_cartesian_motion_can_back_off(arm):
    executive = Executive(arm, PERIOD)
    joints = PrimitiveRequest(1, "joint_guarded", {"joint_dest": (arm.home + 0.1).tolist()})
    prepared = executive.prepare(joints, np.array(arm.home))
    with pytest.raises(TypeError, match="Cartesian"):
        plan_touch(arm, PERIOD, prepared.values.touch, prepared.motion)


def test_a_jolt_in_the_air_is_no_touch_and_the_approach_goes_on(arm):
    wall = Wall(arm, 0.01, back_off="return", jolts=(0.004, 0.006))
    assert wall.run() is Termination.TOUCHED
    place = wall.start.act(np.array([0.0, 0.0, 0.01]))
    touched = [wall.executive.readings[f"touch_{axis}"] for axis in "xyz"]
    np.testing.assert_allclose(touched, place, atol=2e-3)
    assert wall.executive.readings["touch_force"] < 20.0


def test_a_jolt_without_a_wall_is_a_miss(arm):
    wall = Wall(arm, 2.0 * WAY, jolts=(0.004,))
    assert wall.run() is Termination.MISSED
    assert wall.depth == pytest.approx(WAY, abs=1e-4)
    assert "touch_force" not in wall.executive.readings


def test_an_arm_that_is_jolted_for_ever_gives_up(arm):
    wall = Wall(arm, 2.0 * WAY, jolts=[0.001] * 2000)
    assert wall.run() is Termination.MISSED
    assert wall.depth < 0.9 * WAY


def test_a_stop_while_it_makes_sure_ends_the_touch(arm):
    wall = Wall(arm, 0.01, back_off="return")
    executive = wall.executive
    while "touch_force" not in executive.readings or wall.moves:
        executive.step(wall.now)
        wall.q = executive.setpoint.q.copy()
        wall.now += PERIOD
        wall.feel()
    executive.stop()
    assert wall.run() is Termination.EXTERNAL_STOP
    assert wall.depth == pytest.approx(0.01, abs=2e-3)
