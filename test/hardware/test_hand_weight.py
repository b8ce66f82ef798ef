"""The weight of a hand that the arm file declares is no contact force, whichever way the hand is turned."""

import dataclasses

import numpy as np
import pytest

from telerobot_nodes.core.robot import Hand, load_robot
from telerobot_nodes.hardware import Hardware, MujocoArm
from telerobot_nodes.hardware.realism import IDEAL


def true_hand(robot):
    """Mass and centre of what hangs on the wrist sensor, from the physics."""
    arm = MujocoArm(robot, task_board=False, realism=IDEAL)
    arm.open(0.0)
    body = arm.model.body("arm/" + robot.sensor_frame).id
    rotation = arm.data.xmat[body].reshape(3, 3)
    center = rotation.T @ (arm.data.subtree_com[body] - arm.data.xpos[body])
    return Hand(float(arm.model.body_subtreemass[body]), tuple(center.tolist()))


def felt(robot, turned):
    """The wrench felt at rest with the last joints turned."""
    moved = dataclasses.replace(robot, home=robot.home + turned)
    hardware = Hardware(moved, arm=MujocoArm(moved, task_board=False, realism=IDEAL))
    hardware.open(0.0)
    for k in range(1, 40):
        hardware.step(0.001 * k)
    hardware._bias[:] = 0.0
    return hardware.measured().wrench_sensor


@pytest.mark.parametrize("turned", [[0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0.9, 0.4], [0, -0.4, 0.3, 1.2, -0.5, 2.0]])
def test_a_declared_hand_weighs_nothing_in_any_pose(turned):
    robot = load_robot("arm")
    hand = true_hand(robot)
    assert hand.mass > 0.3
    declared = felt(dataclasses.replace(robot, hand=hand), np.array(turned, dtype=float))
    assert np.abs(declared[:3]).max() < 0.02 and np.abs(declared[3:]).max() < 0.002
    assert np.linalg.norm(felt(robot, np.array(turned, dtype=float))[:3]) > 3.0


def test_a_tare_takes_only_the_offset_of_the_sensor():
    robot = load_robot("arm")
    hardware = Hardware(dataclasses.replace(robot, hand=true_hand(robot)), realism=IDEAL)
    hardware.open(0.0)
    hardware.tare()
    assert np.abs(hardware._bias).max() < 0.02


class SensorOff(MujocoArm):
    """An arm whose wrist sensor can be silent."""

    silent = False

    def read(self):
        """No number while the sensor is silent, as drivers report it."""
        measured = super().read()
        return dataclasses.replace(measured, wrench_sensor=np.full(6, np.nan)) if self.silent else measured


def test_a_tare_while_the_sensor_is_silent_is_refused_and_changes_nothing():
    robot = load_robot("arm")
    arm = SensorOff(robot, task_board=False, realism=IDEAL)
    hardware = Hardware(robot, arm=arm)
    hardware.open(0.0)
    before = hardware._bias.copy()
    arm.silent = True
    hardware.step(0.001)
    hardware.measured()
    assert not hardware.tare()
    np.testing.assert_array_equal(hardware._bias, before)
    arm.silent = False
    hardware.step(0.002)
    hardware.measured()
    assert hardware.tare()


def test_a_sensor_that_stands_still_is_not_brought_to_life_by_the_hands_weight():
    robot = dataclasses.replace(load_robot("arm"), hand=Hand(1.0, (0.0, 0.0, 0.05)))
    arm = MujocoArm(robot, task_board=False)
    hardware = Hardware(robot, arm=arm)
    hardware.open(0.0)
    frozen, seen = arm.read(), []
    arm.read = lambda: dataclasses.replace(frozen, position=frozen.position + 0.01 * len(seen))
    for _ in range(3):
        seen += [hardware.measured().wrench_sensor]
    assert np.ptp(seen, axis=0).max() == 0.0
