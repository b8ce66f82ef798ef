"""The port does no more work on the hand than the hand did before, whatever is behind it, and else changes nothing."""

from collections import deque

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.operator.devices import PassivePort

PERIOD = 0.01
TANK = 0.1
seeds = st.integers(0, 2**32 - 1)


def port(largest=20.0, stiffness=1000.0):
    return PassivePort(largest, stiffness, TANK, 20.0)


def pressed(device, wanted, distance, steps=50):
    """The force after the hand pressed `distance` [m] against `wanted`."""
    wanted = np.array(wanted, float)
    velocity = -wanted / np.linalg.norm(wanted) * distance / (steps * PERIOD)
    return [device.force(wanted, velocity, PERIOD) for _ in range(steps)][-1]


def free_hand(device, forces, mass=1.0, velocity=(0.0, 0.0, 0.0)):
    """A mass that nothing but the device pushes; returns its velocities."""
    v, out = np.array(velocity, float), []
    for wanted in forces:
        v = v + device.force(np.asarray(wanted, float), v, PERIOD) / mass * PERIOD
        out.append(v)
    return out


def wall(passive, trip, seconds=12.0, stiffness=1000.0):
    """A hand on a spring presses a delayed wall; returns the least work of the hand on the device, and its swing."""
    device, late = port(), max(round(0.5 * trip / PERIOD), 1)
    there, back = deque([0.0] * late), deque([0.0] * late)
    x = v = work = least = 0.0
    places = []
    for i in range(round(seconds / PERIOD)):
        there.append(x)
        back.append(-stiffness * max(there.popleft(), 0.0))
        wanted = np.array([back.popleft(), 0.0, 0.0])
        force = device.force(wanted, np.array([v, 0.0, 0.0]), PERIOD)[0] if passive else wanted[0]
        target = min(0.02 * i * PERIOD, 0.03)
        v += (300.0 * (target - x) - 25.0 * v + force) * PERIOD
        x += v * PERIOD
        work -= force * v * PERIOD
        least = min(least, work)
        places.append(x)
    return least, np.ptp(places[-400:])


@given(seeds)
@pytest.mark.lengthy
def test_a_force_that_always_pushes_the_hand_on_gives_it_next_to_nothing(seed):
    random = np.random.default_rng(seed)
    device = port()
    v = 0.1 * random.standard_normal(3)
    began = 0.5 * v @ v
    for _ in range(300):  # along the motion: as active as a force can be
        v = v + device.force(20.0 * v / max(np.linalg.norm(v), 1e-9), v, PERIOD) * PERIOD
        assert 0.5 * v @ v <= began + 0.05
    assert device.energy >= -0.05


@given(seeds)
@pytest.mark.lengthy
def test_random_forces_on_a_free_hand_take_no_more_than_a_little_from_the_account(seed):
    random = np.random.default_rng(seed)
    device = port()
    forces = np.repeat(random.uniform(-12.0, 12.0, (60, 3)), 10, axis=0)
    free_hand(device, forces, velocity=random.uniform(-0.3, 0.3, 3))
    assert device.energy >= -0.05


@pytest.mark.parametrize("trip", [0.0, 0.25, 0.5, 1.0, 2.0])
def test_a_delayed_wall_is_passive_and_the_hand_comes_to_rest(trip):
    least, swing = wall(True, trip)
    assert least >= -0.05
    assert swing < 0.005


@pytest.mark.parametrize("trip", [0.5, 1.0, 2.0])
def test_without_the_port_the_same_wall_drives_the_hand(trip):
    least, swing = wall(False, trip)
    assert least < -0.05
    assert swing > 0.01


def test_a_hand_that_presses_on_feels_the_force_grow_up_to_the_whole_of_it():
    assert pressed(port(), [0.0, 0.0, 9.0], 0.004)[2] == pytest.approx(4.0)
    np.testing.assert_allclose(pressed(port(), [3.0, 0.0, 4.0], 0.02), [3.0, 0.0, 4.0])


def test_a_force_that_arrives_does_not_push_a_hand_that_is_still():
    device = port()
    for _ in range(100):
        np.testing.assert_array_equal(device.force(np.array([0.0, 0.0, 9.0]), np.zeros(3), PERIOD), np.zeros(3))


def test_a_hand_that_holds_still_goes_on_feeling_what_it_pressed():
    device = port()
    pressed(device, [0.0, 0.0, 9.0], 0.02)
    for _ in range(500):
        assert device.force(np.array([0.0, 0.0, 9.0]), np.zeros(3), PERIOD)[2] == pytest.approx(9.0)


def test_a_hand_that_yields_gets_back_no_more_than_the_spring_held():
    device, wanted = port(), np.array([0.0, 0.0, 10.0])
    pressed(device, wanted, 0.05, steps=500)
    before = device.energy
    assert before == pytest.approx(0.45, abs=0.01)  # 10 N over 50 mm, less the half of the spring's first 10 mm
    felt = [device.force(wanted, np.array([0.0, 0.0, 0.02]), PERIOD)[2] for _ in range(100)]
    assert felt[0] == pytest.approx(10.0, abs=0.3)
    assert felt[-1] == 0.0
    assert before - device.energy == pytest.approx(0.05, abs=0.01)


def test_where_the_force_falls_the_spring_slips():
    device = port()
    pressed(device, [0.0, 0.0, 10.0], 0.02)
    assert device.force(np.array([0.0, 0.0, 3.0]), np.zeros(3), PERIOD)[2] == pytest.approx(3.0)
    assert device.force(np.array([0.0, 0.0, 10.0]), np.zeros(3), PERIOD)[2] == pytest.approx(3.0)


def test_the_force_is_never_larger_than_the_limit():
    assert np.linalg.norm(pressed(port(largest=5.0), [30.0, 40.0, 0.0], 0.1)) == pytest.approx(5.0)


def test_what_was_not_watched_is_forgotten():
    device = port()
    pressed(device, [-10.0, 0.0, 0.0], 0.02)
    device.forget()
    np.testing.assert_array_equal(device.force(np.array([-10.0, 0.0, 0.0]), np.zeros(3), PERIOD), np.zeros(3))
