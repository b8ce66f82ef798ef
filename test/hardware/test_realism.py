from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.hardware import MujocoArm, Realism, ServoReference, build_scene
from telerobot_nodes.hardware.realism import IDEAL, WristSensor

WRENCH = np.array([1.0, -2.0, 10.0, 0.1, 0.2, -0.3])


def readings(realism, count=4000):
    sensor = WristSensor(realism, 0.001)
    return np.array([sensor.reading(WRENCH) for _ in range(count)])


def test_the_same_seed_gives_the_same_noise_and_another_seed_another():
    assert np.array_equal(readings(Realism(), 50), readings(Realism(), 50))
    assert not np.array_equal(readings(Realism(), 50), readings(Realism(realism_seed=2), 50))


def test_noise_has_the_deviation_asked_for():
    quiet = dataclasses.replace(IDEAL, force_noise=0.08, torque_noise=0.003)
    deviation = (readings(quiet) - WRENCH).std(axis=0)
    assert deviation == pytest.approx([0.08] * 3 + [0.003] * 3, rel=0.05)


def test_the_offset_stays_and_the_drift_makes_it_creep():
    still = readings(dataclasses.replace(IDEAL, force_bias=2.0, torque_bias=0.05)) - WRENCH
    assert np.ptp(still, axis=0).max() < 1e-12
    assert np.abs(still[0, :3]).max() > 0.2
    creeping = readings(dataclasses.replace(IDEAL, force_drift=0.1)) - WRENCH
    assert np.diff(creeping[:, 0]).std() == pytest.approx(0.1 * np.sqrt(0.001), rel=0.1)
    assert np.ptp(creeping[:, 3:]) == 0.0


def test_readings_come_in_steps_of_the_resolution():
    rows = readings(Realism(), 100) / np.array([0.025] * 3 + [0.00125] * 3)
    assert np.abs(rows - np.rint(rows)).max() < 1e-6


def test_an_ideal_sensor_reads_the_truth():
    assert np.array_equal(readings(IDEAL, 1)[0], WRENCH)


@pytest.mark.parametrize(
    ("field", "value"), [("friction", -0.1), ("force_noise", float("nan")), ("servo_lag", 1.0), ("realism_seed", -1)]
)
def test_a_value_outside_its_range_is_refused_by_name(field, value):
    with pytest.raises(InvalidValueError, match=field):
        dataclasses.replace(Realism(), **{field: value})


def test_every_contact_has_the_friction_asked_for():
    model = build_scene(load_robot("arm"), 0.001, realism=Realism(friction=0.3))
    assert np.all(model.geom_friction[:, 0] == 0.3)


def test_a_payload_weighs_on_the_sensor_and_pulls_the_arm_down():
    robot = load_robot("arm")
    held, bare = [
        MujocoArm(robot, realism=dataclasses.replace(IDEAL, payload_mass=mass), task_board=False) for mass in (1.0, 0.0)
    ]
    still = ServoReference(np.array(robot.home), np.zeros(6), np.zeros(6), 0.08)
    for arm in (held, bare):
        arm.open(0.0)
        arm.command(still)
        for k in range(400):
            arm.step(0.001 * k)
    more = bare.read().wrench_sensor[2] - held.read().wrench_sensor[2]
    assert more == pytest.approx(9.81, abs=0.05)
    sag = robot.forward(bare.position).translation[2] - robot.forward(held.position).translation[2]
    assert 2e-5 < sag < 5e-4


def test_a_lagging_servo_holds_still_and_delivers_later():
    robot = load_robot("arm")
    arms = [
        MujocoArm(robot, realism=dataclasses.replace(IDEAL, servo_lag=lag), task_board=False) for lag in (0.0, 0.005)
    ]
    reached = []
    for arm in arms:
        arm.open(0.0)
        arm.command(ServoReference(np.array(robot.home) + 0.001, np.zeros(6), np.zeros(6), 0.08))
        for k in range(5):
            arm.step(0.001 * k)
        reached.append(arm.position[0])
        for k in range(500):
            arm.step(0.001 * k)
        assert arm.position == pytest.approx(robot.home + 0.001, abs=1e-6)
    assert reached[1] - robot.home[0] < 0.7 * (reached[0] - robot.home[0])


def test_furniture_is_in_the_scene_with_the_arm():
    def furnish(spec):
        spec.worldbody.add_body(name="thing").add_geom(size=[0.01, 0, 0])
        spec.body("arm/gripper").add_body(name="held").add_geom(size=[0.01, 0, 0])

    model = build_scene(load_robot("arm"), 0.001, task_board=False, furnish=furnish)
    assert model.body("held").parentid[0] == model.body("arm/gripper").id
    assert model.body("thing").parentid[0] == 0
