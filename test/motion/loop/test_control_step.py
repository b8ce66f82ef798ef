"""The control step: setpoints inside the limits, faults of sensor, hardware and arm, late windows."""

import dataclasses

import numpy as np
import pytest
from control_bench import PERIOD, Bench, far_from_path
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.core.interpolation.hermite import quintic
from telerobot_nodes.core.protocol import ControlState, HardwareState, MotionWindow
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.motion.loop import ControlStep
from telerobot_nodes.motion.loop.arm_monitor import (
    ControlConfig,
)


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


@pytest.mark.parametrize("number", [2**32 + 2, 2**63 - 1])
def test_no_window_can_leave_no_number_for_the_next(moving, make_window, number):
    bench, window = moving
    assert "window.number" in bench.control.offer(bench.now, dataclasses.replace(window, number=number))
    assert bench.control.output.refused == 0
    assert bench.control.stream.follower.number == 1


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


@pytest.mark.parametrize(("state", "name"), [(HardwareState.ESTOP, "e-stop"), (HardwareState.FAULT, "hardware fault")])
def test_trouble_of_the_hardware_is_a_fault_until_it_is_over(moving, make_window, state, name):
    bench, window = moving
    bench.frozen = True
    stood = bench.arm.copy()
    bench.control.set_hardware(state, "told so")
    output = bench.step()
    assert output.state == ControlState.FAULT
    assert output.reason == f"{name}: told so"
    assert output.estop == (state == HardwareState.ESTOP)
    bench.run(2.0)
    np.testing.assert_allclose(bench.control.output.q, stood, atol=1e-9)
    why = "halt 1: e-stop" if state is HardwareState.ESTOP else "FAULT"
    assert why in bench.control.offer(bench.now, dataclasses.replace(window, number=5))
    bench.control.set_hardware(HardwareState.HOLDING)
    bench.step()
    assert bench.control.state is ControlState.STOPPED
    bench.control.set_hardware(HardwareState.READY)
    bench.control.resume(1)  # an e-stop is a halt, too
    again = make_window(stood, stood, number=6, begin=bench.now, duration=0.5)
    assert bench.control.offer(bench.now, again) == ""
    bench.check_limits()


def test_an_arm_that_does_not_follow_is_a_fault_and_the_setpoint_returns_to_it(moving):
    bench, _ = moving
    bench.frozen = True
    stood = bench.arm.copy()
    bench.control.offer(bench.now, bench.control.stream.follower._track.window)
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
    [("stale_time", 0.0), ("stale_time", np.nan), ("follow_error", -1.0), ("follow_time", -1)],
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
@pytest.mark.lengthy
def test_whatever_happens_limits_hold_and_the_arm_ends_at_rest(arm, events):
    bench = Bench(arm, arm.home, config=ControlConfig())
    number = 0
    for name, amount in events:
        if name == "halt":
            bench.control.halt(1, "")
        elif name in ("estop", "ready"):
            bench.control.set_hardware(HardwareState.ESTOP if name == "estop" else HardwareState.READY)
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
    bench.control.set_hardware(HardwareState.READY)
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
