import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.core.interpolation import quintic
from telerobot_nodes.core.window import MotionWindow
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.motion.control_state import ControlState
from telerobot_nodes.motion.control_step import (
    HARDWARE_ESTOP,
    HARDWARE_FAULT,
    HARDWARE_HOLDING,
    HARDWARE_READY,
    ControlConfig,
    ControlStep,
)

PERIOD = 0.004


class Bench:
    """A control step with an arm that is where it was told to be one period ago."""

    def __init__(self, robot, q, period=PERIOD, config=None):
        self.robot = robot
        self.control = ControlStep(robot, period, config)
        self.period = period
        self.now = 10.0
        self.arm = np.array(q, dtype=float)
        self.frozen = False  # the arm does not move
        self.silent = False  # nothing is measured
        self.rows = []
        self.run(0.02)

    def step(self):
        self.now += self.period
        if not self.silent:
            self.control.measure(self.now, self.arm, np.zeros(self.robot.dof))
        output = self.control.step(self.now)
        if not self.frozen:
            self.arm = output.q.copy()
        self.rows.append(np.concatenate(([self.now], output.q, output.qd, output.qdd)))
        return output

    def run(self, duration):
        for _ in range(round(duration / self.period)):
            output = self.step()
        return output

    def check_limits(self):
        rows = np.array(self.rows)
        n, limits = self.robot.dof, self.robot.limits
        q, qd, qdd = rows[:, 1 : 1 + n], rows[:, 1 + n : 1 + 2 * n], rows[:, 1 + 2 * n :]
        assert (q >= limits.lower - 1e-12).all()
        assert (q <= limits.upper + 1e-12).all()
        assert (np.abs(qd) <= limits.velocity * (1 + 1e-5)).all()
        assert (np.abs(qdd) <= limits.acceleration * (1 + 1e-5)).all()
        np.testing.assert_allclose(np.diff(q, axis=0) / self.period, qd[1:], atol=1e-6)


@pytest.fixture
def moving(robot, make_window, slow_motion):
    """A bench in the middle of a window, and the window."""
    q_from, q_to, duration = slow_motion(robot)
    bench = Bench(robot, q_from)
    window = make_window(q_from, q_to, begin=bench.now, duration=duration)
    assert bench.control.offer(bench.now, window) == ""
    bench.run(0.45 * duration)
    return bench, window


def far_from_path(q, window):
    """Largest joint distance from the straight joint path of the window, and how far along it is, 0 .. 1."""
    begin, end = window.position[0], window.position[-1]
    along = np.dot(q - begin, end - begin) / np.dot(end - begin, end - begin)
    return np.abs(begin + along * (end - begin) - q).max(), along


def test_before_the_arm_is_seen_there_is_no_setpoint_and_the_reason_says_so(robot):
    control = ControlStep(robot, PERIOD)
    output = control.step(1.0)
    assert output.commanding == 0
    assert output.number == 0
    assert output.state == ControlState.FAULT
    assert output.reason == "no measured joints yet"


def test_the_first_setpoint_is_where_the_arm_is(robot, slow_motion):
    q, _, _ = slow_motion(robot)
    bench = Bench(robot, q)
    assert bench.control.state is ControlState.HOLDING
    np.testing.assert_allclose(bench.control.output.q, q, atol=1e-12)
    assert not bench.control.output.qd.any()


def test_the_trajectory_alone_passes_through_unchanged(robot, make_window, slow_motion):
    q_from, q_to, duration = slow_motion(robot, share=0.97)
    bench = Bench(robot, q_from)
    window = make_window(q_from, q_to, begin=bench.now, duration=duration, period=0.01)
    assert bench.control.offer(bench.now, window) == ""
    begin = bench.now
    while bench.now < begin + duration:
        output = bench.step()
        u = min((bench.now - begin) / duration, 1.0)
        expected = q_from + (q_to - q_from) * (10 * u**3 - 15 * u**4 + 6 * u**5)
        np.testing.assert_allclose(output.q, expected, atol=1e-6)
        T = robot.forward(output.q)
        np.testing.assert_allclose(output.tool_pose[:3], T.translation, atol=1e-6)
    output = bench.run(0.02)
    assert output.state == ControlState.HOLDING
    assert output.saturated == 0
    np.testing.assert_allclose(output.q, q_to, atol=1e-9)
    bench.check_limits()


def test_plan_time_and_window_number_are_those_of_the_window(moving):
    bench, window = moving
    assert bench.control.output.window == window.number
    assert bench.control.output.state == ControlState.TRACKING
    assert bench.control.output.plan_time == pytest.approx(bench.now - window.start, abs=1e-9)


def test_a_halt_brings_the_arm_to_rest_on_its_path_within_its_limits(moving):
    bench, window = moving
    before = bench.control.output.q.copy()
    bench.control.halt(bench.now, 7, "operator")
    assert bench.step().state == ControlState.STOPPING
    output = bench.run(1.0)
    assert output.state == ControlState.STOPPED
    assert output.halt == 7
    assert output.reason == "halt 7: operator"
    assert not output.qd.any()
    distance, along = far_from_path(output.q, window)
    assert distance < 1e-6
    assert far_from_path(before, window)[1] <= along < 1.0
    for row in bench.rows[-300:]:
        assert far_from_path(row[1 : 1 + bench.robot.dof], window)[0] < 1e-5
    bench.check_limits()


def test_stopped_and_holding_are_said_only_when_the_setpoint_stands_still(moving):
    bench, _ = moving
    bench.control.halt(bench.now, 1, "")
    while bench.step().state != ControlState.STOPPED:
        assert bench.now < 60.0
    assert np.abs(bench.control.output.qd).max() <= 1e-6


def test_a_halt_is_as_quick_as_the_acceleration_limits_allow(moving):
    bench, _ = moving
    speed = np.abs(bench.control.output.qd)
    needed = (speed / bench.robot.limits.acceleration).max()
    bench.control.halt(bench.now, 1, "")
    began = bench.now
    while bench.step().state == ControlState.STOPPING:
        assert bench.now - began < 2.0
    assert bench.now - began <= needed / 0.9 * 1.6 + 3 * PERIOD


def test_the_same_halt_again_changes_nothing_and_an_older_one_is_ignored(moving, make_window):
    bench, _ = moving
    bench.control.halt(bench.now, 7, "first")
    bench.run(1.0)
    bench.control.halt(bench.now, 7, "again")
    bench.control.halt(bench.now, 6, "older")
    assert bench.step().reason == "halt 7: first"
    q = bench.control.output.q.copy()
    window = make_window(q, q, number=50, begin=bench.now, duration=0.5)
    assert bench.control.offer(bench.now, window) == ""


def test_windows_made_before_a_halt_are_refused_after_it(moving, make_window):
    bench, window = moving
    bench.control.halt(bench.now, 1, "")
    bench.step()
    assert "STOPPING" in bench.control.offer(bench.now, dataclasses.replace(window, number=2))
    assert bench.control.output.refused == 2
    bench.run(0.12)
    q = bench.control.output.q.copy()
    standing = make_window(q, q, number=3, begin=bench.now, duration=0.2)
    if bench.control.state is ControlState.STOPPED:
        assert "after halt 1" in bench.control.offer(bench.now, standing)


def test_a_halt_at_rest_stops_what_is_on_its_way(robot, make_window, slow_motion):
    q_from, q_to, duration = slow_motion(robot)
    bench = Bench(robot, q_from)
    bench.control.halt(bench.now, 3, "")
    window = make_window(q_from, q_to, begin=bench.now, duration=duration)
    assert "after halt 3" in bench.control.offer(bench.now, window)
    assert bench.step().state == ControlState.STOPPED


def test_after_a_halt_a_new_window_from_where_the_arm_stands_goes_on(moving, make_window):
    bench, window = moving
    bench.control.halt(bench.now, 1, "")
    output = bench.run(1.0)
    goal = window.position[-1]
    duration = window.period * (len(window.position) - 1)
    again = make_window(output.q, goal, number=2, begin=bench.now, duration=duration)
    assert bench.control.offer(bench.now, again) == ""
    output = bench.run(duration + 0.05)
    assert output.state == ControlState.HOLDING
    assert output.reason == ""
    np.testing.assert_allclose(output.q, goal, atol=1e-9)
    bench.check_limits()


def test_a_silent_sensor_stops_the_arm_on_its_path_and_says_so(moving):
    bench, window = moving
    bench.silent = True
    bench.run(0.08)
    assert bench.control.state is ControlState.TRACKING
    output = bench.run(1.0)
    assert output.state == ControlState.STOPPED
    assert "measured joints are 0.1" in output.reason
    assert far_from_path(output.q, window)[0] < 1e-6
    assert "stale" in bench.control.offer(bench.now, dataclasses.replace(window, number=9))
    bench.check_limits()


def test_values_that_are_not_finite_count_as_silence(moving):
    bench, _ = moving
    bench.silent = True
    for _ in range(40):
        bench.control.measure(bench.now, np.full(bench.robot.dof, np.nan), np.zeros(bench.robot.dof))
        bench.step()
    assert bench.control.state in (ControlState.STOPPING, ControlState.STOPPED)
    assert np.isfinite(bench.control.output.measured_q).all()


@pytest.mark.parametrize(("state", "name"), [(HARDWARE_ESTOP, "e-stop"), (HARDWARE_FAULT, "hardware fault")])
def test_trouble_of_the_hardware_is_a_fault_until_it_is_over(moving, make_window, state, name):
    bench, window = moving
    bench.frozen = True
    stood = bench.arm.copy()
    bench.control.hardware(state, "told so")
    output = bench.step()
    assert output.state == ControlState.FAULT
    assert output.reason == f"{name}: told so"
    assert output.estop == (state == HARDWARE_ESTOP)
    bench.run(2.0)
    np.testing.assert_allclose(bench.control.output.q, stood, atol=1e-9)
    assert "FAULT" in bench.control.offer(bench.now, dataclasses.replace(window, number=5))
    bench.control.hardware(HARDWARE_HOLDING)
    bench.step()
    assert bench.control.state is ControlState.STOPPED
    bench.control.hardware(HARDWARE_READY)
    again = make_window(stood, stood, number=6, begin=bench.now, duration=0.5)
    assert bench.control.offer(bench.now, again) == ""
    bench.check_limits()


def test_an_arm_that_does_not_follow_is_a_fault_and_the_setpoint_returns_to_it(moving):
    bench, _ = moving
    bench.frozen = True
    stood = bench.arm.copy()
    bench.control.offer(bench.now, bench.control.follower._track.window)
    bench.arm = stood - np.sign(bench.control.output.qd) * 0.25
    seen = bench.arm.copy()
    reasons = set()
    for _ in range(1000):
        reasons.add(bench.step().reason)
    assert any("from its setpoint" in reason for reason in reasons)
    np.testing.assert_allclose(bench.control.output.q, seen, atol=1e-6)
    assert bench.control.state is ControlState.STOPPED
    bench.check_limits()


def test_a_short_excursion_of_the_arm_is_no_fault(moving):
    bench, _ = moving
    bench.arm = bench.arm + 0.25
    bench.step()
    bench.run(0.05)
    assert bench.control.state is ControlState.TRACKING


def test_a_loop_that_slept_does_not_jump(moving):
    bench, _ = moving
    before = bench.control.output.q.copy()
    bench.frozen = True
    bench.now += 2.0
    output = bench.step()
    assert output.state == ControlState.FAULT
    assert "did not run for 2.0" in output.reason
    np.testing.assert_allclose(output.q, before, atol=1e-12)
    assert not output.qd.any()
    bench.rows.clear()
    output = bench.run(1.0)
    assert output.state == ControlState.STOPPED
    bench.check_limits()


def test_a_window_offered_late_is_refused_and_motion_ends_at_the_rest_of_the_one_before(moving, make_window):
    bench, window = moving
    q = bench.control.output.q.copy()
    late = make_window(q + 0.01, window.position[-1], number=2, begin=bench.now - 0.5, duration=2.0)
    assert "to join" in bench.control.offer(bench.now, late)
    assert bench.control.output.refused == 2
    assert "window.position" in bench.control.output.refusal
    output = bench.run(window.period * len(window.position))
    assert output.state == ControlState.HOLDING
    np.testing.assert_allclose(output.q, window.position[-1], atol=1e-9)


def test_periods_missed_by_the_timer_leave_the_setpoint_inside_its_limits(moving):
    bench, window = moving
    for skipped in (3, 10, 1, 20):
        bench.now += skipped * PERIOD
        bench.run(0.05)
    output = bench.run(window.period * len(window.position))
    np.testing.assert_allclose(output.q, window.position[-1], atol=1e-9)
    bench.check_limits()


@pytest.mark.parametrize(
    ("field", "value"),
    [("stale_time", 0.0), ("stale_time", np.nan), ("follow_error", -1.0), ("halt_guard", np.inf), ("follow_time", -1)],
)
def test_a_configuration_that_makes_no_sense_is_refused_and_named(field, value):
    with pytest.raises(InvalidValueError, match=field):
        ControlConfig(**{field: value})


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["run", "halt", "estop", "ready", "silent", "heard", "window", "stuck", "free", "skip"]),
        st.integers(1, 60),
    ),
    min_size=3,
    max_size=25,
)


@given(events=EVENTS)
@settings(max_examples=25, deadline=None)
def test_whatever_happens_limits_hold_and_the_arm_ends_at_rest(arm, events):
    bench = Bench(arm, arm.home, config=ControlConfig(halt_guard=0.02))
    number = 0
    for name, amount in events:
        if name == "halt":
            bench.control.halt(bench.now, amount, "")
        elif name in ("estop", "ready"):
            bench.control.hardware(HARDWARE_ESTOP if name == "estop" else HARDWARE_READY)
        elif name in ("silent", "heard"):
            bench.silent = name == "silent"
        elif name in ("stuck", "free"):
            bench.frozen = name == "stuck"
        elif name == "skip":
            bench.now += min(amount, 20) * PERIOD
        elif name == "window":
            number += 1
            bench.control.offer(bench.now, quick_window(bench, number, amount))
        bench.run(amount * PERIOD)
    bench.check_limits()
    bench.silent = False
    bench.control.hardware(HARDWARE_READY)
    output = bench.run(5.0)
    assert not output.qd.any()
    assert output.state in (ControlState.HOLDING, ControlState.STOPPED, ControlState.FAULT)
    bench.check_limits()


def quick_window(bench, number, amount):
    q = bench.control.output.q.copy()
    sign = np.where(np.arange(q.size) % 2, 1.0, -1.0) * (1 if amount % 2 else -1)
    limits = bench.robot.limits
    goal = np.clip(q + 0.15 * sign, limits.lower, limits.upper)
    zero, times = np.zeros(q.size), 0.02 * np.arange(31)
    rows = quintic(q, zero, zero, goal, zero, zero, 0.6, times)
    return MotionWindow(number, bench.now, bench.now, 0.02, *rows, times, np.empty(0))
