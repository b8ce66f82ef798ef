"""A wrist sensor that fails while the tool presses: the motion stops with a reason, below twice the set force."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from telerobot_nodes.bench.contact.contact_rig import ContactRig
from telerobot_nodes.motion.law import Termination

SET = 10.0  # [N]
AXIS = np.array([0, 0, 1.0, 0, 0, 0])

pytestmark = pytest.mark.lengthy


class Faulty:
    """Changes what the sensor reads, from the moment `fault` is set."""

    def __init__(self, rig):
        self.read, self.fault, self.last = rig.arm.read, None, rig.arm.read().wrench_sensor
        rig.arm.read = self

    def __call__(self):
        measured = self.read()
        if self.fault is None:
            self.last = measured.wrench_sensor
            return measured
        return dataclasses.replace(measured, wrench_sensor=self.fault(measured.wrench_sensor))


def pressed(fault, gain, stiffness, before=1.5, after=1.0):
    """Press, bring the fault about after `before` [s]; the reason, and the largest true force from then on [N]."""
    rig = ContactRig(stiffness)
    rig.go_over(0.0005)
    sensor = Faulty(rig)
    rig.press(SET, before, force_gains=[gain] * 3 + [0.01] * 3)
    sensor.fault = fault(sensor)
    already = len(rig.force)
    rig.go_on(after)
    return rig.executive.reason, max(rig.force[already:])


def frozen(sensor):
    last = sensor.last
    return lambda wrench: last


def jumped(by):
    return lambda sensor: lambda wrench: wrench + by * AXIS


@pytest.mark.parametrize(("gain", "stiffness"), [(1e-4, 1e5), (1e-3, 1e4), (1e-3, 1e5)])
@pytest.mark.parametrize("before", [0.1, 0.25, 1.0])
@pytest.mark.brief(3)
def test_a_frozen_sensor(gain, stiffness, before):
    reason, peak = pressed(frozen, gain, stiffness, before)
    assert reason is Termination.FROZEN_SENSOR
    assert peak < 2.0 * SET


@pytest.mark.parametrize(
    ("gain", "stiffness", "most"), [(1e-4, 1e5, 4.0), (1e-4, 1e5, 8.0), (1e-3, 1e4, 4.0), (1e-3, 1e5, 8.0)]
)
@pytest.mark.brief(2)
def test_a_saturated_sensor(gain, stiffness, most):
    def clipped(sensor):
        end = sensor.last + most  # of the range; the tare is subtracted after the sensor
        return lambda wrench: np.where(AXIS > 0, np.minimum(wrench, end), wrench)

    reason, peak = pressed(clipped, gain, stiffness, before=0.0, after=1.5)
    assert reason is Termination.FROZEN_SENSOR
    assert peak < 2.0 * SET


@pytest.mark.parametrize("gain", [1e-4, 1e-3])
@pytest.mark.parametrize("by", [-15.0, -100.0])
@pytest.mark.brief(2)
def test_a_sensor_that_jumps_to_where_no_contact_can_be(gain, by):
    reason, peak = pressed(jumped(by), gain, 1e4)
    assert reason is Termination.INVALID_SENSOR
    assert peak < 2.0 * SET


@pytest.mark.parametrize("by", [-8.0, 30.0])
def test_a_smaller_jump_or_one_upwards_presses_less_than_twice(by):
    _, peak = pressed(jumped(by), 1e-3, 1e5, after=2.0)
    assert peak < 2.0 * SET


@pytest.mark.parametrize("gain", [1e-4, 1e-3])
def test_a_silent_sensor(gain):
    reason, peak = pressed(lambda sensor: lambda wrench: np.full(6, np.nan), gain, 1e5)
    assert reason is Termination.INVALID_SENSOR  # the graph publishes no such wrench: STALE_SENSOR there
    assert peak < 2.0 * SET
