"""Commands to another driver: inside every limit whatever comes, at rest in the end, none before `engage`."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.core.robot import JointLimits
from telerobot_nodes.hardware import Setpoint
from telerobot_nodes.hardware.ros2_control.commander import Commander, End

LIMITS = JointLimits(
    lower=np.array([-1.0, -2.0]),
    upper=np.array([1.0, 2.0]),
    velocity=np.array([1.0, 2.0]),
    acceleration=np.array([5.0, 8.0]),
    effort=np.full(2, 100.0),
)
PERIOD = 0.008  # [s] four steps of 2 ms
BEGIN = np.array([0.2, -0.3])
STILL = np.zeros(2)


def setpoint(time, position, velocity=STILL):
    return Setpoint(1, time, np.asarray(position, float), np.asarray(velocity, float), STILL)


def engaged(period=PERIOD, zeros_after=False):
    commander = Commander(LIMITS, period, zeros_after)
    commander.engage(BEGIN)
    return commander


def run(commander, begin, seconds, position_at=None, period=PERIOD):
    """The commands of `seconds`, with a new setpoint before each."""
    found = []
    for now in begin + period * np.arange(1, round(seconds / period) + 1):
        if position_at is not None:
            commander.follow(setpoint(now, *position_at(now)))
        found.append(commander.next(now))
    return found


def test_nothing_is_sent_before_it_engages():
    commander = Commander(LIMITS, PERIOD, zeros_after=True)
    commander.follow(setpoint(0.0, [0.5, 0.5]))
    assert run(commander, 0.0, 0.1) == [None] * 12
    assert not commander.engaged


def test_without_a_reference_it_rests_where_it_engaged():
    for command in run(engaged(), 3.0, 0.1):
        assert np.array_equal(command.position, BEGIN)
        assert np.array_equal(command.velocity, STILL)


def test_a_motion_is_followed_without_lag():
    def position_at(t):
        return BEGIN + 0.1 * np.array([np.sin(2.0 * t), 1.0 - np.cos(2.0 * t)]), 0.2 * np.array(
            [np.cos(2.0 * t), np.sin(2.0 * t)]
        )

    commander = engaged()
    last = run(commander, 0.0, 1.0, position_at)[-1]
    expected, velocity = position_at(1.0)
    assert last.position == pytest.approx(expected, abs=1e-4)
    assert last.velocity == pytest.approx(velocity, abs=5e-3)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.floats(0.0005, 0.09), st.floats(-3, 3), st.floats(-3, 3)), min_size=1, max_size=25))
def test_no_command_leaves_a_limit_for_any_jumps_and_any_delays(calls):
    commander, now = engaged(), 0.0
    before = commander.next(now)
    for pause, x, y in calls:
        now += pause
        commander.follow(setpoint(now, np.clip([x, y], LIMITS.lower, LIMITS.upper)))
        command = commander.next(now)
        elapsed = max(pause, PERIOD) + 0.002  # a call that is early makes a whole period; time is rounded to steps
        assert (np.abs(command.velocity) <= LIMITS.velocity + 1e-9).all()
        assert (command.position >= LIMITS.lower - 1e-9).all() and (command.position <= LIMITS.upper + 1e-9).all()
        assert (np.abs(command.position - before.position) <= LIMITS.velocity * elapsed + 1e-9).all()
        assert (np.abs(command.velocity - before.velocity) <= LIMITS.acceleration * elapsed + 1e-9).all()
        before = command


@pytest.mark.parametrize("goal", [[-1.0, 2.0], [0.21, -0.3]])
def test_a_jump_of_the_reference_is_reached_and_held(goal):
    last = run(engaged(), 0.0, 2.5, lambda _: (goal, STILL))[-1]
    assert last.position == pytest.approx(goal, abs=1e-6)
    assert last.velocity == pytest.approx(STILL, abs=1e-6)


@pytest.mark.parametrize(("pause", "made_up"), [(0.04, 0.04), (0.05, 0.05), (0.09, 0.05)])
def test_a_late_command_makes_up_for_50_ms_and_no_more(pause, made_up):
    def position_at(t):
        return BEGIN + np.array([0.9 * t, 0.0]), [0.9, 0.0]

    commander = engaged()
    before = run(commander, 0.0, 0.4, position_at)[-1]
    commander.follow(setpoint(0.4 + pause, *position_at(0.4 + pause)))
    moved = commander.next(0.4 + pause).position[0] - before.position[0]
    assert 0.9 * made_up - 0.01 < moved <= LIMITS.velocity[0] * made_up + 1e-9


def test_an_old_reference_brings_the_arm_to_rest_until_it_engages_again():
    def position_at(t):
        return BEGIN + np.array([0.5 * t, 0.0]), [0.5, 0.0]

    commander = engaged()
    run(commander, 0.0, 0.4, position_at)
    silent = run(commander, 0.4, 0.4)
    moving = [k for k, command in enumerate(silent) if abs(command.velocity[0]) > 1e-6]
    assert commander.stalled
    assert 0.1 < PERIOD * len(moving) < 0.1 + 2.0 * 0.5 / LIMITS.acceleration[0]
    resting = silent[-1].position
    again = run(commander, 0.8, 0.4, position_at)
    assert all(np.array_equal(command.position, resting) for command in again)

    commander.engage(resting)
    commander.follow(setpoint(1.2, resting + np.array([0.1, 0.0])))
    commander.next(1.2)
    assert not commander.stalled
    assert run(commander, 1.2, 0.08)[-1].position[0] > resting[0]


def test_the_end_at_rest_brakes_inside_the_limits_and_then_sends_nothing():
    def position_at(t):
        return BEGIN + np.array([0.5 * t, -0.8 * t]), [0.5, -0.8]

    commander = engaged()
    before = run(commander, 0.0, 0.4, position_at)[-1]
    commander.end(End.AT_REST)
    found = run(commander, 0.4, 0.5)
    sent = [command for command in found if command is not None]
    assert found == sent + [None] * (len(found) - len(sent))
    assert np.array_equal(sent[-1].velocity, STILL)
    speeds = np.abs([before.velocity, *(command.velocity for command in sent)])
    assert (np.diff(speeds, axis=0) <= 1e-9).all()
    assert (-np.diff(speeds, axis=0) <= LIMITS.acceleration * PERIOD + 1e-9).all()
    assert len(sent) == pytest.approx(0.8 / LIMITS.acceleration[1] / PERIOD, abs=2)


def test_the_end_at_once_sends_nothing_more():
    commander = engaged()
    run(commander, 0.0, 0.1, lambda t: (BEGIN + np.array([0.5 * t, 0.0]), [0.5, 0.0]))
    commander.end(End.NOW)
    assert run(commander, 0.1, 0.1) == [None] * 12
    assert not commander.engaged


@pytest.mark.parametrize("how", [End.NOW, End.AT_REST])
def test_a_velocity_controller_receives_zeros_for_half_a_second_after_the_end(how):
    commander = engaged(period=0.01, zeros_after=True)
    run(commander, 0.0, 0.1, period=0.01)
    commander.end(how)
    found = run(commander, 0.1, 0.8, period=0.01)
    if how is End.AT_REST:  # it was at rest: this is its last command
        assert np.array_equal(found.pop(0).position, BEGIN)
    assert [command is not None for command in found[:51]] == [True] * 50 + [False]
    assert all(np.isnan(command.position).all() and not command.velocity.any() for command in found[:50])
    assert found[50:] == [None] * len(found[50:])


def test_an_end_before_the_first_command_prevents_it():
    commander = engaged()
    commander.end(End.AT_REST)
    assert commander.next(0.0) is None


def test_commands_are_values_of_their_own():
    commander = engaged()
    first = commander.next(0.0)
    last = run(commander, 0.0, 0.2, lambda t: ([0.8, 0.8], STILL))[-1]
    assert np.array_equal(first.position, BEGIN)
    assert np.array_equal(commander.position, last.position)
    assert np.array_equal(commander.velocity, last.velocity)
    assert (last.position > BEGIN).all()
