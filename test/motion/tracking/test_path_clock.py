import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.motion.tracking import PathClock

PERIOD = 0.002
LIMIT = np.array([8.0, 20.0])


def circle(t, speed):
    """A path with bends: joints (cos, sin) of an angle that runs with `speed`."""
    angle = speed * t
    q = 0.3 * np.array([np.cos(angle), np.sin(angle)])
    v = 0.3 * speed * np.array([-np.sin(angle), np.cos(angle)])
    a = -(speed**2) * q
    return q, v, a


@given(speed=st.floats(0.05, 4.5), begin=st.floats(0.0, 6.0))
def test_braking_keeps_acceleration_limits_and_ends_at_rest_on_the_path(speed, begin):
    clock = PathClock(LIMIT, PERIOD)
    clock.run(begin)
    positions = [circle(begin - PERIOD * k, speed)[0] for k in (2, 1, 0)]
    for _ in range(2000):
        _, v, a = circle(clock.time, speed)
        stopped = clock.brake(v, a)
        positions.append(circle(clock.time, speed)[0])
        if stopped:
            break
    assert stopped
    positions.extend([positions[-1]] * 3)
    pushes = np.diff(positions, n=2, axis=0) / PERIOD**2
    assert (np.abs(pushes) <= LIMIT * 1.001).all()


def test_braking_takes_as_long_as_the_slowest_joint_needs():
    clock = PathClock(LIMIT, PERIOD)
    clock.run(0.0)
    steps = 1
    while not clock.brake(np.array([1.0, 1.0]), np.zeros(2)):
        steps += 1
    np.testing.assert_allclose(steps * PERIOD, 1.0 / (0.9 * 8.0), atol=2 * PERIOD)


def test_a_path_at_rest_stops_within_one_period():
    clock = PathClock(LIMIT, PERIOD)
    clock.run(3.0)
    assert clock.brake(np.zeros(2), np.zeros(2))
    assert clock.rate == 0.0


def test_running_puts_path_time_back_on_the_clock():
    clock = PathClock(LIMIT, PERIOD)
    clock.brake(np.zeros(2), np.zeros(2))
    clock.run(7.0)
    assert (clock.time, clock.rate) == (7.0, 1.0)
