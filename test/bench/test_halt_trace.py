"""The bench of halts finds what it measures in a made-up series of setpoints."""

import numpy as np
import pytest

from telerobot_nodes.bench.rtc.halt_trace import Outcome, Setpoint, judge
from telerobot_nodes.core.robot import load_robot

PERIOD, LATE = 0.002, 0.001  # [s] between setpoints; from the step to its receipt
BRAKE = 10.0  # [rad/s^2]


@pytest.fixture(scope="module")
def robot():
    return load_robot("arm")


def series(robot, speeds):
    """Setpoints of the first joint, every PERIOD from time 0."""
    q, rows, last = robot.home.copy(), [], speeds[0]
    for step, speed in enumerate(speeds):
        qd, qdd = np.zeros(robot.dof), np.zeros(robot.dof)
        qd[0], qdd[0] = speed, (speed - last) / PERIOD
        q[0] += speed * PERIOD
        rows.append(Setpoint(step * PERIOD + LATE, step * PERIOD, q.copy(), qd, qdd))
        last = speed
    return rows


RAMP = [0.08, 0.06, 0.04, 0.02, 0.0]


def test_times_and_distance_of_a_halt_count_from_its_sending(robot):
    rows = series(robot, [0.1] * 5 + RAMP + [0.0] * 5)
    sent = 0.0075  # between the receipts of the setpoints 3 and 4
    times = judge(robot, sent, rows)
    assert times.outcome is Outcome.STOPPED
    assert times.slower == pytest.approx(5 * PERIOD + LATE - sent)
    assert times.rest == pytest.approx(9 * PERIOD + LATE - sent)
    assert times.made == pytest.approx(9 * PERIOD - sent)
    radius = np.hypot(*robot.forward(robot.home).translation[:2])
    assert times.speed == pytest.approx(0.1 * radius, rel=1e-3)
    assert times.distance == pytest.approx(radius * PERIOD * (0.1 + sum(RAMP)), rel=1e-3)


@pytest.mark.parametrize(
    ("speeds", "outcome"),
    [
        ([0.0] * 20, Outcome.RESTED),
        ([0.1] * 20, Outcome.MISSED),
        ([0.1] * 3, Outcome.MISSED),  # nothing was received afterwards
        ([0.1, 0.1, 0.1, 0.09, 0.08, 0.0, 0.0], Outcome.ENDING),
        ([0.1] * 5 + RAMP + [0.0] * 3 + [0.01, 0.0], Outcome.CREPT),
        ([0.0] * 6 + [0.01, 0.02, 0.0, 0.0], Outcome.BEGINNING),
        ([0.0] * 20 + [0.01, 0.02, 0.0, 0.0], Outcome.CREPT),
    ],
)
def test_every_outcome_is_told_from_the_others(robot, speeds, outcome):
    assert judge(robot, 0.0075, series(robot, speeds)).outcome is outcome
