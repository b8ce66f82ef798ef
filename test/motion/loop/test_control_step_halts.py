"""Halts and resumes in the control step: on the path, within limits, counted."""

import dataclasses

import numpy as np
import pytest
from control_bench import PERIOD, Bench, far_from_path

from telerobot_nodes.core.protocol import ControlState, HardwareState
from telerobot_nodes.motion.loop import ControlStep
from telerobot_nodes.motion.parameters import parameters_from
from telerobot_nodes.motion.primitives import StreamTool


def test_a_halt_brings_the_arm_to_rest_on_its_path_within_its_limits(moving):
    bench, window = moving
    before = bench.control.output.q.copy()
    bench.control.halt(1, "operator")
    assert bench.step().state == ControlState.STOPPING
    output = bench.run(1.0)
    assert output.state == ControlState.STOPPED
    assert (output.halted, output.halt_count, output.halt_reason) == (1, 1, "operator")
    assert output.reason == "halt 1: operator"
    assert not output.qd.any()
    distance, along = far_from_path(output.q, window)
    assert distance < 1e-6
    assert far_from_path(before, window)[1] <= along < 1.0
    for row in bench.rows[-300:]:
        assert far_from_path(row[1 : 1 + bench.robot.dof], window)[0] < 1e-5
    bench.check_limits()


def test_stopped_and_holding_are_said_only_when_the_setpoint_stands_still(moving):
    bench, _ = moving
    bench.control.halt(1, "")
    while bench.step().state != ControlState.STOPPED:
        assert bench.now < 60.0
    assert np.abs(bench.control.output.qd).max() <= 1e-6


def test_a_halt_is_as_quick_as_the_acceleration_limits_allow(moving):
    bench, _ = moving
    speed = np.abs(bench.control.output.qd)
    needed = (speed / bench.robot.limits.acceleration).max()
    bench.control.halt(1, "")
    began = bench.now
    while bench.step().state == ControlState.STOPPING:
        assert bench.now - began < 2.0
    assert bench.now - began <= needed / 0.9 * 1.6 + 3 * PERIOD


def test_copies_of_a_halt_count_once_and_another_halt_counts_on(moving):
    bench, _ = moving
    bench.control.halt(1, "first")
    bench.control.halt(1, "first")
    bench.run(1.0)
    assert bench.control.output.halt_count == 1
    bench.control.halt(2, "second")
    output = bench.step()
    assert (output.halt_count, output.halt_reason, output.state) == (2, "second", ControlState.STOPPED)


@pytest.mark.parametrize("count", [0, 2, 2**63, 2**64 - 1])
def test_only_the_resume_of_the_present_count_ends_a_halt(moving, make_window, count):
    bench, _ = moving
    bench.control.halt(1, "")
    q = bench.run(1.0).q.copy()
    bench.control.resume(count)
    assert bench.step().halted
    standing = make_window(q, q, number=3, begin=bench.now, duration=0.2)
    assert "RESUME of halt 1" in bench.control.offer(bench.now, standing)
    bench.control.resume(1)
    assert not bench.step().halted
    assert bench.control.offer(bench.now, dataclasses.replace(standing, number=4)) == ""


def test_a_late_copy_after_the_resume_halts_again(moving):
    bench, _ = moving
    bench.control.halt(1, "")
    bench.control.resume(1)
    bench.control.halt(1, "")
    assert (bench.step().halted, bench.control.output.halt_count) == (1, 2)


def test_a_resume_never_given_is_not_remembered_for_later_halts(moving):
    bench, _ = moving
    for count in range(1, 10):
        bench.control.resume(count)
    bench.control.halt(1, "")
    assert bench.step().halted


def test_a_halt_before_the_arm_is_seen_holds_it_afterwards(robot, make_window):
    control = ControlStep(robot, PERIOD)
    control.halt(1, "early")
    control.measure(10.0, robot.home, np.zeros(robot.dof))
    output = control.step(10.0)
    assert (output.state, output.reason) == (ControlState.STOPPED, "halt 1: early")
    window = make_window(robot.home, robot.home + 0.1, begin=10.0, duration=2.0)
    assert "halt 1" in control.offer(10.0, window)


def test_the_reset_of_an_estop_alone_lets_nothing_move(moving, make_window):
    bench, _ = moving
    bench.control.set_hardware(HardwareState.ESTOP, "button")
    bench.run(0.5)
    bench.control.resume(1)  # while the e-stop is latched, nothing ends its halt
    bench.control.set_hardware(HardwareState.READY)
    output = bench.run(0.5)
    assert (output.state, output.halted) == (ControlState.STOPPED, 1)
    window = make_window(output.q, output.q, number=9, begin=bench.now, duration=0.2)
    assert "e-stop: button" in bench.control.offer(bench.now, window)
    bench.control.resume(1)
    assert bench.control.offer(bench.now, dataclasses.replace(window, number=10)) == ""


def test_a_field_moves_no_halted_arm(robot):
    class Watched(StreamTool):
        def add_displacement(self, displacement):
            pushed.append(displacement)

    pushed = []
    control = ControlStep(robot, PERIOD, tool_motion=Watched(robot, PERIOD, parameters_from({})))
    control.add_field_twist(np.full(6, 0.1))
    control.halt(1, "")
    control.add_field_twist(np.full(6, 0.1))
    assert len(pushed) == 1


def test_a_halt_at_rest_stops_what_is_on_its_way(robot, make_window, slow_motion):
    q_from, q_to, duration = slow_motion(robot)
    bench = Bench(robot, q_from)
    bench.control.halt(1, "")
    window = make_window(q_from, q_to, begin=bench.now, duration=duration)
    assert "RESUME of halt 1" in bench.control.offer(bench.now, window)
    assert bench.step().state == ControlState.STOPPED


def test_after_a_halt_a_new_window_from_where_the_arm_stands_goes_on(moving, make_window):
    bench, window = moving
    bench.control.halt(1, "")
    output = bench.run(1.0)
    bench.control.resume(1)
    goal = window.position[-1]
    duration = window.period * (len(window.position) - 1)
    again = make_window(output.q, goal, number=2, begin=bench.now, duration=duration)
    assert bench.control.offer(bench.now, again) == ""
    output = bench.run(duration + 0.05)
    assert output.state == ControlState.HOLDING
    assert output.reason == ""
    np.testing.assert_allclose(output.q, goal, atol=1e-9)
    bench.check_limits()
